"""What a rule did to a URL, for people."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fired:
    """One rule that changed a URL: its name, whose rule it is, and the text it found and left."""

    rule: str
    before: str
    after: str
    scope: str = ""  # `host shop.example`, `domain example.com`, `all hosts`; empty for what holds everywhere

    @property
    def name(self) -> str:
        """The rule with its owner, such as `host shop.example: drop_params color`."""
        return f"{self.scope}: {self.rule}" if self.scope else self.rule


Trace = list[Fired]
