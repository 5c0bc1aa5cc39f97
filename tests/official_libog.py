"""One training step of LiBOG: the official trainer's own, its golden numbers, and ours.

``python tests/official_libog.py`` writes the golden numbers with the official code.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from goldens import FIXTURES, Golden, golden, weights
from lifelong_co_adapters.official.loading import load
from lifelong_co_adapters.official.locate import upstream
from lifelong_co_plugins.methods.libog import libog
from lifelong_co_plugins.methods.regularization.exemplar import frozen_copy
from tiny_runs import exact_run, tiny_config
from torch import Tensor

from lifelong_co.learner import train_batch

LEARNING_RATE, WEIGHT_DECAY = 1e-4, 1e-6
EWC, INTRA = 10.0, 0.5  # large enough to see an error in any of the terms
LEARNER, BEST, PAST, FISHER, PROBES = 11, 12, 13, 14, range(20, 28)
"""Seeds of parameters; probes are directions in which gradients and parameters are stored."""


@attrs.frozen(eq=False)
class Step:
    """What one step computes, in float64."""

    losses: dict[str, float]
    """``policy``, ``ewc`` and ``intra``, as they enter the loss."""
    gradients: dict[str, Tensor]
    parameters: dict[str, Tensor]
    """After Adam. Both by our names."""

    def along(self, directions: list[dict[str, Tensor]]) -> dict[str, list[float]]:
        """Return inner products of gradients and parameters with directions."""
        return {
            kind: [sum(float((of[k] * each[k]).sum()) for k in of) for each in directions]
            for kind, of in (("gradients", self.gradients), ("parameters", self.parameters))
        }


def seeded(base: Golden, seed: int) -> dict[str, Tensor]:
    """Return parameters by the official names."""
    return weights(seed, {name: list(value.shape) for name, value in base.weights.items()})


def past(base: Golden) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return parameters of a past task and their Fisher information, by the official names."""
    fisher = {name: 0.01 * value.square() for name, value in seeded(base, FISHER).items()}
    return seeded(base, PAST), fisher


def renamed(base: Golden, official: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors of the network by our names."""
    solver = attrs.evolve(base, weights=official).solver()
    return {name: value.detach() for name, value in solver.module.named_parameters()}


def directions(base: Golden) -> list[dict[str, Tensor]]:
    """Return the probes by our names."""
    return [renamed(base, seeded(base, seed)) for seed in PROBES]


def official_step(base: Golden, seed: int = 0) -> tuple[Step, Tensor]:
    """Drive ``_train_one_batch`` of the official trainer; return also its actions."""
    upper = base.problem.name.upper()
    stand_ins = {name: ModuleType(name) for name in ("utils", "utils.utils")}
    vars(stand_ins["utils.utils"])["random"] = None  # the functions there log and plot
    folder = upstream("LLR-BC") / upper

    def part(name: str) -> Any:
        return load(folder / "LLRBC-POMO", f"{upper}{name}", stand_ins, roots=(folder,))

    B, n, _ = base.instances.nodes.shape
    options = {
        **base.options,
        "sqrt_embedding_dim": base.options["embedding_dim"] ** 0.5,
        "eval_type": "argmax",
    }

    def model(parameters: dict[str, Tensor]) -> Any:
        made = getattr(part("Model"), f"{upper}Model")(**options)
        made.load_state_dict(parameters)
        return made

    env = getattr(part("Env"), f"{upper}Env")(problem_size=n, pomo_size=n, distribution="U")
    saved = {"problems": base.instances.nodes}
    if upper == "CVRP":
        fields = base.instances
        saved = {"depot_xy": fields.depot, "node_xy": fields.nodes, "node_demand": fields.demand}
    vars(env).update(FLAG__use_saved_problems=True, saved_index=0)
    vars(env).update({f"saved_{name}": value for name, value in saved.items()})
    trainer = object.__new__(getattr(part("Trainer"), f"{upper}Trainer_LiBOG"))
    learner, best = model(seeded(base, LEARNER)), model(seeded(base, BEST)).eval()
    names = [name for name, _ in learner.named_parameters()]
    vars(trainer).update(
        model=learner,
        bsf_model=best,
        env=env,
        optimizer=torch.optim.Adam(
            learner.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
        ),
        old_params_list=[[past(base)[0][name] for name in names]],
        fisher_matrix_list=[[past(base)[1][name] for name in names]],
        ewc_lambda=EWC,
        ITC_weight=INTRA,
        logger=SimpleNamespace(info=print),
    )
    torch.manual_seed(seed)
    _, total, ewc, intra = trainer._train_one_batch(B)
    gradients = {
        name: torch.zeros_like(value) if value.grad is None else value.grad
        for name, value in learner.named_parameters()
    }
    terms = {"ewc": ewc.item(), "intra": intra.item()}
    losses = {"policy": total - sum(terms.values()), **terms}
    step = Step(losses, renamed(base, gradients), renamed(base, learner.state_dict()))
    return step, env.selected_node_list


def our_step(
    base: Golden, actions: Tensor, folder: Path, patch: pytest.MonkeyPatch, variant: str
) -> Step:
    """Take the same step with our method."""
    options = {"weight": EWC, "intra_weight": INTRA, "variant": variant}
    n = base.problem.size(base.instances)
    config = attrs.evolve(
        tiny_config("libog", base.problem.name, (n, n), **options),
        learning_rate=LEARNING_RATE,
        weight_decay=WEIGHT_DECAY,
        solver_options=base.options,
    )
    run = exact_run(config, folder)
    learner, solver = run.learner, run.learner.solver
    solver.load_official(seeded(base, BEST))
    best = frozen_copy(solver.module)
    solver.load_official(seeded(base, LEARNER))
    kinds = ("parameters", "fisher")
    anchor = dict(zip(kinds, (renamed(base, each) for each in past(base)), strict=True))
    run.method = attrs.evolve(libog(**options), instances=lambda _: base.instances)
    learner.task = learner.epoch = 1
    of_best = {"exemplar": {"tensors": best}, "lowest": 0.0, "total": 0.0, "count": 0.0}
    run.method.load_state_dict(learner, {"anchors": {"past": [anchor]}, "best": of_best})
    forced = len(base.problem.starts(base.instances, n))
    chosen = iter(actions[..., forced:].unbind(dim=2))
    patch.setattr("lifelong_co.rollout.decoding.pick", lambda *_: next(chosen))
    found = train_batch(run)
    assert next(chosen, None) is None
    return Step(
        losses={name: float(found[name]) for name in ("policy", "ewc", "intra")},
        gradients={name: v.grad for name, v in solver.module.named_parameters()},
        parameters={name: v.detach() for name, v in solver.module.named_parameters()},
    )


def in_float64(call: Callable[[], Any]) -> Any:
    """Call with float64 wherever the official code has float32: by default, or explicitly."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.Tensor, "float", torch.Tensor.double)
            patch.setattr(torch, "float", torch.float64)
            return call()
    finally:
        torch.set_default_dtype(before)


def stored(problem: str) -> dict[str, np.ndarray]:
    """Read the golden numbers of a problem."""
    with np.load(FIXTURES / f"libog-{problem}-1.npz") as archive:
        return dict(archive)


def write(problem: str) -> None:
    """Write the golden numbers of a problem."""
    base = golden(problem)
    step, actions = in_float64(lambda: official_step(base))
    numbers = {**step.losses, **step.along(directions(base)), "actions": actions.to(torch.int8)}
    np.savez_compressed(FIXTURES / f"libog-{problem}-1.npz", **numbers)


if __name__ == "__main__":
    for each in ("cvrp", "tsp"):
        write(each)
