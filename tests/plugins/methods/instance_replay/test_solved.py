"""Solutions of stored instances: the greedy ones, replaced only by better samples."""

from pathlib import Path

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from lifelong_co_plugins.methods.instance_replay.solved import (
    Solved,
    SolvedTasks,
    better,
    forced_actions,
    solved,
)
from tiny_runs import parameters, same, tiny_config

from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run


def prepared(tmp_path: Path, problem: str) -> Run:
    """Return a run of two tasks."""
    return prepare(tiny_config("fine-tuning", problem, sizes=(6, 5)), tmp_path / "run")


def memory_of(run: Run) -> InstanceMemory:
    """Return a memory of ten instances of the first task; the second task begins."""
    memory = InstanceMemory(10)
    for step in range(4):
        memory.offer(run.learner, run.learner.draw(0, step))
    run.learner.task = 1
    return memory


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_solution_is_the_best_greedy_one(tmp_path: Path, problem: str) -> None:
    """Its cost is the least of all trajectories, and that of its actions."""
    run = prepared(tmp_path, problem)
    memory, tasks = memory_of(run), SolvedTasks()
    tasks.solve(run.learner, memory)
    places = [3, 0, 5]
    batch, actions = memory.take(0, places), tasks.take(0, places)
    cost = run.learner.problem.cost(batch, actions)[:, 0]
    torch.testing.assert_close(cost, tasks.tasks[0].cost[places])
    best = run.learner.solver.rollout(batch, "greedy").cost.min(dim=1).values
    torch.testing.assert_close(cost, best)


def test_solving_changes_no_running_statistics(tmp_path: Path) -> None:
    """The network solves in evaluation mode, and then learns on in training mode."""
    config = tiny_config("fine-tuning", "cvrp", sizes=(6, 5))
    options = {**config.solver_options, "norm": "batch"}
    config = attrs.evolve(config, solver="omni", solver_options=options)
    run = prepare(config, tmp_path / "run")
    memory, module = memory_of(run), run.learner.solver.module
    module.train()
    before = parameters(run)
    assert any("running_mean" in name for name in before)
    SolvedTasks().solve(run.learner, memory)
    forced_actions(run.learner.solver, memory.take(0, [0]))
    assert same(parameters(run), before)
    assert module.training


def changed(run: Run) -> None:
    """Change the solver."""
    stream = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in run.learner.solver.module.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=stream))


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_only_better_samples_replace_solutions(tmp_path: Path, problem: str) -> None:
    """No cost is higher, costs still are those of the actions, other instances keep theirs."""
    run = prepared(tmp_path, problem)
    memory, tasks = memory_of(run), SolvedTasks()
    tasks.solve(run.learner, memory)
    before, places = tasks.tasks[0], [7, 2, 4, 0, 9, 5]
    changed(run)
    stream = torch.Generator().manual_seed(2)
    for _ in range(3):
        rollout = run.learner.solver.rollout(memory.take(0, places), "sample", generator=stream)
        tasks.improve(0, places, rollout)
        assert (tasks.tasks[0].cost[places] <= rollout.cost.min(dim=1).values).all()
    after, everywhere = tasks.tasks[0], list(range(10))
    assert (after.cost <= before.cost).all()
    assert (after.cost < before.cost).any()
    assert torch.equal(after.cost[[1, 3, 6, 8]], before.cost[[1, 3, 6, 8]])
    cost = run.learner.problem.cost(memory.take(0, everywhere), tasks.take(0, everywhere))
    torch.testing.assert_close(cost[:, 0], after.cost)


def test_a_task_is_solved_once(tmp_path: Path) -> None:
    """Before the next task only the instances of the last one are solved."""
    run = prepared(tmp_path, "cvrp")
    memory, tasks = memory_of(run), SolvedTasks()
    tasks.solve(run.learner, memory)
    first = tasks.tasks[0]
    for step in range(4):
        memory.offer(run.learner, run.learner.draw(1, step))
    changed(run)
    run.learner.task = 2
    tasks.solve(run.learner, memory)
    assert tasks.tasks[0] is first
    assert len(tasks.tasks) == 2


def test_instances_of_several_sizes_are_solved_in_their_order(tmp_path: Path) -> None:
    """A smaller one has a shorter solution."""
    run = prepared(tmp_path, "tsp")
    instances = [run.learner.draw(task, size=1) for task in (0, 1, 0, 1)]
    found = solved(run.learner.solver, instances, batch_size=2)
    assert found.length.tolist() == [6, 5, 6, 5]
    for i, instance in enumerate(instances):
        actions = found.actions[i, : int(found.length[i])].view(1, 1, -1)
        cost = run.learner.problem.cost(instance, actions)[0, 0]
        torch.testing.assert_close(cost, found.cost[i])


def test_better_keeps_the_old_one_of_two_equal_ones() -> None:
    """Each instance has the actions and the length of its better solution."""
    old = Solved(torch.tensor([1.0, 3.0, 2.0]), torch.tensor([[1], [2], [3]]), torch.ones(3).long())
    actions = torch.tensor([[4, 4], [5, 6], [7, 8]])
    new = Solved(torch.tensor([1.0, 2.0, 4.0]), actions, torch.tensor([2, 2, 2]))
    found = better(old, new)
    assert found.cost.tolist() == [1.0, 2.0, 2.0]
    assert found.actions.tolist() == [[1, 1], [5, 6], [3, 3]]
    assert found.length.tolist() == [1, 2, 1]


def test_state_is_reprepared(tmp_path: Path) -> None:
    """All of it."""
    run = prepared(tmp_path, "cvrp")
    memory, tasks, again = memory_of(run), SolvedTasks(), SolvedTasks()
    tasks.solve(run.learner, memory)
    again.load_state_dict(run.learner, tasks.state_dict())
    for name in ("cost", "actions", "length"):
        assert torch.equal(getattr(again.tasks[0], name), getattr(tasks.tasks[0], name))
