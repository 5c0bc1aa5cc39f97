"""Decoding: the loop that builds solutions with a policy, for every solver and problem."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from lifelong_co.protocols import Decode, Problem, Rollout, Solver
from lifelong_co.rollout.action_selection import Decoding, pick, with_default
from lifelong_co.rollout.cuda_graphs import ASK_EVERY, Graphs
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import require_precision
from lifelong_co.tensors.precision import not_half


class Policy(Protocol):
    """The part of a solver that decoding uses; see `Solver`."""

    @property
    def problem(self) -> Problem:
        """The problem."""

    @property
    def module(self) -> nn.Module:
        """What has the parameters."""

    def encode(self, instances: Any) -> Any:
        """Encode a batch."""

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the log-probabilities ``[B, S, A]`` of the actions."""


def rollout(
    solver: Solver,
    instances: Any,
    decode: Decode = "greedy",
    *,
    starts: Sequence[Tensor],
    **options: Any,
) -> Rollout:
    """Build solutions that begin with forced actions; see `decoded`.

    Parameters
    ----------
    solver, instances, starts
        As for `decoded`.
    decode, **options
        The fields of `Decoding`.

    Raises
    ------
    ConfigError
        If ``decode`` or ``trajectories`` is invalid.
    """
    return decoded(solver, instances, Decoding(decode, **options), starts)


def multi_start(
    solver: Solver,
    instances: Any,
    decode: Decode = "greedy",
    *,
    graphs: Graphs | None = None,
    encoding: Any = None,
    **options: Any,
) -> Rollout:
    """Solve with one trajectory from every node, or from the first ``trajectories`` nodes.

    Parameters
    ----------
    solver, instances
        As for `decoded`.
    decode, **options
        The fields of `Decoding`; ``trajectories`` may be None.
    graphs
        With these a GPU replays captured steps whenever gradients are off. Then the solver's
        `encode` and `log_probs` must not wait for the device.
    encoding
        As for `decoded`.
    """
    problem = solver.problem
    decoding = with_default(problem.size(instances), decode, **options)
    S = decoding.trajectories
    on_gpu = records.device(instances).type == "cuda"
    if graphs is not None and on_gpu and encoding is None and not torch.is_grad_enabled():
        require_precision(solver.module, instances)
        return graphs.rollout(solver, instances, decoding, lambda batch: problem.starts(batch, S))
    return decoded(solver, instances, decoding, problem.starts(instances, S), encoding)


def single(solver: Solver, instances: Any, decode: Decode = "greedy", **options: Any) -> Rollout:
    """Solve each instance with ``trajectories`` solutions, by default one.

    If solutions begin at no node, as for the TSP, their first nodes are forced and differ. Else no
    action is forced. The parameters are those of `multi_start`, without ``graphs`` and
    ``encoding``.
    """
    problem = solver.problem
    decoding = with_default(1, decode, **options)
    S = decoding.trajectories
    nowhere = problem.context(problem.reset(instances, S)).nowhere
    starts = () if nowhere is None else problem.starts(instances, S)
    return decoded(solver, instances, decoding, starts)


def decoded(
    solver: Policy,
    instances: Any,
    decoding: Decoding,
    starts: Sequence[Tensor],
    encoding: Any = None,
) -> Rollout:
    """Build the ``S = decoding.trajectories`` solutions of every instance.

    Parameters
    ----------
    solver
        Its `log_probs` is called at every step that is not forced.
    instances
        ``B`` instances of the solver's problem.
    decoding
        How actions are chosen, and the observer of the steps.
    starts
        The forced first actions, each long ``[B, S]``.
    encoding
        What `encode` has returned for the instances; None: it is called now.
    """
    problem, S = solver.problem, decoding.trajectories
    least, most = problem.steps(problem.size(instances))
    # An observer must not see a step after all trajectories are done.
    waits = records.device(instances).type == "cpu" or decoding.observe is not None

    if encoding is None:
        require_precision(solver.module, instances)
        encoding = solver.encode(instances)
    state = problem.reset(instances, S)
    # One tensor for all actions. Small tensors that are kept, allocated between large ones that
    # are freed, make the heap grow at every step (500 nodes: by 1.6 GiB in total).
    shape = records.rows(instances), S, most
    actions = torch.empty(shape, dtype=torch.long, device=records.device(instances))
    taken = 0
    likelihood = torch.zeros(shape[:2], device=actions.device)
    chosen: list[Tensor] = []  # log-probability of each action taken, [B, S], with gradients
    for action in starts:
        state = problem.step(instances, state, action)
        actions[..., taken] = action
        taken += 1

    while taken < most:
        if (
            taken >= least
            and (waits or (taken - least) % ASK_EVERY == 0)
            and bool(problem.done(instances, state).all())
        ):
            break
        log_probs = not_half(solver.log_probs(encoding, state))  # [B, S, A]
        if decoding.observe is not None:
            decoding.observe(state, log_probs)
        action = pick(log_probs, decoding.decode, decoding.generator)
        log_prob = log_probs.gather(2, action[..., None]).squeeze(2)
        if log_prob.requires_grad:
            chosen.append(log_prob)
        else:
            likelihood = likelihood + log_prob
        actions[..., taken] = action
        taken += 1
        state = problem.step(instances, state, action)

    sequence = actions[..., :taken].clone()
    if chosen:
        likelihood = likelihood + torch.stack(chosen, dim=2).sum(dim=2)
    return Rollout(
        actions=sequence, cost=problem.cost(instances, sequence), log_likelihood=likelihood
    )
