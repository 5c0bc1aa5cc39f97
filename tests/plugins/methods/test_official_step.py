"""Preset ``paper`` takes the training steps of the official trainer, to 1e-9 in double precision.

Both get the same parameters, instances and actions. Compared are the losses, the gradients, the
parameters after Adam and the recorded experiences, with an empty and with a filled buffer; then
each switch that separates the preset from others is turned, and the comparison must fail.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from goldens import FIXTURES, PROBLEMS, weights
from lifelong_co_adapters.pomo.official_names import from_official
from official_trainer import ALPHA, INSTANCES, MODEL, NODES, SEED, projections
from tiny_runs import exact_run, tiny_config
from torch import Tensor
from upstreams import driven, llr_bc

from lifelong_co.config.presets import preset
from lifelong_co.learner import train_batch
from lifelong_co.rollout import decoding
from lifelong_co.rollout.action_selection import pick
from lifelong_co.runs.run import Run, new_optimizer

OPTIONS = preset("paper").method_options["llr-bc"]


def golden(problem: str) -> Any:
    """Read what the official trainer did."""
    return json.loads((FIXTURES / f"official-step-{problem}.json").read_text())


@llr_bc
@pytest.mark.parametrize("problem", PROBLEMS)
def test_golden_is_what_the_official_trainer_does(tmp_path: Path, problem: str) -> None:
    """The stored numbers are no older than the pinned code."""
    assert_close(driven("official_trainer.py", problem, tmp_path), golden(problem), to=1e-11)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_preset_paper_takes_the_official_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    """Losses, gradients, parameters after Adam and recorded experiences agree to 1e-9."""
    assert OPTIONS["alpha"] == ALPHA
    want = golden(problem)
    got = steps(tmp_path, monkeypatch, problem, OPTIONS)
    assert_close(got, want, to=1e-9)
    assert want["steps"][1]["consolidation"] > 1e-4


@pytest.mark.parametrize(
    ("problem", "switch"),
    [
        ("tsp", {"official_replay": False}),
        ("cvrp", {"official_replay": False}),
        ("tsp", {"behavior": "probabilities"}),
        ("cvrp", {"behavior": "probabilities"}),
        ("tsp", {"divergence": "kl"}),
        ("cvrp", {"weighting": "uniform"}),
        ("tsp", {"bundle_size": 4}),
        ("cvrp", {"bundle_size": 4}),
        ("tsp", {"replay_rows": 0.5}),
        ("cvrp", {"replay_size": 2}),
    ],
    ids=str,
)
def test_step_differs_when_a_switch_is_turned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str, switch: dict[str, Any]
) -> None:
    """The comparison sees each of them."""
    want = golden(problem)
    got = steps(tmp_path, monkeypatch, problem, {**OPTIONS, **switch})
    with pytest.raises(AssertionError):
        assert_close(got, want, to=1e-9)


def test_consolidation_trains_no_first_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the official code: the gradient of ``Wq_first`` is that of the policy loss alone."""
    want = golden("tsp")
    run = ready(tmp_path, "tsp", OPTIONS, want)
    take(run, monkeypatch, want["steps"][0], want["shapes"])
    next_task(run)
    solver = run.learner.solver
    rollout = solver.rollout(run.learner.draw(1), "sample", generator=run.actions)
    run.learner.optimizer.zero_grad()
    for _, term in run.method.loss_terms(run.learner, rollout):
        term.backward()
    queries: Any = solver.module.queries
    assert queries["first"].weight.grad is None
    assert float(queries["last"].weight.grad.abs().max()) > 0


def steps(
    folder: Path, monkeypatch: pytest.MonkeyPatch, problem: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what our trainer does in the two steps, in the form of the golden."""
    want = golden(problem)
    run = ready(folder, problem, options, want)
    first = take(run, monkeypatch, want["steps"][0], want["shapes"])
    held = next_task(run)
    second = take(run, monkeypatch, want["steps"][1], want["shapes"])
    recorded = [projections(step.log_probs().exp()) for bundle in held for step in bundle.steps]
    return {"shapes": want["shapes"], "recorded": recorded, "steps": [first, second]}


def ready(folder: Path, problem: str, options: Mapping[str, Any], want: Any) -> Run:
    """Return a run before the last epoch of its first task, with the official parameters."""
    config = tiny_config("llr-bc", problem, (NODES, NODES), **options)
    tasks = tuple(attrs.evolve(task, batch_size=INSTANCES, epochs=1) for task in config.tasks)
    plain = attrs.evolve(config, solver_options=MODEL, learning_rate=1e-4, tasks=tasks)
    run = exact_run(plain, folder)
    run.learner.solver.load_official(weights(SEED, want["shapes"]))
    run.learner.optimizer = new_optimizer(plain, run.learner)
    run.method.before_task(run.learner)
    return run


def next_task(run: Run) -> list[Any]:
    """Begin the second task, with the same optimizer; return the bundles to replay."""
    run.learner.task = 1
    run.method.before_task(run.learner)
    held: list[Any] = run.method.before_task.__self__.snapshot  # type: ignore[attr-defined]
    return held


@attrs.frozen
class Given:
    """A stream of the same batch."""

    instances: Any

    def batch(self, task: int, step: int, size: int | None = None) -> Any:  # noqa: ARG002
        """Return the batch."""
        return self.instances


def take(
    run: Run, monkeypatch: pytest.MonkeyPatch, want: Any, shapes: dict[str, list[int]]
) -> dict[str, Any]:
    """Take one step on given instances, with given actions."""
    problem, actions = run.learner.problem, torch.tensor(want["actions"])
    fields = {name: torch.tensor(x, dtype=torch.float64) for name, x in want["instances"].items()}
    instances = problem.instances(**fields)
    chosen: Iterator[Tensor] = iter(actions.unbind(dim=2)[len(problem.starts(instances, NODES)) :])
    with monkeypatch.context() as patch:
        patch.setattr(run.learner, "stream", Given(instances))
        patch.setattr(
            decoding,
            "pick",  # greedy decoding is that of the checks of the solver
            lambda probs, decode, *_: next(chosen) if decode == "sample" else pick(probs, decode),
        )
        losses = train_batch(run)
    return {
        "instances": want["instances"],
        "actions": want["actions"],
        "policy": float(losses["policy"]),
        "consolidation": float(losses.get("consolidation", 0.0)),
        "gradients": by_official_name(run, shapes, lambda parameter: parameter.grad),
        "parameters": by_official_name(run, shapes, lambda parameter: parameter),
    }


def by_official_name(
    run: Run, shapes: dict[str, list[int]], value: Callable[[Any], Tensor]
) -> dict[str, list[float]]:
    """Return the projections of a value of each parameter under its official name."""
    ours = dict(run.learner.solver.module.named_parameters())
    total, places = 0, {}
    for name, shape in shapes.items():
        places[name] = torch.arange(total, total + math.prod(shape)).view(shape)
        total += math.prod(shape)
    flat = torch.zeros(total, dtype=torch.float64)
    for name, place_of in from_official(places, ours).items():
        flat[place_of] = value(ours[name]).detach()
    return {name: projections(flat[each]) for name, each in places.items()}


def assert_close(got: Any, want: Any, to: float) -> None:
    """Compare nested numbers, to an absolute or relative difference."""
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        for name in got:
            assert_close(got[name], want[name], to)
    elif isinstance(want, list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, to)
    else:
        assert got == pytest.approx(want, rel=to, abs=to)
