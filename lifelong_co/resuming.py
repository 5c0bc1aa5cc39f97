"""Going on from the latest checkpoint of a run folder, or the refusal of one that does not fit."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lifelong_co import checkpoint
from lifelong_co.errors import CheckpointError
from lifelong_co.run_folder import RunFolder


def resume(
    folder: RunFolder, load: Callable[[Mapping[str, Any]], None], tell: Callable[[str], None]
) -> Path | None:
    """Load the latest checkpoint that is whole and return its file; None when there is none.

    Parameters
    ----------
    folder
        Where the checkpoints lie.
    load
        Puts what one holds in place.
    tell
        Told when there is none.

    Raises
    ------
    CheckpointError
        If checkpoints are there and none is whole, or the one that is belongs to another run.
    """
    found = checkpoint.latest(folder.checkpoints)
    if found is None:
        tell("no checkpoint yet: starting from the beginning")
        return None
    path, state = found
    try:
        load(state)
    except (LookupError, TypeError, ValueError, RuntimeError) as error:
        # The checkpoint is whole, so one of the two belongs to another run.
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{path}: does not fit {folder.path / 'config.toml'} ({reason:.200})"
        ) from error
    return path
