"""Stored solutions: what is recorded, and how solutions of different length are joined."""

from pathlib import Path

import torch
from lifelong_co_plugins.methods.instance_replay.solutions import (
    SolutionMemory,
    Solutions,
    behavior_along,
    join,
    lengthened,
    waiting,
)
from tiny_runs import tiny_config

from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.seeding import generator


def recorded(
    tmp_path: Path, capacity: int, seed: int = 0, processes: int = 1
) -> tuple[Run, SolutionMemory, list[int]]:
    """Return a memory that has observed three batches, and the length of each batch."""
    run = prepare(tiny_config("fine-tuning", "cvrp", sizes=(6,)), tmp_path / "run")
    run.learner.processes = processes
    memory, lengths = SolutionMemory(capacity, 2), []
    memory.start(run.learner)
    for batch in range(3):
        instances = run.learner.draw(0)
        observe = memory.observer(run.learner, instances)
        stream = generator(seed, f"actions {batch}")
        found = run.learner.solver.rollout(instances, "sample", generator=stream, observe=observe)
        memory.store(found)
        lengths.append(found.actions.shape[2])
    return run, memory, lengths


def behavior_now(run: Run, kept: Solutions) -> torch.Tensor:
    """Return the behavior of a run's solver on the way of stored solutions."""
    solver = run.learner.solver
    encoding = solver.encode(kept.instances)
    return behavior_along(solver, kept.instances, encoding, kept.actions, kept.forced)


def test_behavior_costs_and_actions_are_those_of_the_rollout(tmp_path: Path) -> None:
    """The present behavior of the same solver agrees with the recorded one in half precision."""
    run, memory, _ = recorded(tmp_path, 100)
    held = list(memory.reservoir)
    assert len(held) == 12
    for one in held:
        now = behavior_now(run, one)
        torch.testing.assert_close(now.exp(), one.behavior.float().exp(), atol=2e-3, rtol=0)
        cost = run.learner.problem.cost(one.instances, one.actions)
        assert (cost.argsort() == one.advantage.argsort()).all()


def test_joined_solutions_go_on_with_a_forced_action(tmp_path: Path) -> None:
    """So the longer form has the same cost, and the same behavior in every step."""
    run, memory, _ = recorded(tmp_path, 100)
    one = next(iter(memory.reservoir))
    longer = lengthened(one, one.actions.shape[2] + 2)
    problem = run.learner.problem
    assert torch.equal(
        problem.cost(one.instances, one.actions), problem.cost(one.instances, longer.actions)
    )
    now = behavior_now(run, longer)
    assert (now[:, :, -2:].exp() == longer.behavior[:, :, -2:].float().exp()).all()
    both = join([one, longer])
    assert both.actions.shape[0] == 2
    assert torch.equal(both.actions[0], both.actions[1])


def test_shorter_solution_waits() -> None:
    """Its last action is repeated; one of the full length stays as it is."""
    assert waiting(torch.tensor([[2, 0]]), 4).tolist() == [[2, 0, 0, 0]]
    assert waiting(torch.tensor([[2, 0]]), 2).tolist() == [[2, 0]]


def test_reservoir_holds_as_many_as_it_may_and_some_of_each_batch(tmp_path: Path) -> None:
    """Of 12 offered instances 5 are held; the rest costs no memory."""
    _, memory, _ = recorded(tmp_path, 5)
    assert len(memory.reservoir) == 5
    assert memory.reservoir.seen == 12
    assert sum(len(part.advantage) for part in memory.sample(3)) == 3


def test_several_processes_share_the_capacity(tmp_path: Path) -> None:
    """Each of three processes holds four instances of ten, also when restored."""
    run, memory, _ = recorded(tmp_path, 10, processes=3)
    assert len(memory.reservoir) == 4
    again = SolutionMemory(10, 2)
    again.load_state_dict(run.learner, memory.state_dict())
    assert again.reservoir.capacity == memory.reservoir.capacity == 4
