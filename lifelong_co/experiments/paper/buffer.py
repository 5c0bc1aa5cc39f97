"""The content of the buffer at the end of a run, and how many of its decisions have changed.

The paper (appendix C.3): after order 1 with ``|B| = 1000`` the buffer holds E 162, C 255, G 141,
U 78, R 77, GM 287; variance and negative entropy over it correlate with 0.972.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.errors import CheckpointError
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.replay.experience import from_state_dicts, plain_behavior
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.storage import checkpoint

Plain = Mapping[str, Any]
"""A unit of the buffer, or one of its steps, as plain data from a checkpoint."""

PAPER = {
    ("llr-bc", "reservoir"): {"E": 162, "C": 255, "G": 141, "U": 78, "R": 77, "GM": 287},
    ("llr-bc", "balanced"): {"E": 148, "C": 148, "G": 144, "U": 199, "R": 208, "GM": 153},
}
"""Units by distribution in the paper's buffer after order 1, by method and kind of buffer."""
PAPER_CORRELATION = 0.972
ELSEWHERE = "another run"
"""Name of the task of experiences from another run (`Config.buffer_from`)."""
LIMITS = (0.25, 0.5, 0.75)
"""Limits between the ranges of confidence."""
JUDGED = 64
"""Number of buffered steps that are compared, spread evenly over those of earlier tasks."""


@attrs.frozen(eq=False)
class Contents:
    """The content of the buffer of a run."""

    units: Mapping[str, int]
    """Number of experiences (or of solutions) by the name of the task they were recorded on."""
    confidence: Tensor
    """``[2, p]``: by variance and by negative entropy, for all ``p`` states in the buffer."""

    @property
    def states(self) -> int:
        """The number of states: instances times trajectories, summed over all steps."""
        return self.confidence.shape[1]

    @property
    def correlation(self) -> float:
        """Pearson's correlation of the two confidences; nan if one of them is constant."""
        return float(torch.corrcoef(self.confidence)[0, 1])


def items_of(run: FinishedRun) -> list[Plain]:
    """Return the plain units in the buffer of a run's last checkpoint; [] if it has none.

    Raises
    ------
    CheckpointError
        If there is no complete checkpoint.
    """
    place = RunFolder(run.path).checkpoints
    found = checkpoint.latest(place)
    if found is None:
        raise CheckpointError(f"{place}: expected a checkpoint, found none")
    items: Any = found[1]
    for name in ("method", "buffer", "items"):
        items = items.get(name) if isinstance(items, Mapping) else None
    # A plugin's method may keep anything in its state.
    return [item for item in items if _steps(item)] if isinstance(items, list) else []


def contents(run: FinishedRun, items: Sequence[Plain]) -> Contents:
    """Count the units in a buffer, at least one, and measure their confidence."""
    solutions = run.config.method_options.get("bundle_size") == 0
    counts: Counter[int] = Counter()
    for item in items:
        counts[item["task"]] += 1 if solutions else len(_steps(item))
    tasks = sorted(counts, key=lambda task: (task < 0, task))
    behaviors = (plain_behavior(step).double() for item in items for step in _steps(item))
    return Contents(
        {run.names[task] if task >= 0 else ELSEWHERE: counts[task] for task in tasks},
        torch.cat([confidences(behavior.exp()) for behavior in behaviors], dim=1),
    )


def confidences(probs: Tensor) -> Tensor:
    """Return the confidence by variance and by negative entropy of every state.

    Parameters
    ----------
    probs
        ``[..., A]``, 0 where infeasible.

    Returns
    -------
    ``[2, p]`` in ``[0, 1]``. As in the weightings, each measure is divided by its highest possible
    value for ``A`` actions, because one buffer holds states of different sizes.
    """
    measures = (registry.weighting(name) for name in ("variance", "entropy"))
    return torch.stack([1 - measure(probs).flatten() for measure in measures])


def papers_units(run: FinishedRun) -> Mapping[str, int]:
    """Return the paper's units by task; {} unless the run is LLR-BC on order 1."""
    config = run.config
    kind = str(config.method_options.get("buffer", "reservoir"))
    papers = PAPER.get((config.method, kind), {})
    if list(papers) != [task.distribution for task in config.tasks]:
        return {}
    return {task.label: papers[task.distribution] for task in config.tasks}


@torch.no_grad()
def changed_decisions(run: FinishedRun, items: Sequence[Plain]) -> list[tuple[int, int]]:
    """Count buffered decisions of earlier tasks, and those that the solver has changed.

    Parameters
    ----------
    run
        A run with checkpoints.
    items
        The plain units in its buffer.

    Returns
    -------
    For each range of the confidence by variance (`LIMITS`), the least confident first: the number
    of states with more than one feasible action, and of those whose likeliest action changed.

    Raises
    ------
    LifelongError
        If the run's solver cannot be built.
    """
    solver = load_solver(run.path)
    earlier = [_steps(item) for item in items if item["task"] < len(run.names) - 1]
    # First the first steps of all bundles, then the second ones, and so on; of these every n-th.
    steps = [step for column in zip_longest(*earlier) for step in column if step is not None]
    chosen = steps[:: max(1, -(-len(steps) // JUDGED))]
    limits = torch.tensor(LIMITS)
    counts = torch.zeros(2, len(LIMITS) + 1, dtype=torch.long)
    for experience in from_state_dicts(chosen, solver.problem, torch.device("cpu")):
        teacher = experience.log_probs()
        learner = solver.log_probs(solver.encode(experience.instances), experience.state())
        decides = (teacher.isfinite().sum(dim=-1) > 1).flatten()
        moved = (teacher.argmax(dim=-1) != learner.argmax(dim=-1)).flatten()
        confidence = confidences(teacher.exp())[0]
        ranges = torch.bucketize(confidence, limits.to(confidence), right=True)
        for count, chosen_states in zip(counts, (decides, decides & moved), strict=True):
            count += torch.bincount(ranges[chosen_states], minlength=len(count))
    return [(int(states), int(changed)) for states, changed in counts.T]


def _steps(item: object) -> list[Plain]:
    """Return the decoding steps of a plain unit: itself, or those of a bundle or solution.

    There are none in anything else.
    """
    steps = item.get("steps", [item]) if isinstance(item, Mapping) and "task" in item else []
    return [step for step in steps if isinstance(step, Mapping) and "behavior" in step]
