"""Outputs of the official networks in float64 (tests/fixtures), and our solver with their weights.

The weights are not stored. They are rebuilt from a seed: see `weights`.
"""

import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import torch
from torch import Tensor

import lifelong_co as lco

FIXTURES = Path(__file__).parent / "fixtures"
PROBLEMS = ("cvrp", "tsp")
OPTIONS = (
    "embedding_dim",
    "head_num",
    "qkv_dim",
    "encoder_layer_num",
    "ff_hidden_dim",
    "logit_clipping",
)


@attrs.frozen(eq=False)
class Golden:
    """One stored greedy rollout."""

    name: str
    """The solver's."""
    problem: Any
    options: dict[str, Any]
    instances: Any
    """``B`` instances, float64."""
    weights: dict[str, Tensor]
    """By the official names."""
    actions: Tensor
    """Greedy, long ``[B, S, T]``."""
    probs: Tensor
    """``[B, S, T', A]``, of every step that is not forced."""
    cost: Tensor
    """``[B, S]``."""

    @property
    def forced(self) -> int:
        """The number of forced first actions."""
        return self.actions.shape[2] - self.probs.shape[2]

    def solver(self, dtype: torch.dtype = torch.float64) -> Any:
        """Return a fresh solver with the weights, through the public interface only."""
        return self._of(self.name, dtype)

    def official(self) -> Any:
        """Return the official class with the weights, in float64."""
        return self._of(f"official-{self.name}", torch.float64)

    def _of(self, name: str, dtype: torch.dtype) -> Any:
        solver = lco.solver(name, problem=self.problem.name, **self.options)
        solver.module.to(dtype)
        solver.load_official(self.weights)
        return solver


def golden(problem: str, name: str = "pomo", norm: str = "") -> Golden:
    """Read the golden of a solver for ``tsp`` or ``cvrp``, and of a norm where it has several."""
    file = "-".join(part for part in (name, problem, norm, "1") if part)
    with np.load(FIXTURES / f"{file}.npz") as archive:
        stored = {key: archive[key] for key in archive.files}
    config = json.loads(str(stored["config"]))
    fields = [key for key in ("depot", "nodes", "demand") if key in stored]
    made = lco.problem(problem)
    return Golden(
        name=name,
        problem=made,
        options={key: config[key] for key in OPTIONS} | ({"norm": norm} if norm else {}),
        instances=made.instances(**{key: torch.from_numpy(stored[key]) for key in fields}),
        weights=weights(config["seed"], json.loads(str(stored["shapes"]))),
        actions=torch.from_numpy(stored["actions"]),
        probs=torch.from_numpy(stored["probs"]),
        cost=torch.from_numpy(stored["cost"]),
    )


@attrs.frozen(eq=False)
class InvitGolden:
    """The stored greedy rollout of INViT, one trajectory an instance."""

    problem: Any
    options: dict[str, Any]
    instances: Any
    """``B`` instances, float64."""
    weights: dict[str, Tensor]
    """By the official names."""
    actions: Tensor
    """Long ``[B, T]``; the CVRP's first is a customer and its last may be one."""
    probs: Tensor
    """``[B, T', slots]`` of every step that is not forced, over the candidates and the depot."""
    log_prob: Tensor
    """``[B]``."""
    cost: Tensor
    """``[B]``."""

    def solver(self, dtype: torch.dtype = torch.float64) -> Any:
        """Return a fresh solver with the weights, through the public interface only."""
        solver = lco.solver("invit", problem=self.problem.name, **self.options)
        solver.module.to(dtype)
        solver.load_official(self.weights)
        return solver


def invit_golden(problem: str) -> InvitGolden:
    """Read the golden of INViT for ``tsp`` or ``cvrp``."""
    with np.load(FIXTURES / f"invit-{problem}-1.npz") as archive:
        stored = {key: archive[key] for key in archive.files}
    config = json.loads(str(stored["config"]))
    made = lco.problem(problem)
    fields = {"nodes": torch.from_numpy(stored["nodes"])}
    if problem == "cvrp":
        fields["depot"] = torch.from_numpy(stored["depot"])[:, None]
        fields["demand"] = torch.from_numpy(stored["demand"] / stored["capacity"])
    options = {key: value for key, value in config.items() if key not in ("problem", "seed")}
    return InvitGolden(
        problem=made,
        options={**options, "strict_capacity": True},
        instances=made.instances(**fields),
        weights=weights(config["seed"], json.loads(str(stored["shapes"]))),
        # The official CVRP calls the depot -1.
        actions=torch.from_numpy(stored["tours"]) + (problem == "cvrp"),
        probs=torch.from_numpy(stored["probs"]),
        log_prob=torch.from_numpy(stored["log_prob"]),
        cost=torch.from_numpy(stored["cost"]),
    )


def weights(seed: int, shapes: dict[str, list[int]]) -> dict[str, Tensor]:
    """Rebuild a network's weights from the seed with which the goldens were made.

    For each key in sorted order: 0.1 times normal numbers, plus 1 for the weights of
    normalisations.
    """
    rng = np.random.default_rng(seed)
    rebuilt = {}
    for key in sorted(shapes):
        value = 0.1 * rng.standard_normal(shapes[key])
        if key.endswith("weight") and len(shapes[key]) == 1:
            value = value + 1
        rebuilt[key] = torch.from_numpy(value)
    return rebuilt
