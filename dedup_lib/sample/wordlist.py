"""The shape in which the words of one language are written down."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WordList:
    """The raw material of one language, each field a string of parts separated by white space.

    `beginnings` + `middles` + `endings` compose words beyond the `common` ones; an empty field adds nothing.
    `particles` follow every other word and `verbs` close sentences (Japanese, Hindi).
    """

    code: str
    common: str
    beginnings: str
    middles: str
    endings: str
    particles: str = ""
    verbs: str = ""
