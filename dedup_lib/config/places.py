"""Where configuration files are: at the path given, beside the profile that names them, or in the project's conf."""

from pathlib import Path

import dedup_lib
from dedup_lib.errors import UsageError

PACKAGE = Path(dedup_lib.__file__).parent


def own_conf() -> Path:
    """Give the project's own conf folder: `_conf` inside an installed wheel, `conf` beside a checkout's package."""
    packed = PACKAGE / "_conf"
    return packed if packed.is_dir() else PACKAGE.parent / "conf"


def locate_conf(name: str | Path, beside: Path | None = None) -> Path:
    """Find a profile, a rule file or a Spark properties file, and give its absolute path.

    Tried in this order: `name` itself if it is absolute; `name` in the folder `beside` (that of the profile that
    names it) or, without one, in the working directory; `name` in the project's own conf. A leading `conf/` is
    understood to be that folder, so that the commands of the README also work from an installed wheel.

    Raises:
        UsageError: no such file; the message names every place tried.
    """
    wanted = Path(name).expanduser()
    if wanted.is_absolute():
        tried = [wanted]
    else:
        inside = wanted.relative_to("conf") if wanted.parts[:1] == ("conf",) else wanted
        tried = [(beside or Path.cwd()) / wanted, own_conf() / inside]
    for path in tried:
        if path.is_file():
            return path.resolve()
    places = " or ".join(dict.fromkeys(str(path) for path in tried))
    raise UsageError(f"there is no configuration file {places}: check the name, or give an absolute path")
