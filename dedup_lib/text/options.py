"""How documents of a run are read: one value, fixed for the run, that travels to workers and child processes."""

from dataclasses import dataclass, field
from typing import Literal

from dedup_lib.text.caps import PageLimits

Engine = Literal["resiliparse", "trafilatura", "hybrid"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of `read_document`; hashable and picklable.

    `main_content` leaves out navigation, footers and the like where they can be told; false takes all visible text,
    whatever the engine. `engine` says what finds the main content.
    """

    main_content: bool = True
    engine: Engine = "resiliparse"
    limits: PageLimits = field(default_factory=PageLimits)


DEFAULT_OPTIONS = ReadOptions()
