"""Finding and loading the latest checkpoint of a run folder."""

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
    """Load the latest complete checkpoint and return its path, or None if there is no checkpoint.

    Parameters
    ----------
    folder
        The run folder.
    load
        Called with the content of the checkpoint; it restores the run.
    log
        Called with a line of text if there is no checkpoint.
    ranks
        With several processes each loads its checkpoint, and all of them are of the same step.

    Raises
    ------
    CheckpointError
        If there are checkpoints and none is complete, or the latest belongs to another run or to
        other settings, or if a run with results has lost its checkpoints.
    """
    found = latest_of_all(folder, ranks)
    if found is None:
        results = folder.path / "metrics.json"
        if results.exists():  # written after the first checkpoint
            raise CheckpointError(
                f"{folder.checkpoints}: expected the checkpoint of the run that has written"
                f" {results}, found none; without it the run cannot continue"
            )
        log("no checkpoint yet: starting from the beginning")
        return None
    path, state = found
    try:
        load(state)
    except checkpoint.MALFORMED as error:
        # The checkpoint is complete, so it or the configuration belongs to another run.
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{path}: does not fit {folder.path / 'config.toml'} ({reason:.500})"
        ) from error
    return path


def latest_of_all(folder: RunFolder, ranks: Ranks) -> tuple[Path, Tree] | None:
    """Return this process's checkpoint of the latest step that is complete in every process.

    Return None if the first process has no checkpoint: it saves last, so then the run has none.

    Raises
    ------
    CheckpointError
        If the first process has checkpoints, but no step is complete in every process.
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
        reached = 0 if found is None else moment(*found)
        lowest, highest = -ranks.highest(-reached), ranks.highest(reached)
        if lowest == highest:
            break
        # Some process has no later checkpoint: look for this step. Or it has this step, but was
        # killed before it saved the end of the epoch: look for an earlier step.
        limit = lowest // 2 - (lowest // 2 == highest // 2)
    begun = ranks.any(ranks.first and bool(checkpoint.checkpoints(place)))
    if found is None and begun:
        missing = (
            f"{place}: expected a complete checkpoint of the same step in every process, found "
            "none; a run must continue with the number of processes it was started with"
        )
        raise CheckpointError("; ".join(dict.fromkeys(faults)) or missing)
    return found


def moment(path: Path, state: Tree) -> int:
    """Return a number that grows with each different checkpoint of a run.

    The last step of an epoch can have two: one before the epoch's end, with its last batch, and one
    after it, with batch 0.
    """
    ended = isinstance(state, dict) and state.get("batch") == 0
    return 2 * checkpoint.step_of(path) + ended
