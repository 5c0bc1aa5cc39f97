"""Rehearsal: what is replayed, when, and that its parts are those of other methods."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.solutions import behavior_along
from lifelong_co_plugins.methods.instance_replay.solved import forced_actions
from lifelong_co_plugins.methods.rehearsal import mismatch, one_image
from tiny_runs import (
    BATCH_SIZE,
    BATCHES,
    EPOCHS,
    exact_run,
    parameters,
    same,
    tiny_config,
    tiny_learn,
)

import lifelong_co as lco
from lifelong_co.runs.prepare import prepare

STEPS = EPOCHS * BATCHES


def test_without_weight_it_is_fine_tuning(tmp_path: Path) -> None:
    """Bit for bit."""
    config = tiny_config("rehearsal", "cvrp", weight=0.0, imitation=0.0)
    run = tiny_learn(config, tmp_path / "rehearsal")
    other = tiny_learn(tiny_config("fine-tuning", "cvrp"), tmp_path / "fine-tuning")
    assert same(parameters(run), parameters(other))


@pytest.mark.parametrize(("every", "expected"), [(1, [0, 1, 2, 3]), (2, [0, 2]), (3, [0, 3])])
def test_replay_comes_in_every_so_many_steps(
    tmp_path: Path, every: int, expected: list[int]
) -> None:
    """Not in the first task, which has no past."""
    steps: list[bool] = []
    config = tiny_config("rehearsal", every=every)
    tiny_learn(config, tmp_path, on_step=lambda _, losses: steps.append("replay" in losses))
    assert steps[:STEPS] == [False] * STEPS
    assert [i for i, replays in enumerate(steps[STEPS:]) if replays] == expected


def test_past_tasks_take_turns_with_their_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every second step the next past task is replayed, by half of its batch size."""
    asked: list[tuple[int, int]] = []

    def places(memory: InstanceMemory, learner: Any, task: int, share: float) -> list[int]:
        found = drawn(memory, learner, task, share)
        if learner.task == 2:
            asked.append((task, len(found)))
        return found

    drawn = InstanceMemory.places
    monkeypatch.setattr(InstanceMemory, "places", places)
    tiny_learn(tiny_config("rehearsal", sizes=(5, 6, 7), every=2, share=0.5), tmp_path)
    assert asked == [(0, BATCH_SIZE // 2), (1, BATCH_SIZE // 2)]


def test_a_task_with_few_steps_replays_others_than_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps and four past tasks: two different ones, which depend on the seed."""
    asked: list[int] = []

    def places(memory: InstanceMemory, learner: Any, task: int, share: float) -> list[int]:
        if learner.task == 4:
            asked.append(task)
        return drawn(memory, learner, task, share)

    drawn = InstanceMemory.places
    monkeypatch.setattr(InstanceMemory, "places", places)
    config = tiny_config("rehearsal", sizes=(5, 6, 7, 8, 9))
    tasks = tuple(attrs.evolve(task, epochs=1, batches=2) for task in config.tasks)
    for seed in range(3):
        tiny_learn(attrs.evolve(config, tasks=tasks, seed=seed), tmp_path / str(seed))
    pairs = [set(asked[i : i + 2]) for i in (0, 2, 4)]
    assert all(len(pair) == 2 for pair in pairs)
    assert pairs != [{0, 1}] * 3


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_image_has_the_costs_of_its_instance(tmp_path: Path, problem: str) -> None:
    """An image keeps all lengths; images differ between instances."""
    run = prepare(tiny_config("rehearsal", problem, sizes=(6,)), tmp_path / "run")
    batch = run.learner.draw(0, size=32)
    image = one_image(run.learner, batch)
    actions = run.learner.solver.rollout(batch).actions
    torch.testing.assert_close(
        run.learner.problem.cost(image, actions), run.learner.problem.cost(batch, actions)
    )
    moved = (image.nodes != batch.nodes).any(dim=2).any(dim=1)
    assert int(moved.sum()) > 0


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_only_decisions_that_differ_are_imitated(tmp_path: Path, problem: str) -> None:
    """Greedy solutions cost nothing; samples cost ``-log p`` where they are not greedy."""
    run = prepare(tiny_config("rehearsal", problem, sizes=(6,)), tmp_path / "run")
    solver, batch = run.learner.solver, run.learner.draw(0, size=8)
    forced = forced_actions(solver, batch)
    assert forced == {"tsp": 1, "cvrp": 2}[problem]
    encoding, greedy = solver.encode(batch), solver.rollout(batch, "greedy")
    assert mismatch(solver, batch, encoding, greedy.actions, forced) == 0.0
    steps: list[torch.Tensor] = []
    stream = torch.Generator().manual_seed(1)
    found = solver.rollout(
        batch, "sample", generator=stream, observe=lambda _, log_probs: steps.append(log_probs)
    )
    log_probs = torch.stack(steps, dim=2)  # [b, S, t, A]
    taken = found.actions[..., -len(steps) :]
    lost = -log_probs.gather(3, taken[..., None]).squeeze(3)
    lost = torch.where(log_probs.argmax(dim=3) == taken, 0.0, lost)
    assert lost.sum() > 0
    came = mismatch(solver, batch, encoding, found.actions, forced)
    torch.testing.assert_close(came, lost.mean())


def test_imitation_brings_the_greedy_choices_back(tmp_path: Path) -> None:
    """By a gradient step on the term alone the wanted actions become likelier."""
    run = prepare(tiny_config("rehearsal", "cvrp", sizes=(6,)), tmp_path / "run")
    solver, batch = run.learner.solver, run.learner.draw(0, size=8)
    stream = torch.Generator().manual_seed(1)
    wanted = solver.rollout(batch, "sample", generator=stream).actions[:, :1]
    optimizer = torch.optim.SGD(solver.module.parameters(), lr=0.1)
    before = mismatch(solver, batch, solver.encode(batch), wanted, 2)
    before.backward()
    optimizer.step()
    assert mismatch(solver, batch, solver.encode(batch), wanted, 2) < before


def test_both_parts_have_the_gradients_that_they_have_alone(tmp_path: Path) -> None:
    """Their encoding is shared; in double precision the sum of the gradients is the same.

    Twice the weight of a part doubles its gradient.
    """

    def gradients(name: str, **options: Any) -> dict[str, torch.Tensor]:
        run = exact_run(tiny_config("rehearsal", "cvrp", **options), tmp_path / name)
        learner, method = run.learner, run.method
        module = learner.solver.module
        method.instances(learner)
        learner.task = 1
        method.before_task(learner)
        method.before_epoch(learner)
        with torch.no_grad():  # the solver forgets, so that there is something to imitate
            for value in module.parameters():
                value += 0.3 * torch.sign(value)
        batch, stream = method.instances(learner), torch.Generator().manual_seed(1)
        rollout = learner.solver.rollout(batch, "sample", generator=stream)
        run.objective.loss(batch, rollout).backward()
        calls: list[Any] = []
        layer = module.layers[0]
        with layer.register_forward_pre_hook(lambda _, given: calls.append(given)):
            ((_, term),) = method.loss_terms(learner, rollout)
        # One encoding is for both; before the first, a single instance is solved to count its
        # forced actions.
        assert len(calls) == 1 + bool(options.get("imitation", True))
        named = dict(module.named_parameters())
        return dict(zip(named, torch.autograd.grad(term, list(named.values())), strict=True))

    whole = gradients("whole")
    replay, imitation = gradients("replay", imitation=0.0), gradients("imitation", weight=0.0)
    replay_twice = gradients("replay twice", imitation=0.0, weight=1.0)
    imitation_twice = gradients("imitation twice", weight=0.0, imitation=0.6)
    for name, gradient in whole.items():
        assert imitation[name].any()
        torch.testing.assert_close(replay_twice[name], 2 * replay[name])
        torch.testing.assert_close(imitation_twice[name], 2 * imitation[name])
        torch.testing.assert_close(gradient, replay[name] + imitation[name], rtol=1e-8, atol=1e-12)


def invit_and_grids(problem: str) -> tuple[Any, Any]:
    """Return an INViT of few near nodes, and instances in which many are equally near."""
    torch.manual_seed(0)
    size = {"dim_emb": 16, "dim_ff": 16, "nb_heads": 2, "state_k": [6, 8], "action_k": 4}
    grids = lco.distribution("G", problem=problem)
    stream = torch.Generator().manual_seed(0)
    return lco.solver("invit", problem=problem, **size), grids.sample(16, 50, generator=stream)


def test_an_action_that_an_image_forbids_costs_nothing() -> None:
    """INViT allows near nodes only; on a grid other ones of them are near in a mirror image."""
    solver, batch = invit_and_grids("tsp")
    images, forced = solver.problem.augment(batch), forced_actions(solver, batch)
    actions = solver.rollout(batch, "greedy").actions.repeat(8, 1, 1)
    log_probs = behavior_along(solver, images, solver.encode(images), actions, forced)
    assert log_probs.gather(3, actions[..., forced:, None]).isneginf().any()
    lost = mismatch(solver, images, solver.encode(images), actions, forced)
    lost.backward()
    assert lost.isfinite()
    assert all(p.grad is None or p.grad.isfinite().all() for p in solver.module.parameters())


def test_all_actions_of_a_solver_without_forced_starts_are_decisions() -> None:
    """INViT begins a CVRP with a decision, where the other solvers have a forced start."""
    assert forced_actions(*invit_and_grids("cvrp")) == 0


@pytest.mark.parametrize(
    ("options", "terms"),
    [
        ({}, {"replay"}),
        ({"weight": 0.0}, {"replay"}),
        ({"imitation": 0.0}, {"replay"}),
        ({"weight": 0.0, "imitation": 0.0}, set()),
        ({"instances": 0}, set()),
    ],
)
def test_term_of_weight_0_is_left_out(
    tmp_path: Path, options: dict[str, Any], terms: set[str]
) -> None:
    """And without instances there is no past to rehearse."""
    found: set[str] = set()
    config = tiny_config("rehearsal", "cvrp", **options)
    tiny_learn(config, tmp_path, on_step=lambda _, losses: found.update(losses))
    assert found - {"cost", "policy"} == terms


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": -1.0}, "weight: expected at least 0"),
        ({"imitation": -1.0}, "imitation: expected at least 0"),
        ({"share": 0.0}, "share: expected a fraction"),
        ({"every": 0}, "every: expected at least 1"),
    ],
)
def test_number_out_of_range_is_refused(options: dict[str, Any], message: str) -> None:
    """The error names the option."""
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("rehearsal", **options)
