"""How many buffered decisions a solver would now take otherwise, by how confident it was then."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import torch

from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.paper.buffer_contents import confidences, steps_of
from lifelong_co.replay.experience import PackedExperience, from_state_dicts
from lifelong_co.runs.trained_solver import load_solver

LIMITS = (0.25, 0.5, 0.75)
"""Between the ranges of confidence."""

UNITS = 64
"""Buffered steps looked at, spread evenly over those of the tasks before the last."""


@attrs.frozen
class Kept:
    """Decisions of one range of confidence."""

    states: int
    changed: int
    """States whose likeliest action is another one now."""


@torch.no_grad()
def kept_decisions(run: Run, items: Sequence[Mapping[str, Any]]) -> tuple[Kept, ...]:
    """Count decisions by confidence (`confidences`, variance), the least confident first.

    States with one feasible action hold no decision and are left out.

    Parameters
    ----------
    run
        A run with checkpoints.
    items
        The plain units in its buffer.

    Raises
    ------
    LifelongError
        If its solver cannot be built.
    """
    solver = load_solver(run.path)
    earlier = [item for item in items if item["task"] < len(run.names) - 1]
    # The first steps of bundles, then the second ones, …: every n-th of them is spread over both.
    places = [(place, step) for item in earlier for place, step in enumerate(steps_of(item))]
    steps = [step for _, step in sorted(places, key=lambda found: found[0])]
    chosen = steps[:: max(1, -(-len(steps) // UNITS))]
    states = torch.zeros(len(LIMITS) + 1, dtype=torch.long)
    changed = states.clone()
    for experience in from_state_dicts(chosen, solver.problem, torch.device("cpu")):
        bins, moved = _judge(solver, experience)
        states += torch.bincount(bins, minlength=len(states))
        changed += torch.bincount(bins[moved], minlength=len(states))
    return tuple(Kept(n, m) for n, m in zip(states.tolist(), changed.tolist(), strict=True))


def _judge(solver: Any, experience: PackedExperience) -> tuple[torch.Tensor, torch.Tensor]:
    """Return range of confidence and whether the decision changed, each ``[p]``."""
    teacher = experience.log_probs()
    encoding = solver.encode(experience.instances)
    learner = solver.log_probs(encoding, experience.state())
    decides = (teacher.isfinite().sum(dim=-1) > 1).flatten()
    moved = (teacher.argmax(dim=-1) != learner.argmax(dim=-1)).flatten()
    confidence, _ = confidences(teacher.exp())
    bins = torch.bucketize(confidence, torch.tensor(LIMITS, dtype=confidence.dtype), right=True)
    return bins[decides], moved[decides]
