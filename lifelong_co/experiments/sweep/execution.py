"""How a sweep is carried out; kept in its folder, so that it resumes in the same way."""

from collections.abc import Sequence
from pathlib import Path

import attrs
import cattrs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.conduct import RETRIES
from lifelong_co.storage.files import write_whole
from lifelong_co.storage.toml import parse, structure, to_text

FILE = "execution.toml"


@attrs.frozen(kw_only=True)
class Execution:
    """The options of a sweep that do not change its results."""

    workers: int | None = None
    """Highest number of runs at once; None: as many as the machine has room for."""
    retries: int = RETRIES
    """How often a run is resumed after it died without a new checkpoint."""
    engine: str = "local"
    """Where the runs take place: ``local``, ``slurm`` or ``submitit-local``."""
    engine_options: tuple[str, ...] = ()
    """Parameters of submitit, each ``NAME=VALUE``."""

    def changed(
        self,
        workers: int | None,
        retries: int | None,
        engine: str | None,
        engine_options: Sequence[str] | None,
    ) -> "Execution":
        """Return it with the options that are given; None keeps an option.

        An engine that is given does not take the parameters of the one before.
        """
        pairs = engine_options or (() if engine else self.engine_options)
        return Execution(
            workers=self.workers if workers is None else workers,
            retries=self.retries if retries is None else retries,
            engine=self.engine if engine is None else engine,
            engine_options=tuple(pairs),
        )


def read_execution(folder: Path) -> Execution:
    """Return how the sweep in a folder was carried out last; the defaults if it is not known.

    Raises
    ------
    ConfigError
        If the file is damaged; the message names it.
    """
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:  # the folder of an earlier version
        return Execution()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
    found: Execution = structure(parse(text, str(path)), Execution, str(path))
    return found


def write_execution(folder: Path, execution: Execution) -> None:
    """Keep it for `read_execution`."""
    write_whole(folder / FILE, to_text(cattrs.unstructure(execution)))
