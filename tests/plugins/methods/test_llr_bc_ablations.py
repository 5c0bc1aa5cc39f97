"""What makes each ablation of LLR-BC, and each option beyond the paper, what it is."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from lifelong_co_plugins.methods import llr_bc
from lifelong_co_plugins.methods.experience_replay.behaviors import behaviors
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle, experiences
from lifelong_co_plugins.methods.experience_replay.memory import Memory
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
from lifelong_co.runs.run import Run
from lifelong_co.storage.tree import flatten

STEPS = {5: 4, 6: 5}  # unforced decoding steps of the TSP: every node but the first


def memory_state(run: Run) -> dict[str, Any]:
    """Return what the method would save."""
    return run.method.state_dict()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[Any], list[Any]]]:
    """Return a list that gets ``(experiences, rows)`` at every step's replay."""
    found: list[tuple[list[Any], list[Any]]] = []
    original = Memory.draw

    def spy(*arguments: Any) -> Any:
        found.append(original(*arguments))
        return found[-1]

    monkeypatch.setattr(Memory, "draw", spy)
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
def test_ablations_of_the_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ablation: str, option: dict[str, str]
) -> None:
    """The run is that of the option, to the bit, and not that of the method as it is."""
    built: list[tuple[Any, ...]] = []
    original = llr_bc.consolidation_loss
    monkeypatch.setattr(llr_bc, "consolidation_loss", lambda *x: built.append(x) or original(*x))
    options = [{"ablation": ablation}, option, {}]
    runs = [
        tiny_learn(tiny_config(replay_size=3, alpha=1e4, **each), tmp_path / str(i))
        for i, each in enumerate(options)
    ]
    assert same(parameters(runs[0]), parameters(runs[1]))
    assert not same(parameters(runs[0]), parameters(runs[2]))
    assert built[0] == built[1]
    (name, value), *_ = option.items()
    want = lco.divergence(value) if name == "divergence" else value
    assert want in built[0]


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
    tmp_path: Path, drawn: list[tuple[list[Any], list[Any]]]
) -> None:
    """From the first step on it replays the buffer as it is: the present task's units, too."""
    losses: list[set[str]] = []
    run = tiny_learn(
        tiny_config(record="always", replay_size=40),
        tmp_path,
        on_step=lambda _, each: losses.append(set(each)),
    )
    assert all("consolidation" in names for names in losses)
    sizes = [len(units) for units, _ in drawn]
    assert sizes[:2] == [STEPS[5], 2 * STEPS[5]]  # all there is: more with every batch
    assert {unit.task for unit in drawn[-1][0]} == {0, 1}
    assert memory_state(run)["snapshot"] == []


def test_every_epoch_replays_what_was_there_when_the_task_began(
    tmp_path: Path, drawn: list[tuple[list[Any], list[Any]]]
) -> None:
    """EE changes what is recorded, not when it is replayed: nothing in the first task."""
    tiny_learn(tiny_config(ablation="EE", replay_size=3), tmp_path)
    sizes = [len(units) for units, _ in drawn]
    assert sizes == [0] * (EPOCHS * BATCHES) + [3] * (EPOCHS * BATCHES)
    assert {unit.task for units, _ in drawn for unit in units} == {0}


def test_res_shares_the_buffer_among_tasks(tmp_path: Path) -> None:
    """Two tasks that offer 8 and 10 steps hold four of eight each, told apart by their index."""
    run = tiny_learn(tiny_config(ablation="Res", buffer_size=8), tmp_path)
    held = memory_state(run)["buffer"]
    assert Counter(unit["task"] for unit in held["items"]) == {0: 4, 1: 4}
    assert held["tasks"] == [unit["task"] for unit in held["items"]]
    assert held["offered"] == [[0, BATCHES * STEPS[5]], [1, BATCHES * STEPS[6]]]


def test_ib_holds_whole_solutions(tmp_path: Path, drawn: list[tuple[list[Any], list[Any]]]) -> None:
    """A unit is all unforced steps of one batch; one unit is drawn, of 20 held."""
    run = tiny_learn(tiny_config(ablation="IB", replay_rows=0.5, row_choice="uniform"), tmp_path)
    state = memory_state(run)["buffer"]
    assert state["capacity"] == 20
    assert state["seen"] == 2 * BATCHES  # one for each batch of a last epoch
    for unit, n in zip(state["items"], [5] * BATCHES + [6] * BATCHES, strict=True):
        assert [step["behavior"].shape for step in unit["steps"]] == [(BATCH_SIZE, n, n)] * STEPS[n]
        assert all(step["instances"] is unit["steps"][0]["instances"] for step in unit["steps"])
    replays = [pair for pair in drawn if pair[0]]
    assert len(replays) == EPOCHS * BATCHES  # the second task's steps
    for units, rows in replays:
        assert len(units) == STEPS[5]
        assert all(unit.instances is units[0].instances for unit in units)
        assert all(each is rows[0] for each in rows)  # the same instances along the solution
        assert len(rows[0]) == BATCH_SIZE // 2


def test_ib_weighs_over_all_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of the one unit's steps sum to 1 together, and one term has them all."""
    sums: list[tuple[int, float]] = []
    original = llr_bc.consolidation_loss

    def spied(*arguments: Any) -> Any:
        loss = original(*arguments)

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
    memory = Memory("reservoir", 20, unit="solution")
    memory.load_state_dict(run.learner, memory_state(run))
    memory.snapshot = list(memory.buffer)
    units, rows = memory.draw(1, fraction)
    assert len(units) >= 4
    together = behaviors(run.learner, units, rows)
    alone = [behaviors(run.learner, [u], [r])[0] for u, r in zip(units, rows, strict=True)]
    for got, want in zip(together, alone, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ratio", [0.1, 0.3])
def test_adaptive_replay_keeps_its_share(
    tmp_path: Path, drawn: list[tuple[list[Any], list[Any]]], ratio: float
) -> None:
    """The fewest units with ``r`` states for each new one: more of them for longer solutions."""
    sizes = (6, 5, 6)
    tiny_learn(
        tiny_config(sizes=sizes, adaptive_replay=ratio, replay_rows=0.5, row_choice="uniform"),
        tmp_path,
    )
    steps = EPOCHS * BATCHES
    for i, (units, rows) in enumerate(drawn):
        n = sizes[i // steps]
        states = [
            len(index) * unit.behavior.shape[1] for unit, index in zip(units, rows, strict=True)
        ]
        if i < steps:
            assert states == []
        else:
            new = BATCH_SIZE * n * n  # n trajectories of n actions
            assert sum(states[:-1]) < ratio * new <= sum(states)
            assert len({id(unit) for unit in units}) == len(units)


def test_adaptive_replay_takes_all_there_is(
    tmp_path: Path, drawn: list[tuple[list[Any], list[Any]]]
) -> None:
    """If that is not enough."""
    tiny_learn(tiny_config(adaptive_replay=50.0, replay_size=1), tmp_path)
    assert {len(units) for units, _ in drawn} == {0, BATCHES * STEPS[5]}


@pytest.mark.parametrize(
    "options",
    [
        {"ablation": "Res", "buffer_size": 5, "replay_size": 2},
        {"ablation": "IB", "replay_rows": 0.5},
        {"record": "always", "buffer_size": 5, "adaptive_replay": 0.2},
    ],
)
@pytest.mark.parametrize("stop_after", [3, 5, 7])
def test_a_stopped_run_goes_on_to_the_same_bits(
    tmp_path: Path, stop_after: int, options: dict[str, Any]
) -> None:
    """Wherever it is stopped, and what it would save is the same, too."""
    config = tiny_config(**options)
    whole = tiny_learn(config, tmp_path / "whole")
    resumed = stopped_and_resumed(config, tmp_path, stop_after)
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
    (skeleton, tensors), (again, others) = (flatten(memory_state(run)) for run in (whole, resumed))
    assert skeleton == again
    assert all(torch.equal(first, second) for first, second in zip(tensors, others, strict=True))


@pytest.mark.parametrize(("theirs", "ours"), [("step", "solution"), ("solution", "step")])
def test_experiences_of_another_run_become_units_of_this_kind(
    tmp_path: Path, theirs: str, ours: str
) -> None:
    """Solutions come apart into steps; steps are solutions of one step each."""
    run = tiny_learn(tiny_config(sizes=(5,), unit=theirs), tmp_path)
    memory = Memory("balanced", 100, unit=ours)
    memory.adopt(run.learner, memory_state(run))
    run.learner.task = 0
    memory.start_task(run.learner)
    assert len(memory.snapshot) == BATCHES * STEPS[5]
    assert all(isinstance(unit, Bundle) == (ours == "solution") for unit in memory.snapshot)
    assert {step.task for unit in memory.snapshot for step in experiences(unit)} == {-1}


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"record": "never"}, "record 'never'.*last-epoch, every-epoch, always"),
        ({"unit": "tour"}, "unit 'tour'.*step, solution"),
        ({"adaptive_replay": -0.1}, "adaptive_replay: expected at least 0 and finite, got -0.1"),
        ({"divergence": "mixture", "reverse_share": 1.5}, r"reverse_share: .* \[0, 1\], got 1.5"),
        ({"reverse_share": 0.2}, "reverse_share: expected divergence 'mixture'.* got 'rkl'"),
        ({"ablation": "IB", "unit": "step"}, "ablation 'IB' is unit = 'solution'.* unit = 'step'"),
        ({"ablation": "KDL"}, "ablation 'KDL'.*Did you mean 'KLD'"),
        ({"ablaton": "KLD"}, "option 'ablaton'.*Did you mean 'ablation'"),
    ],
)
def test_bad_options_are_refused(option: dict[str, Any], match: str) -> None:
    """When the method is built, in one line that names the option."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.method("llr-bc", **option)


@pytest.mark.parametrize(("share", "name"), [(1.0, "rkl"), (0.0, "kl")])
def test_a_mixture_of_one_is_that_one(tmp_path: Path, share: float, name: str) -> None:
    """To the bit."""
    mixed = tiny_config(divergence="mixture", reverse_share=share, alpha=100.0)
    runs = [
        tiny_learn(config, tmp_path / str(i))
        for i, config in enumerate([mixed, tiny_config(divergence=name, alpha=100.0)])
    ]
    assert same(*(parameters(run) for run in runs))
