"""The same rollout in several ways: the same random numbers, with CUDA graphs or step by step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Decode, Rollout
from lifelong_co.rollout.action_selection import with_default
from lifelong_co.rollout.cuda_graphs import CudaGraph, Graphs
from lifelong_co.rollout.decoding import multi_start


class Repeated:
    """What stands for a CUDA graph on a CPU: the call, done again."""

    def __init__(self, call: Callable[[], None], generator: torch.Generator | None) -> None:
        before = None if generator is None else generator.get_state()
        call()
        if generator is not None and before is not None:
            generator.set_state(before)
        self.replay = call


def new_graphs(device: str) -> Graphs:
    """Return captured rollouts; on a CPU each of them is a repeated call."""
    return Graphs(CudaGraph if device.startswith("cuda") else Repeated)


@attrs.frozen(eq=False)
class MultiStart:
    """POMO or Omni, whose rollouts without gradients use graphs, or never do."""

    solver: Any
    graphs: Graphs | None = None
    problem: Any = attrs.field(init=False)
    module: torch.nn.Module = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "problem", self.solver.problem)
        object.__setattr__(self, "module", self.solver.module)

    def encode(self, instances: Any) -> Any:
        return self.solver.encode(instances)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        return self.solver.log_probs(encoding, state)

    def rollout(self, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
        if self.graphs is None or torch.is_grad_enabled():
            return multi_start(self.solver, instances, decode, **options)
        decoding = with_default(self.problem.size(instances), decode, **options)
        S = decoding.trajectories
        return self.graphs.rollout(
            self.solver, instances, decoding, lambda batch: self.problem.starts(batch, S)
        )


class Draws:
    """Given numbers in place of `torch.rand`, one row for each step of a rollout.

    The place of the next row is a tensor, so a captured step takes another row at each replay.
    """

    def __init__(self, numbers: Tensor) -> None:
        self.numbers = numbers  # [T, B, S, 1]
        self.place = torch.zeros(1, dtype=torch.long, device=numbers.device)

    def rand(self, shape: Any, *, dtype: torch.dtype, **_: Any) -> Tensor:
        """Return the next row; what stands for `torch.rand`."""
        row = self.numbers.index_select(0, self.place % len(self.numbers))[0]
        self.place.add_(1)
        assert row.shape == torch.Size(shape), (row.shape, shape)
        return row.to(dtype)

    @contextmanager
    def given(self) -> Iterator[None]:
        """Replace `torch.rand`, from the first row on."""
        self.place.zero_()
        with mock.patch("torch.rand", self.rand):
            yield


def drawn(draws: Draws, rollout: Callable[[], Rollout]) -> Rollout:
    """Return a rollout with the given numbers, the second one: capturing a graph takes a row."""
    for _ in range(2):
        with draws.given():
            found = rollout()
    return found


@attrs.frozen
class Difference:
    """How far a rollout is from the reference."""

    actions: float
    """The share of trajectories with the same actions; the rest is about these."""
    cost: float
    """The largest relative difference of costs."""
    likelihood: float
    """The largest difference of log-likelihoods, relative where they are above 1."""
    gradient: float | None = None
    """The norm of the difference of the gradients, by that of the reference."""


def difference(
    found: Rollout, reference: Rollout, networks: tuple[torch.nn.Module, torch.nn.Module] | None
) -> Difference:
    """Compare a rollout with the reference; with their two networks also the gradients.

    The gradients are those of a weighted sum of the log-likelihoods of equal trajectories. Actions
    after the end of the shorter rollout have to be 0, the depot.
    """
    same = alike(found.actions.cpu(), reference.actions.cpu())
    mine, its = (r.log_likelihood.detach().cpu().double() for r in (found, reference))
    costs, expected = (r.cost.detach().cpu().double() for r in (found, reference))
    off = ((mine - its).abs() / its.abs().clamp(min=1))[same]
    gradient = None
    if networks is not None:
        parts = zip((found, reference), networks, strict=True)
        one, other = (gradients(r, network, same) for r, network in parts)
        gradient = float((one - other).norm() / other.norm())
    return Difference(
        actions=float(same.double().mean()),
        cost=largest(((costs - expected).abs() / expected)[same]),
        likelihood=largest(off),
        gradient=gradient,
    )


def alike(found: Tensor, reference: Tensor) -> Tensor:
    """Return bool ``[B, S]``: whether the actions, filled with 0 to one length, are equal."""
    T = max(found.shape[2], reference.shape[2])
    padded = [torch.nn.functional.pad(x, (0, T - x.shape[2])) for x in (found, reference)]
    return (padded[0] == padded[1]).all(dim=2)


def gradients(rollout: Rollout, network: torch.nn.Module, counted: Tensor) -> Tensor:
    """Return all gradients of the weighted sum of the counted log-likelihoods as one vector."""
    weights = torch.linspace(-1, 2, counted.numel(), dtype=torch.double).view(counted.shape)
    likelihood = rollout.log_likelihood
    total = ((weights * counted).to(likelihood) * likelihood).sum()
    parameters = list(network.parameters())
    found = torch.autograd.grad(total, parameters, retain_graph=True, allow_unused=True)
    return torch.cat(
        [
            (torch.zeros_like(p) if g is None else g).flatten().cpu().double()
            for g, p in zip(found, parameters, strict=True)
        ]
    )


def largest(values: Tensor) -> float:
    """Return the largest number; infinity if one is NaN or there is none."""
    return float(values.max().nan_to_num(torch.inf)) if values.numel() else float("inf")
