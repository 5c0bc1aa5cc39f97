"""Hypothesis strategies for instances from files, their solutions and their text."""

import numpy as np
from hypothesis import strategies as st

from lifelong_co.instance_files.file_instance import FileInstance

WHOLE = st.integers(-10_000, 10_000).map(float)
FRACTIONAL = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def file_instances(draw: st.DrawFn, problem: str | None = None) -> FileInstance:
    """Draw instances of 2 to 12 nodes or customers, with whole or fractional coordinates."""
    kind = problem or draw(st.sampled_from(("tsp", "cvrp")))
    size = draw(st.integers(2, 12))
    count = size + (kind == "cvrp")
    number = draw(st.sampled_from((WHOLE, FRACTIONAL)))
    pairs = st.lists(st.tuples(number, number), min_size=count, max_size=count)
    demand, capacity = None, None
    if kind == "cvrp":
        capacity = draw(st.integers(1, 200_000))
        load = st.integers(0, capacity)
        demand = np.array(draw(st.lists(load, min_size=size, max_size=size)), dtype=np.int64)
    return FileInstance(
        name="drawn",
        problem=kind,
        coordinates=np.array(draw(pairs)),
        demand=demand,
        capacity=capacity,
        distance_rule=draw(st.sampled_from(("EUC_2D", "CEIL_2D"))),
    )


@st.composite
def solved(draw: st.DrawFn, problem: str | None = None) -> tuple[FileInstance, list[int]]:
    """Draw instances with feasible actions; CVRP routes may wait at the depot, as in rollouts."""
    instance = draw(file_instances(problem))
    nodes = draw(st.permutations(range(instance.size)))
    if instance.demand is None or instance.capacity is None:
        return instance, nodes
    actions, load = [0], 0
    for node in nodes:
        demand = int(instance.demand[node])
        if load + demand > instance.capacity or draw(st.booleans()):
            actions, load = [*actions, 0], 0
        actions, load = [*actions, node + 1], load + demand
    return instance, [*actions, *[0] * draw(st.integers(1, 3))]


@st.composite
def file_texts(draw: st.DrawFn, instance: FileInstance) -> str:
    """Write the instance as a TSPLIB file: rows in any order, any spacing, any line ends."""
    separator = draw(st.sampled_from((" : ", ": ", ":", " :\t")))
    gap = draw(st.sampled_from((" ", "\t", "   ")))
    numbers = draw(st.permutations(range(len(instance.coordinates))))
    header = {
        "NAME": instance.name,
        "TYPE": instance.problem.upper(),
        "DIMENSION": len(numbers),
        "EDGE_WEIGHT_TYPE": instance.distance_rule,
    }
    rows = [[i + 1, *map(repr, instance.coordinates[i].tolist())] for i in numbers]
    body = ["NODE_COORD_SECTION", *(gap.join(map(str, row)) for row in rows)]
    if instance.demand is not None:
        header["CAPACITY"] = instance.capacity
        demand = [0, *instance.demand.tolist()]
        body += ["DEMAND_SECTION", *(f"{i + 1}{gap}{demand[i]}" for i in numbers)]
        body += ["DEPOT_SECTION", "1", "-1"]
    lines = [f"{key}{separator}{value}" for key, value in header.items()] + body
    lines += draw(st.sampled_from(([""], ["EOF"], ["EOF", ""])))
    return draw(st.sampled_from(("\n", "\r\n"))).join(lines)
