"""The errors a user can meet. Each is also the fitting built-in and carries the exit code of the command line.

A message says what happened, where, and what to do, in one sentence. Bad data is never an error: it is a row in
`rejects`.
"""

from collections.abc import Sequence


class CrawlDedupError(Exception):
    """Base of all errors that are reported to the user in one sentence, without a traceback."""

    exit_code = 1


class UsageError(CrawlDedupError, ValueError):
    """The command was called wrongly."""

    exit_code = 2


class ConfigurationError(UsageError):
    """The configuration is wrong; `problems` lists everything that is, so that one look mends all."""

    def __init__(self, problems: Sequence[str], where: str) -> None:
        self.problems = list(problems)
        self.where = where
        super().__init__(f"{where}: " + "; ".join(self.problems))


class SchemeMismatchError(UsageError):
    """Two tables were made by different schemes and must not meet in a join."""

    def __init__(self, what: str, found: str, expected: str, remedy: str) -> None:
        self.what, self.found, self.expected = what, found, expected
        super().__init__(f"{what} has scheme {found}, but {expected} is needed: {remedy}")


class ConflictError(UsageError):
    """Another run owns or has changed what this run wants to write."""


class InputError(CrawlDedupError, OSError):
    """Inputs are missing or cannot be read."""

    exit_code = 3

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class CheckFailedError(CrawlDedupError, RuntimeError):
    """The run's own checks failed: counts do not close, or too much was rejected. Nothing was published."""

    exit_code = 4

    def __init__(self, failures: Sequence[str], remedy: str) -> None:
        self.failures = list(failures)
        super().__init__("; ".join(self.failures) + f": {remedy}")
