"""The one decoding loop, with a policy that prefers near nodes and has no parameters."""

import os
import subprocess
import sys
from typing import Any

import attrs
import pytest
import torch
from paths import PROGRAMS
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.protocols import Problem, Rollout
from lifelong_co.rollout import multi_start, rollout, single
from lifelong_co.tensors import records

both = pytest.mark.parametrize("problem", ["tsp", "cvrp"])


@attrs.frozen(eq=False)
class Near:
    """A policy ``P(j) ~ exp(-5 distance)``; counts its calls."""

    problem: Problem
    module: nn.Module = attrs.field(factory=nn.Module)
    calls: list[str] = attrs.field(factory=list)

    def encode(self, instances: Any) -> Any:
        """Return the distances between the places of all actions."""
        self.calls.append("encode")
        features = self.problem.features(instances).values()
        points = torch.cat([feature[..., :2] for feature in features], dim=1)
        return instances, torch.cdist(points, points)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the behavior ``[B, S, A]``."""
        self.calls.append("log_probs")
        instances, distance = encoding
        feasible = self.problem.feasible(instances, state)
        here = state.current.clamp(min=0)[..., None].expand(feasible.shape)
        scores = -5 * distance.gather(1, here)
        return scores.masked_fill(~feasible, -torch.inf).log_softmax(dim=-1)


def near(problem: str) -> Any:
    """Return the policy for a problem."""
    return Near(lco.problem(problem))


def batch(problem: str, rows: int = 3, n: int = 6) -> Any:
    """Return uniform instances."""
    stream = torch.Generator().manual_seed(1)
    return lco.distribution("U", problem=problem).sample(rows, n, generator=stream)


def seeded(seed: int = 0) -> torch.Generator:
    """Return a random stream."""
    return torch.Generator().manual_seed(seed)


def summed(found: Rollout, seen: list[Tensor]) -> Tensor:
    """Return the sum of the log-probabilities of the actions that were not forced."""
    chosen = found.actions[..., -len(seen) :]
    steps = zip(seen, chosen.unbind(2), strict=True)
    return torch.stack([p.gather(2, a[..., None]).squeeze(2) for p, a in steps]).sum(dim=0)


@both
@pytest.mark.parametrize("decode", ["greedy", "sample"])
def test_cost_and_likelihood_are_those_of_the_actions(problem: str, decode: Any) -> None:
    """The policy encodes once and is called once for each step that is not forced."""
    solver, instances, seen = near(problem), batch(problem), []
    found = multi_start(
        solver, instances, decode, generator=seeded(), observe=lambda _, p: seen.append(p)
    )
    assert found.actions.shape[:2] == (3, 6)
    torch.testing.assert_close(found.cost, solver.problem.cost(instances, found.actions))
    torch.testing.assert_close(found.log_likelihood, summed(found, seen))
    assert solver.calls == ["encode", *["log_probs"] * len(seen)]
    forced = len(solver.problem.starts(instances, 6))
    assert found.actions.shape[2] == forced + len(seen)
    if decode == "greedy":
        best = torch.stack([p.argmax(dim=2) for p in seen], dim=2)
        assert torch.equal(found.actions[..., forced:], best)


@both
def test_multi_start_begins_with_the_forced_actions(problem: str) -> None:
    """There is one trajectory from each node, or the given number of trajectories."""
    solver, instances = near(problem), batch(problem)
    for wanted, S in ((None, 6), (2, 2)):
        starts = solver.problem.starts(instances, S)
        found = multi_start(solver, instances, trajectories=wanted)
        assert torch.equal(found.actions[..., : len(starts)], torch.stack(list(starts), dim=2))
        same = rollout(solver, instances, starts=starts, trajectories=S)
        assert torch.equal(found.actions, same.actions)


def test_single_solution_is_forced_only_if_it_has_no_start() -> None:
    """A tour has to begin at some node; a route begins at the depot."""
    for problem, forced in (("tsp", 1), ("cvrp", 0)):
        solver, instances, seen = near(problem), batch(problem), []
        found = single(solver, instances, observe=lambda _, p, seen=seen: seen.append(p))
        assert found.actions.shape[1] == 1
        assert found.actions.shape[2] - len(seen) == forced


@both
def test_generator_decides_what_is_sampled(problem: str) -> None:
    """The same seed gives the same actions, another seed others; greedy draws nothing."""
    solver, instances, stream = near(problem), batch(problem, rows=8), seeded()
    runs = [multi_start(solver, instances, "sample", generator=seeded(s)) for s in (0, 0, 1)]
    assert torch.equal(runs[0].actions, runs[1].actions)
    shape = runs[0].actions.shape == runs[2].actions.shape
    assert not (shape and torch.equal(runs[0].actions, runs[2].actions))
    multi_start(solver, instances, "greedy", generator=stream)
    assert torch.equal(stream.get_state(), seeded().get_state())


@pytest.mark.parametrize("solver", ["pomo", "invit"])
def test_instances_of_another_precision_are_refused(solver: str) -> None:
    """Numpy's coordinates have double precision."""
    options = {"embedding_dim": 16} if solver == "pomo" else {"dim_emb": 16, "nb_heads": 2}
    model = lco.solver(solver, problem="tsp", **options)
    double = records.transform(batch("tsp"), Tensor.double)
    message = "nodes: expected torch.float32 like the solver's parameters, got torch.float64"
    for context in (torch.no_grad(), torch.enable_grad()):
        with context, pytest.raises(lco.InvalidInstancesError, match=message):
            model.rollout(double)
    model.module.double()
    assert model.rollout(double).cost.dtype == torch.float64
    model.module.bfloat16()
    with pytest.raises(ComponentError, match=r"solver: expected parameters .* torch\.bfloat16"):
        model.rollout(double)


def test_likelihood_of_a_solver_in_bfloat16_is_summed_in_single_precision() -> None:
    """Torch's autocast on a CPU computes `log_softmax` in bfloat16."""

    class Half(Near):
        def log_probs(self, encoding: Any, state: Any) -> Tensor:
            """Return the behavior, rounded."""
            return super().log_probs(encoding, state).bfloat16()

    instances, seen = batch("tsp", n=20), []
    found = rollout(
        Half(lco.problem("tsp")), instances, "sample",
        trajectories=1, starts=(), generator=seeded(), observe=lambda _, each: seen.append(each),
    )  # fmt: skip
    assert {each.dtype for each in seen} == {torch.float32} == {found.log_likelihood.dtype}
    torch.testing.assert_close(found.log_likelihood, summed(found, seen))


def test_unknown_way_to_decode_is_refused() -> None:
    """One line names the option."""
    solver, instances = near("tsp"), batch("tsp")
    with pytest.raises(lco.ConfigError, match="decode: expected 'greedy' or 'sample', got 'beam'"):
        multi_start(solver, instances, "beam")  # type: ignore[arg-type]
    for decoder in (multi_start, single):
        with pytest.raises(
            lco.ConfigError, match="trajectories: expected a whole number of at least 1"
        ):
            decoder(solver, instances, trajectories=0)
    with pytest.raises(TypeError, match="beams"):
        multi_start(solver, instances, beams=3)
    assert not solver.calls


def test_memory_of_solving_is_bounded_over_many_steps() -> None:
    """500 trajectories of 500 actions: 21 MiB here; 100 if the tensor of each action stays."""
    program = PROGRAMS / "memory_use.py"
    done = subprocess.run(
        [sys.executable, str(program), "solving", "500"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(program.parent)},
    )
    assert float(done.stdout) < 50
