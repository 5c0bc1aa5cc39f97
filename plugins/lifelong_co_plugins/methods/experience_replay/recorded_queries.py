"""Queries that are replayed as they were recorded, as in the official code of the TSP.

A decoder's query is the sum of the queries of the nodes in some roles: the first and the last one
of a TSP, the last one of a CVRP. The official TSP code keeps the query of the first node with each
experience, detached, and replays it (LLR-BC at 9ae601f, ``TSPModel.py:38,42`` and
``TSPTrainer.py:1215``). So consolidation never trains the weight of that query, ``Wq_first``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from lifelong_co.protocols import Solver
from lifelong_co.tensors import records
from lifelong_co_plugins.methods.experience_replay.replayed import ReplayedBundle


@runtime_checkable
class RecordsQueries(Protocol):
    """A solver whose queries can be recorded and replaced; ours is POMO."""

    def queries(self, instances: Any) -> dict[str, Tensor]:
        """Return the queries ``[B, A, width]`` of all nodes in each role except the last node's."""

    def encode_with(self, instances: Any, queries: Mapping[str, Tensor]) -> Any:
        """Return ``encode(instances)`` with the given queries ``[B, A, width]`` of some roles."""


def recorded_queries(solver: Solver, instances: Any) -> dict[str, Tensor]:
    """Return the queries to record with a rollout on these instances, detached.

    They are empty if the solver has none: with a problem whose query is that of the last node, or
    with a solver that is not `RecordsQueries`. The instances are encoded once more.
    """
    if not isinstance(solver, RecordsQueries):
        return {}
    with torch.no_grad():
        return solver.queries(instances)


def encoded(solver: Solver, bundles: Sequence[ReplayedBundle]) -> Any:
    """Return the encoding of the instances of bundles, with the queries that were recorded."""
    instances = records.concatenate([bundle.instances for bundle in bundles])
    if not (bundles[0].steps[0].roles and isinstance(solver, RecordsQueries)):
        return solver.encode(instances)
    recorded = [bundle.steps[0].queries(bundle.rows) for bundle in bundles]
    queries = {role: torch.cat([each[role] for each in recorded]) for role in recorded[0]}
    return solver.encode_with(instances, queries)
