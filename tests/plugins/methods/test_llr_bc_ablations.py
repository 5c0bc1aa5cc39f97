"""What makes each ablation of LLR-BC, and each option beyond the paper, what it is."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from lifelong_co_plugins.methods import llr_bc
from lifelong_co_plugins.methods.der import uniform_rows
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle
from lifelong_co_plugins.methods.experience_replay.weights import Weights
from tiny_runs import (
    BATCH_SIZE,
    BATCHES,
    EPOCHS,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
    tiny_learn,
)

import lifelong_co as lco
from lifelong_co.replay.experience import plain_behavior
from lifelong_co.runs.run import Run
from lifelong_co.storage.tree import flatten

STEPS = {5: 3, 6: 4}  # steps of the TSP with a choice: the first and last node are forced


def memory_state(run: Run) -> dict[str, Any]:
    """Return what the method would save."""
    return run.method.state_dict()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[Bundle], Replayed]]:
    """Return a list that gets what is sampled and what is replayed of it, at every step."""
    found: list[tuple[list[Bundle], Replayed]] = []
    original = Weights.replayed

    def spy(self: Weights, learner: Any, bundles: list[Bundle]) -> Replayed:
        found.append((bundles, original(self, learner, bundles)))
        return found[-1][1]

    monkeypatch.setattr(Weights, "replayed", spy)
    return found


@pytest.mark.parametrize(
    ("ablation", "option"),
    [
        ("nEW", {"weighting": "uniform"}),
        ("KLD", {"divergence": "kl"}),
        ("Ent", {"weighting": "entropy"}),
        ("T2M", {"weighting": "top2-margin"}),
    ],
)
def test_ablation_of_the_loss_equals_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ablation: str, option: dict[str, str]
) -> None:
    """The run is that of the options, to the bit, and not that of the plain method."""
    built: list[tuple[Any, ...]] = []
    original = llr_bc.consolidation_loss
    monkeypatch.setattr(
        llr_bc, "consolidation_loss", lambda *x, **y: built.append(x) or original(*x, **y)
    )
    options = [{"ablation": ablation}, option, {}]
    runs = [
        tiny_learn(tiny_config(replay_size=3, alpha=1e4, **each), tmp_path / str(i))
        for i, each in enumerate(options)
    ]
    assert same(parameters(runs[0]), parameters(runs[1]))
    assert not same(parameters(runs[0]), parameters(runs[2]))
    usual = ("variance", "rkl", "official")
    changed = {arguments for arguments in built if arguments != usual}
    assert len(changed) == 1
    (value,) = option.values()
    assert value in changed.pop()


@pytest.mark.parametrize("options", [{"ablation": "EE"}, {"record": "always"}])
def test_every_epoch_is_recorded(tmp_path: Path, options: dict[str, str]) -> None:
    """Every unforced step of every epoch is offered to the buffer."""
    seen: list[int] = []

    def watch(run: Run, _: dict[str, torch.Tensor]) -> None:
        seen.append(memory_state(run)["buffer"]["seen"])

    tiny_learn(tiny_config(**options), tmp_path, on_step=watch)
    steps = [STEPS[5]] * (EPOCHS * BATCHES) + [STEPS[6]] * (EPOCHS * BATCHES)
    assert seen == [sum(steps[: i + 1]) for i in range(len(steps))]


def test_always_needs_no_task_boundaries(
    tmp_path: Path, drawn: list[tuple[list[Bundle], Replayed]]
) -> None:
    """From the second step on, it replays all of the buffer, the present task's steps too."""
    losses: list[set[str]] = []
    run = tiny_learn(
        tiny_config(record="always", replay_size=40),
        tmp_path,
        on_step=lambda _, each: losses.append(set(each)),
    )
    assert ["consolidation" in names for names in losses] == [False] + [True] * (len(losses) - 1)
    sizes = [len(bundles) for bundles, _ in drawn]
    assert sizes[:3] == [0, STEPS[5], 2 * STEPS[5]]  # all there is: more with every batch
    assert {bundle.task for bundle in drawn[-1][0]} == {0, 1}
    assert memory_state(run)["snapshot"] == []


def test_every_epoch_replays_the_buffer_of_the_start_of_the_task(
    tmp_path: Path, drawn: list[tuple[list[Bundle], Replayed]]
) -> None:
    """EE changes what is recorded, not what is replayed: nothing in the first task."""
    tiny_learn(tiny_config(ablation="EE", replay_size=3), tmp_path)
    sizes = [len(bundles) for bundles, _ in drawn]
    assert sizes == [0] * (EPOCHS * BATCHES) + [3] * (EPOCHS * BATCHES)
    assert {bundle.task for bundles, _ in drawn for bundle in bundles} == {0}


def test_res_shares_the_buffer_among_tasks(tmp_path: Path) -> None:
    """Two tasks offer 8 and 10 steps, and each holds four of eight."""
    run = tiny_learn(tiny_config(ablation="Res", buffer_size=8), tmp_path)
    held = memory_state(run)["buffer"]
    assert Counter(unit["task"] for unit in held["items"]) == {0: 4, 1: 4}
    assert held["tasks"] == [unit["task"] for unit in held["items"]]
    assert held["offered"] == [[0, BATCHES * STEPS[5]], [1, BATCHES * STEPS[6]]]


def test_ib_holds_whole_solutions(
    tmp_path: Path, drawn: list[tuple[list[Bundle], Replayed]]
) -> None:
    """A unit is all unforced steps of one batch; one unit is drawn, of 20 held."""
    run = tiny_learn(tiny_config(ablation="IB", replay_rows=0.5), tmp_path)
    state = memory_state(run)["buffer"]
    assert state["capacity"] == 20
    assert state["seen"] == 2 * BATCHES  # one for each batch of a last epoch
    for unit, n in zip(state["items"], [5] * BATCHES + [6] * BATCHES, strict=True):
        shapes = [plain_behavior(step).shape for step in unit["steps"]]
        assert shapes == [(BATCH_SIZE, n, n)] * STEPS[n]
        assert all(step["instances"] is unit["steps"][0]["instances"] for step in unit["steps"])
    replays = [pair for pair in drawn if pair[0]]
    assert len(replays) == EPOCHS * BATCHES  # the second task's steps
    for bundles, replayed in replays:
        (bundle,) = bundles
        (found,) = replayed.bundles
        assert found.steps == bundle.steps
        assert len(found.steps) == STEPS[5]
        assert all(step.instances is found.steps[0].instances for step in found.steps)
        # The same instances along the solution; one that is drawn twice is replayed once.
        assert 1 <= found.count <= BATCH_SIZE // 2
        assert replayed.sizes == [found.count] * STEPS[5]


def test_ib_weighs_over_all_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of all steps of a unit sum to 1 together, and one term has them all."""
    sums: list[tuple[int, float]] = []
    original = llr_bc.consolidation_loss

    def spied(*arguments: Any, **options: Any) -> Any:
        loss = original(*arguments, **options)

        class Spy:
            unit = staticmethod(loss.unit)
            raw_weights = staticmethod(loss.raw_weights)

            def normalise(self, raw: Any) -> Any:
                weights = loss.normalise(raw)
                sums.append((len(weights), float(sum(weight.sum() for weight in weights))))
                return weights

        return Spy()

    monkeypatch.setattr(llr_bc, "consolidation_loss", spied)
    tiny_learn(tiny_config(ablation="IB", behavior="probabilities"), tmp_path)
    replays = [each for each in sums if each[0]]
    assert len(replays) == EPOCHS * BATCHES
    assert all(each == (STEPS[5], pytest.approx(1, abs=1e-5)) for each in replays)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_steps_of_a_solution_share_their_encoding(
    tmp_path: Path, problem: str, fraction: float
) -> None:
    """One encoder pass gives what one for each step gives."""
    run = tiny_learn(tiny_config(problem=problem, sizes=(5,), ablation="IB"), tmp_path)
    memory = Memory("reservoir", 20, bundle_size=0)
    memory.load_state_dict(run.learner, memory_state(run))
    memory.snapshot = list(memory.buffer)
    solver = run.learner.solver
    found = uniform_rows(solver.module, memory.sample(1), fraction, random.Random(0))
    (bundle,) = found.bundles
    assert len(bundle.steps) >= 3
    together = behavior(solver, found).split(found.sizes)
    for got, step in zip(together, bundle.steps, strict=True):
        want = behavior(solver, Replayed((ReplayedBundle((step,), bundle.rows),)))
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"ablation": "Res", "buffer_size": 5, "replay_size": 2},
        {"ablation": "IB", "replay_rows": 0.5},
        {"record": "always", "buffer_size": 5, "replay_size": 3},
    ],
)
@pytest.mark.parametrize("stop_after", [3, 5, 7])
def test_stopped_run_resumes_to_the_same_bits(
    tmp_path: Path, stop_after: int, options: dict[str, Any]
) -> None:
    """It holds at any step, and the next checkpoint is the same too."""
    config = tiny_config(**options)
    whole = tiny_learn(config, tmp_path / "whole")
    resumed = stopped_and_resumed(config, tmp_path, stop_after)
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
    (skeleton, tensors), (again, others) = (flatten(memory_state(run)) for run in (whole, resumed))
    assert skeleton == again
    assert all(torch.equal(first, second) for first, second in zip(tensors, others, strict=True))


@pytest.mark.parametrize(("theirs", "ours"), [(1, 0), (0, 1)])
def test_experiences_of_another_run_become_bundles_of_this_run(
    tmp_path: Path, theirs: int, ours: int
) -> None:
    """Whole solutions are split into steps; steps of a batch become one solution."""
    run = tiny_learn(tiny_config(sizes=(5,), bundle_size=theirs), tmp_path)
    memory = Memory("balanced", 100, bundle_size=ours)
    memory.adopt(run.learner, memory_state(run))
    run.learner.task = 0
    memory.start_task(run.learner)
    wanted = {0: [STEPS[5]] * BATCHES, 1: [1] * BATCHES * STEPS[5]}[ours]
    assert [len(bundle.steps) for bundle in memory.snapshot] == wanted
    tasks = {(bundle.task, step.task) for bundle in memory.snapshot for step in bundle.steps}
    assert tasks == {(-1, -1)}


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"record": "never"}, "record 'never'.*last-epoch, every-epoch, always"),
        (
            {"ablation": "IB", "bundle_size": 4},
            "ablation 'IB' sets bundle_size = 0.* bundle_size = 4",
        ),
        ({"row_choice": "weight"}, "option 'row_choice'"),
        ({"ablation": "KDL"}, "ablation 'KDL'.*Did you mean 'KLD'"),
        ({"ablaton": "KLD"}, "option 'ablaton'.*Did you mean 'ablation'"),
    ],
)
def test_bad_option_is_refused(option: dict[str, Any], match: str) -> None:
    """The error comes when the method is built, in one line that names the option."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.method("llr-bc", **option)
