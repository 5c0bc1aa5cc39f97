"""Queries are recorded with experiences and replayed unchanged."""

from pathlib import Path

import pytest
import torch
from lifelong_co_plugins.methods.experience_replay.recorded_queries import (
    encoded,
    recorded_queries,
)
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle
from tiny_runs import MODEL, parameters, same, stopped_and_resumed, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.replay.experience import record


@pytest.mark.parametrize(("n", "kind"), [(5, "Tables"), (70, "Nodes")])
def test_replay_reads_the_recorded_query(n: int, kind: str) -> None:
    """After other parameters replace its weight, the behavior follows the recorded queries."""
    torch.manual_seed(0)
    solver = lco.solver("pomo", problem="tsp", **MODEL)
    problem = solver.problem
    instances = problem.instances(nodes=torch.rand(3, n, 2, dtype=torch.float64))
    solver.module.double()
    state = problem.step(instances, problem.reset(instances, n), problem.starts(instances, n)[0])
    state = problem.step(instances, state, (state.current + 1) % n)
    queries = recorded_queries(solver, instances)
    assert list(queries) == ["first"]
    assert queries["first"].shape == (3, n, MODEL["head_num"] * MODEL["qkv_dim"])
    before = solver.log_probs(solver.encode(instances), state)
    step = record(0, instances, state, before, queries)
    with torch.no_grad():
        solver.module.queries["first"].weight.zero_()
    bundle = ReplayedBundle((step,), torch.tensor([2, 0]))
    encoding = encoded(solver, [bundle])
    assert type(encoding.nodes).__name__ == kind
    now = solver.log_probs(encoding, step.state(bundle.rows))
    torch.testing.assert_close(now, before[[2, 0]])
    assert not torch.allclose(solver.log_probs(solver.encode(instances), state), before)


@pytest.mark.parametrize(("solver", "problem"), [("pomo", "cvrp"), ("invit", "tsp")])
def test_nothing_is_recorded_without_such_queries(solver: str, problem: str) -> None:
    """The CVRP's query is that of the last node; INViT is not `RecordsQueries`."""
    built = lco.solver(solver, problem=problem)
    instances = lco.distribution("U", problem=problem).sample(2, 6)
    assert recorded_queries(built, instances) == {}


def test_steps_with_and_without_queries_are_replayed_apart() -> None:
    """Experiences that another run recorded have none."""
    problem = lco.problem("tsp")
    instances = problem.instances(nodes=torch.rand(2, 4, 2))
    state, shown = problem.reset(instances, 4), torch.zeros(2, 4, 4)
    plain = record(0, instances, state, shown)
    other = record(0, instances, state, shown, {"first": torch.zeros(2, 4, 8)})
    bundles = tuple(ReplayedBundle((step,)) for step in (plain, other, plain))
    sizes = [len(batch.bundles) for batch in Replayed(bundles).of_one_size()]
    assert sizes == [2, 1]
    assert other.of_task(3).roles == ()


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("stop_after", [3, 5])
def test_stopped_run_resumes_to_the_same_bits(
    tmp_path: Path, problem: str, stop_after: int
) -> None:
    """Recorded queries survive a checkpoint."""
    config = tiny_config(problem=problem, official_replay=True, alpha=1e3)
    whole = tiny_learn(config, tmp_path / "whole")
    resumed = stopped_and_resumed(config, tmp_path, stop_after)
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
