"""Rollouts by captured graphs: tried on the CPU, where a graph is the call itself, done again."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import lifelong_co as lco
from lifelong_co.protocols import Decode, Rollout
from lifelong_co.rollout import cuda_graphs as room
from lifelong_co.rollout.action_selection import Decoding
from lifelong_co.rollout.cuda_graphs import Graphs
from lifelong_co.rollout.decoding import multi_start
from lifelong_co.tensors import records

both = pytest.mark.parametrize("problem", ["cvrp", "tsp"])

decodings = pytest.mark.parametrize("decode", get_args(Decode))

SMALL = {"embedding_dim": 16, "head_num": 2, "qkv_dim": 8, "ff_hidden_dim": 16}


class Again:
    """What stands in for a CUDA graph: it does the call to warm up, and again to replay.

    Not to capture: that computes nothing.
    """

    def __init__(self, call: Callable[[], None], generator: torch.Generator | None) -> None:
        before = None if generator is None else generator.get_state()
        call()
        if generator is not None and before is not None:
            generator.set_state(before)
        self.replay = call


def solver_of(problem: str, layers: int = 1, **options: int) -> Any:
    """Return a small POMO in double precision."""
    torch.manual_seed(1)
    solver = lco.solver("pomo", problem=problem, encoder_layer_num=layers, **SMALL, **options)
    solver.module.double()
    return solver


def batch(problem: str, n: int, seed: int, rows: int = 3) -> Any:
    """Return instances in double precision."""
    generator = torch.Generator().manual_seed(seed)
    instances = lco.distribution("U", problem=problem).sample(rows, n, generator=generator)
    return records.transform(instances, lambda x: x.double())


def on_gpu(tensor: torch.Tensor) -> torch.Tensor:
    """Return one like it on a GPU; without values, inside `FakeTensorMode`."""
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="cuda")


def replayed(
    graphs: Graphs, solver: Any, instances: Any, decode: Decode = "greedy", **more: Any
) -> Rollout:
    """Return a multi-start rollout by graphs."""
    n = solver.problem.size(instances)
    decoding = Decoding(decode, trajectories=n, **more)
    return graphs.rollout(
        solver, instances, decoding, lambda batch: solver.problem.starts(batch, n)
    )


@both
@decodings
def test_replayed_rollout_equals_the_plain_one(problem: str, decode: Decode) -> None:
    """It holds batch after batch, with parameters that change between them."""
    solver, graphs, stream = solver_of(problem), Graphs(Again), torch.Generator()
    for seed in range(3):
        instances = batch(problem, 9, seed)
        with torch.no_grad():
            plain = multi_start(solver, instances, decode, generator=stream.manual_seed(seed))
        found = replayed(graphs, solver, instances, decode, generator=stream.manual_seed(seed))
        T = plain.actions.shape[2]
        assert torch.equal(found.actions[..., :T], plain.actions)
        assert not found.actions[..., T:].any()  # at the depot, all done
        torch.testing.assert_close(found.cost, plain.cost, rtol=1e-12, atol=0)
        torch.testing.assert_close(found.log_likelihood, plain.log_likelihood)
        for parameter in solver.module.parameters():
            parameter.data.mul_(1.1)
    assert len(graphs.captured) == 1


@both
def test_observers_see_every_step_until_all_are_done(problem: str) -> None:
    """They get the states and behavior of the plain rollout, and no further step."""
    solver, graphs, instances = solver_of(problem), Graphs(Again), batch(problem, 8, 5)
    plain: list[tuple[Any, torch.Tensor]] = []
    shown: list[tuple[Any, torch.Tensor]] = []
    with torch.no_grad():
        expected = multi_start(solver, instances, observe=lambda *step: plain.append(step))
    found = replayed(graphs, solver, instances, observe=lambda *step: shown.append(step))
    assert torch.equal(found.actions, expected.actions)
    assert len(shown) == len(plain)
    for (state, log_probs), (its, behavior) in zip(shown, plain, strict=True):
        torch.testing.assert_close(log_probs, behavior, rtol=1e-12, atol=1e-12)
        for name, tensor in records.tensors(state).items():
            torch.testing.assert_close(tensor, records.tensors(its)[name])


def test_each_kind_of_rollout_has_a_graph_and_the_oldest_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sizes, batches, ways of decoding and replaced parameters have separate graphs."""
    monkeypatch.setattr(room, "KEPT", 4)
    solver, graphs = solver_of("cvrp"), Graphs(Again)
    kinds: list[tuple[int, Decode, int]] = [
        (5, "greedy", 3), (6, "greedy", 3), (5, "sample", 3), (5, "greedy", 2),
    ]  # fmt: skip
    for number, (n, decode, rows) in enumerate(kinds, start=1):
        for seed in range(2):
            replayed(graphs, solver, batch("cvrp", n, seed, rows), decode)
        assert len(graphs.captured) == number
    first = next(iter(graphs.captured))
    solver.module.key.weight = torch.nn.Parameter(solver.module.key.weight.detach().clone())
    replayed(graphs, solver, batch("cvrp", 6, 0))
    assert len(graphs.captured) == 4
    assert first not in graphs.captured


def test_running_statistics_move_once_per_rollout() -> None:
    """The trial runs before a capture do not count."""
    plain, replaying = (
        lco.solver("omni", problem="tsp", norm="batch", encoder_layer_num=1, **SMALL)
        for _ in range(2)
    )
    replaying.module.load_state_dict(plain.module.state_dict())
    graphs = Graphs(Again)
    for seed in range(2):
        instances = records.transform(batch("tsp", 6, seed), lambda x: x.float())
        with torch.no_grad():
            multi_start(plain, instances)
        replayed(graphs, replaying, instances)
    for mine, its in zip(replaying.module.buffers(), plain.module.buffers(), strict=True):
        torch.testing.assert_close(mine, its)


@both
def test_pomo_replays_graphs_only_on_a_gpu_without_gradients(problem: str) -> None:
    """With gradients, and on the CPU, POMO uses the plain rollout."""
    solver = solver_of(problem)
    solver.graphs.capture = Again
    instances = batch(problem, 5, 0)
    with torch.no_grad():
        solver.rollout(instances)
    assert not solver.graphs.captured
    asked: list[Any] = []
    with FakeTensorMode():
        there = records.transform(instances, on_gpu)
        solver.graphs.rollout = lambda *given, **options: asked.append((given, options))
        with torch.no_grad():
            solver.rollout(there, "sample")
        single = records.transform(there, torch.Tensor.float)
        with torch.no_grad(), pytest.raises(lco.InvalidInstancesError, match="parameters, got"):
            solver.rollout(single)  # the solver has double precision
    assert len(asked) == 1
