"""Two training steps of the official LLR-BC trainer, in double precision.

``python tests/official_trainer.py CHECKOUT tsp FILE`` drives ``_train_one_batch`` of
``TSPTrainer_LLRBC`` and writes what it did: the instances, the actions it sampled, and the numbers
of `Step`. The first step has an empty buffer and is recorded. The second one replays all that the
first one has recorded. Parameters are those of `goldens.weights`. tests/fixtures/official-step-*
are such files, so that the tests need no official code.
"""

import copy
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import torch
from goldens import weights
from torch import Tensor

SEED = 7
NODES, INSTANCES = 6, 4
MODEL = {
    "embedding_dim": 16,
    "head_num": 4,
    "qkv_dim": 4,
    "encoder_layer_num": 2,
    "ff_hidden_dim": 32,
}
ALPHA = 100.0
FIELDS = {"problems": "nodes", "depot_xy": "depot", "node_xy": "nodes", "node_demand": "demand"}
"""The official names of an instance's tensors, and ours."""


@attrs.frozen
class Step:
    """The numbers of one training step; long tensors are given by two projections each."""

    instances: dict[str, list[Any]]
    actions: list[Any]
    policy: float
    """``L_DRL``."""
    consolidation: float
    """``alpha L_BC``; 0 with an empty buffer."""
    gradients: dict[str, list[float]]
    """Official name of a parameter to the projections of its gradient; without those of None."""
    parameters: dict[str, list[float]]
    """After the step of Adam."""


def projections(tensor: Tensor) -> list[float]:
    """Return the products with two vectors of normal numbers, the same for each length."""
    flat = tensor.detach().double().cpu().numpy().reshape(-1)
    return [
        float(x) for x in np.random.default_rng(len(flat)).standard_normal((2, len(flat))) @ flat
    ]


def projected(named: Iterable[tuple[str, Tensor | None]]) -> dict[str, list[float]]:
    """Return the projections of those tensors that are not None."""
    return {name: projections(tensor) for name, tensor in named if tensor is not None}


def steps(checkout: Path, problem: str) -> dict[str, Any]:
    """Return the two steps and the projections of the behaviors recorded by the first one."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    from official import MODEL as OFFICIAL_MODEL
    from official import Official

    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double  # type: ignore[method-assign]  # its loss casts
    torch.manual_seed(SEED)
    OFFICIAL_MODEL.update(MODEL, sqrt_embedding_dim=MODEL["embedding_dim"] ** 0.5)
    trainer = Official(checkout, problem).trainer(NODES, alpha=ALPHA)
    shapes = {name: list(value.shape) for name, value in trainer.model.state_dict().items()}
    trainer.model.load_state_dict(weights(SEED, shapes))
    taken = first_actions(trainer.env)
    first = step(trainer, taken, record=True)
    recorded = [projections(each["probs"]) for each in trainer.updating_experience_buffer.buffer]
    trainer.old_experience_buffer = copy.deepcopy(trainer.updating_experience_buffer)
    second = step(trainer, taken, record=False)
    return {
        "shapes": shapes,
        "recorded": recorded,
        "steps": [attrs.asdict(first), attrs.asdict(second)],
    }


def first_actions(environment: Any) -> list[Tensor]:
    """Return a list to which the environment appends each action taken."""
    taken: list[Tensor] = []
    original = environment.step

    def noted(selected: Tensor) -> Any:
        taken.append(selected.clone())
        return original(selected)

    environment.step = noted
    return taken


def step(trainer: Any, taken: list[Tensor], *, record: bool) -> Step:
    """Take one step of the official trainer."""
    taken.clear()
    _, _, (policy, consolidation) = trainer._train_one_batch(INSTANCES, record)
    instances: Mapping[str, Tensor] = vars(trainer.env.reset()[0])
    return Step(
        instances={FIELDS[name]: x.tolist() for name, x in instances.items() if name in FIELDS},
        actions=torch.stack(taken, dim=2).tolist(),
        policy=policy,
        consolidation=consolidation,
        gradients=projected((name, x.grad) for name, x in trainer.model.named_parameters()),
        parameters=projected(trainer.model.named_parameters()),
    )


if __name__ == "__main__":
    path = Path(sys.argv[3])
    path.write_text(json.dumps(steps(Path(sys.argv[1]), sys.argv[2])) + "\n")
