"""Going on from the latest checkpoint of a run folder, or the refusal of one that does not fit."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lifelong_co.errors import CheckpointError
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint
from lifelong_co.storage.tree import Tree


def resume(
    folder: RunFolder,
    load: Callable[[Mapping[str, Any]], None],
    log: Callable[[str], None],
    ranks: Ranks = ALONE,
) -> Path | None:
    """Load the latest checkpoint that is whole and return its file; None when there is none.

    Parameters
    ----------
    folder
        Where the checkpoints lie.
    load
        Puts what one holds in place.
    log
        Called with a line when there is none.
    ranks
        Of several processes each loads its own, all of the same step.

    Raises
    ------
    CheckpointError
        If checkpoints are there and none is whole, or the one that is belongs to another run.
    """
    found = latest_of_all(folder, ranks)
    if found is None:
        log("no checkpoint yet: starting from the beginning")
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


def latest_of_all(folder: RunFolder, ranks: Ranks) -> tuple[Path, Tree] | None:
    """Return this process's checkpoint of the latest step of which each has a whole one.

    None when the first process has no checkpoint, as a run's are there once its first one's is.
    """
    place = ranks.place(folder.checkpoints)
    faults: list[str] = []
    limit = None
    while True:
        try:
            found = checkpoint.latest(place, limit)
        except CheckpointError as error:
            found = None
            faults.append(str(error))
        step = 0 if found is None else checkpoint.step_of(found[0])
        lowest = -ranks.highest(-step)
        if ranks.highest(step) == lowest:
            break
        limit = lowest  # somebody has none later: look for theirs
    begun = ranks.any(ranks.first and bool(checkpoint.checkpoints(place)))
    if found is None and begun:
        missing = (
            f"{place}: holds no whole checkpoint of a step that all processes have one of; a run "
            "goes on with as many processes as it was begun with"
        )
        raise CheckpointError("; ".join(dict.fromkeys(faults)) or missing)
    return found
