"""Decoding: the one loop that turns a policy into solutions, for every solver and problem."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Decode, Observer, Rollout, Solver
from lifelong_co.rollout.action_selection import pick
from lifelong_co.rollout.cuda_graphs import Graphs
from lifelong_co.tensors import records

# How often an accelerator is asked whether all trajectories are done: asking waits for the device.
ASK_EVERY = 8


def rollout(
    solver: Solver,
    instances: object,
    decode: Decode = "greedy",
    *,
    starts: Sequence[Tensor],
    trajectories: int,
    generator: torch.Generator | None = None,
    observe: Observer | None = None,
) -> Rollout:
    """Build ``S = trajectories`` solutions of every instance.

    Parameters
    ----------
    solver
        Its `encode` is called once, its `log_probs` at every step that is not forced.
    instances
        ``B`` instances of the solver's problem.
    decode
        ``greedy`` takes the likeliest action, ``sample`` draws one.
    starts
        The forced first actions, each long ``[B, S]``.
    trajectories
        ``S``.
    generator
        The random stream of ``sample``; torch's own when None.
    observe
        Called with ``(state, log_probs)`` at every step that is not forced.

    Raises
    ------
    ConfigError
        If ``decode`` is neither of the two, or ``trajectories`` is below 1.
    """
    if decode not in ("greedy", "sample"):
        raise ConfigError(f"decode: expected 'greedy' or 'sample', got {decode!r}")
    if trajectories < 1:
        raise ConfigError(f"trajectories: expected at least 1, got {trajectories}")
    problem = solver.problem
    least, most = problem.steps(problem.size(instances))
    # An observer shall see no step after all are done.
    waits = records.device(instances).type == "cpu" or observe is not None

    encoding = solver.encode(instances)
    state = problem.reset(instances, trajectories)
    # One place for all actions: small tensors that stay, allocated between large ones that go,
    # would make the heap grow at every step (500 nodes: by 1.6 GiB in all).
    shape = records.rows(instances), trajectories, most
    actions = torch.empty(shape, dtype=torch.long, device=records.device(instances))
    taken = 0
    likelihood = torch.zeros(shape[:2], device=actions.device)
    chosen: list[Tensor] = []  # log-probability of each action taken, [B, S], if to be learned
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
        log_probs = solver.log_probs(encoding, state)  # [B, S, A]
        if observe is not None:
            observe(state, log_probs)
        action = pick(log_probs, decode, generator)
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


def multi_start(
    solver: Solver,
    instances: object,
    decode: Decode = "greedy",
    *,
    trajectories: int | None = None,
    generator: torch.Generator | None = None,
    observe: Observer | None = None,
    graphs: Graphs | None = None,
) -> Rollout:
    """Solve with one trajectory from every node, or from the first ``trajectories`` nodes.

    With ``graphs`` a GPU replays the steps while no gradients are kept; nothing in the solver's
    `encode` and `log_probs` may wait for the device then.
    """
    problem = solver.problem
    S = problem.size(instances) if trajectories is None else trajectories
    replayed = graphs is not None and not torch.is_grad_enabled()
    if graphs is not None and replayed and records.device(instances).type == "cuda":
        return graphs.rollout(
            solver,
            instances,
            decode,
            starts=lambda batch: problem.starts(batch, S),
            trajectories=S,
            generator=generator,
            observe=observe,
        )
    return rollout(
        solver,
        instances,
        decode,
        starts=problem.starts(instances, S),
        trajectories=S,
        generator=generator,
        observe=observe,
    )


def single(
    solver: Solver,
    instances: object,
    decode: Decode = "greedy",
    *,
    trajectories: int | None = None,
    generator: torch.Generator | None = None,
    observe: Observer | None = None,
) -> Rollout:
    """Solve with ``trajectories`` solutions each, by default one.

    Only where they begin nowhere (TSP) are their first nodes forced, to be different ones.
    """
    problem = solver.problem
    S = 1 if trajectories is None else trajectories
    nowhere = problem.context(problem.reset(instances, S)).nowhere
    return rollout(
        solver,
        instances,
        decode,
        starts=() if nowhere is None else problem.starts(instances, S),
        trajectories=S,
        generator=generator,
        observe=observe,
    )
