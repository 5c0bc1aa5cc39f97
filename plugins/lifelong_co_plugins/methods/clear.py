"""CLEAR: off-policy learning from old solutions, and cloning of old behavior (Rolnick et al. 2019).

"Experience Replay for Continual Learning" (NeurIPS 2019, arXiv 1811.11682): half of what is learned
from is new, half is replayed. Replayed trajectories are learned off-policy, with the truncated
importance weights of V-trace (Espeholt et al. 2018), and the policy stays near the one that sampled
them, ``KL(old || new)``. The buffer is a reservoir of all that was learned; it does not depend on
where a task begins.

``L = L_DRL + beta * L_V-trace + alpha * KL``. It was made for games. What we changed:

- An item is an instance with ``trajectories`` of its sampled solutions, their costs and the
  behavior on the way. A batch of replay has as many instances as the present batch (their 50:50).
- There is no value function. Its part is played by the mean cost of the instance's solutions when
  it was recorded. With this constant value, and the cost as the only reward at the end, the V-trace
  advantage of a step is ``A`` times the product of ``min(1, new / old)`` over this step and all
  later ones. There is no cloning of values.
- Their weights (0.01 for cloning) belong to their losses. ``alpha`` and ``beta`` here are not
  theirs.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import LearnerState, Method, Rollout
from lifelong_co.replay.checked import checked_divergence
from lifelong_co.tensors.modules import normalises_over_batch
from lifelong_co.validators import at_least_one, at_least_zero
from lifelong_co_plugins.methods.instance_replay.solutions import SolutionMemory, behavior_along
from lifelong_co_plugins.methods.kept import Kept
from lifelong_co_plugins.methods.regularization.weight_unit import WeightUnit


def clear(
    alpha: float = 1.0,
    beta: float = 1.0,
    buffer_size: int = 1000,
    trajectories: int = 4,
    divergence: str = "kl",
    weight_unit: str = "absolute",
) -> Method:
    """Return CLEAR: it learns old solutions again and clones the behavior that sampled them.

    Parameters
    ----------
    alpha
        Weight of the divergence from the old behavior, at least 0.
    beta
        Weight of the policy loss on replayed solutions, at least 0.
    buffer_size
        Instances held, of all tasks together, at least 0.
    trajectories
        Solutions held and replayed of each instance, at least 1.
    divergence
        A registered divergence; the old behavior is the teacher.
    weight_unit
        That of ``alpha`` and ``beta``: ``absolute``, or ``gradient``, as ``alpha_unit`` in
        `llr_bc.llr_bc`.

    Raises
    ------
    ConfigError
        If a number is out of its range; or in the first step, if ``beta`` is above 0 and the solver
        samples one trajectory, or if the solver normalises over the batch.
    UnknownNameError
        If there is no such divergence or unit.
    """
    at_least_zero("method 'clear'", {"alpha": alpha, "beta": beta, "buffer_size": buffer_size})
    at_least_one("method 'clear'", {"trajectories": trajectories})
    diverge = checked_divergence(divergence)
    memory = SolutionMemory(buffer_size, trajectories)
    unit = WeightUnit("weight_unit", weight_unit)

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:
        S = rollout.cost.shape[1]
        if beta and S < 2:  # the baseline would be the cost itself
            raise ConfigError(
                "method 'clear': expected a solver with at least 2 trajectories for each instance,"
                f" or beta 0, got {S} and beta {beta:g}"
            )
        if normalises_over_batch(learner.solver.module):
            raise ConfigError(
                "method 'clear': expected a solver that treats each instance alone, because it"
                " replays instances of different batches together; this one normalises over the"
                " batch"
            )
        one = unit.now(learner)
        # The present batch is not replayed in its own step: it is stored afterwards.
        parts = memory.sample(rollout.cost.shape[0])
        total = sum(part.advantage.shape[0] for part in parts)
        for part in parts:
            share = part.advantage.shape[0] / total
            instances, actions, forced = part.instances, part.actions, part.forced
            encoding = learner.solver.encode(instances)
            now = behavior_along(learner.solver, instances, encoding, actions, forced)
            old = part.behavior.float()
            replay: Tensor | float = 0.0
            if beta:  # an action that has become impossible would make 0 times infinity of it
                taken = part.actions[..., part.forced :, None]
                new, past = (x.gather(3, taken).squeeze(3) for x in (now, old))
                replay = beta * v_trace_loss(new, past, part.advantage)
            cloning = diverge(old, now).mean()
            yield "replay", one * share * (replay + alpha * cloning)
        memory.store(rollout)

    kept = Kept(memory, unit)
    return Method(
        before_task=memory.start,
        observer=memory.observer,
        loss_terms=loss_terms,
        state_dict=kept.state_dict,
        load_state_dict=kept.load_state_dict,
    )


def v_trace_loss(new: Tensor, old: Tensor, advantage: Tensor) -> Tensor:
    """Return the policy loss of V-trace, a scalar.

    Parameters
    ----------
    new, old
        Log-probabilities ``[b, s, T]`` of the actions taken, of the learner and when recorded.
    advantage
        Cost less the baseline, ``[b, s]``.
    """
    with torch.no_grad():
        ratio = (new - old).clamp(max=0.0)  # log min(1, new / old)
        weight = ratio.flip(-1).cumsum(-1).flip(-1).exp()  # of this step and all later ones
    return (advantage[..., None] * weight * new).sum(dim=-1).mean()
