"""Instances from TSPLIB and CVRPLIB files: reading them."""

import os
import re
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from lifelong_co.instance_files.explicit_distances import weights, where_explicit
from lifelong_co.instance_files.file_instance import RULES, DistanceRule, FileInstance
from lifelong_co.instance_files.route_rules import with_limit, with_windows
from lifelong_co.instance_files.solutions import comparable
from lifelong_co.instance_files.vrplib_parser import (
    COST,
    Header,
    parse,
    read_text,
    refuse,
    scan,
    table,
    warn_of_cut,
)
from lifelong_co.storage.csv_cells import escaped

# "(Augerat et al, No of trucks: 5, Optimal value: 784)"; without the colon "optimal 3-opt" fits.
_BEST = re.compile(
    r"\b(?:optimal|optimum|best)(?:[ -]known)?(?:[ -](?:value|cost|solution|tour|length))?"
    rf"\s*[:=]\s*{COST}",
    re.IGNORECASE,
)


_PROBLEMS = {"TSP": "tsp", "ATSP": "atsp", "CVRP": "cvrp", "VRPTW": "mtvrp"}
"""TYPE to problem, for files without time windows and limits."""
_FORM = {"NAME", "TYPE", "COMMENT", "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT"}
_FORM |= {"EDGE_DATA_FORMAT", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE"}
"""The keywords of TSPLIB that are no constraint."""


def read_instance(path: str | os.PathLike[str], *, best_known: float | None = None) -> FileInstance:
    """Read a TSPLIB (TYPE TSP or ATSP) or CVRPLIB (TYPE CVRP or VRPTW) file.

    A file with a TIME_WINDOW_SECTION or with a limit on routes (DISTANCE) is an instance of
    ``mtvrp``.

    Parameters
    ----------
    path
        The file. Its TYPE decides the problem, not its name.
    best_known
        The least known cost; by default the optimal value in the file's COMMENT, if any.

    Raises
    ------
    FileFormatError
        If the file is missing, truncated or inconsistent, or needs something unsupported: other
        distance rules, EXPLICIT distances without symmetry or without coordinates (which networks
        need) except in TYPE ATSP, other distances in TYPE ATSP, backhauls, a depot that is not
        node 1.
    """
    text = read_text(path)
    header = scan(path, text)
    kind = header.value("TYPE").split()[0].upper()
    if kind == "VRPB" or "BACKHAUL" in header.ids:
        raise refuse(
            path,
            "backhauls are not supported: in files of TYPE VRPB no route has backhauls only, in"
            " other files their order is free, and in mtvrp neither holds",
        )
    if kind not in _PROBLEMS:
        raise refuse(path, f"TYPE: expected TSP, ATSP, CVRP or VRPTW, got {kind}")
    rule = header.value("EDGE_WEIGHT_TYPE").upper()
    if rule not in RULES:
        expected = f"{', '.join(RULES[:-1])} or {RULES[-1]}"
        raise refuse(path, f"EDGE_WEIGHT_TYPE: {rule} is not supported; expected {expected}")
    if kind == "ATSP" and rule != "EXPLICIT":
        raise refuse(path, f"EDGE_WEIGHT_TYPE: expected EXPLICIT with TYPE ATSP, got {rule}")
    _refuse_constraints(header, kind)
    tour = kind in ("TSP", "ATSP")
    section = where_explicit(header, kind) if rule == "EXPLICIT" else "NODE_COORD"
    count = header.whole("DIMENSION", least=2 if tour else 3)
    parsed = parse(header)
    coordinates = table(header, parsed, section, 2, count) if section else np.empty((count, 0))
    demand, capacity = (None, None) if tour else _load(header, parsed, count)
    instance = FileInstance(
        name=escaped(header.values.get("NAME") or Path(path).stem),
        problem="mtvrp" if "TIME_WINDOW" in header.ids or _limited(header) else _PROBLEMS[kind],
        coordinates=coordinates,
        demand=demand,
        capacity=capacity,
        distance_rule=cast(DistanceRule, rule),
        best_known=_stated_best(header.comment, rule) if best_known is None else best_known,
        weights=weights(header, count, symmetric=kind != "ATSP") if rule == "EXPLICIT" else None,
    )
    service = _service(header, parsed, count)
    warn_of_cut(path, text)
    if "TIME_WINDOW" in header.ids:
        bounds = table(header, parsed, "TIME_WINDOW", 2, count)
        return with_windows(path, instance, bounds, service)
    if instance.problem == "mtvrp":
        return with_limit(path, instance, header.whole("DISTANCE", least=1), service)
    return instance


def _service(header: Header, parsed: dict[str, Any], count: int) -> npt.NDArray[np.float64]:
    """Return the service times ``[A]``: from a section, or one for all customers, or 0."""
    if "SERVICE_TIME" in header.ids:
        return table(header, parsed, "SERVICE_TIME", 1, count)[:, 0]
    given = header.values.get("SERVICE_TIME")
    each = float(header.whole("SERVICE_TIME", least=0)) if given else 0.0
    return np.array([0.0, *[each] * (count - 1)])


def _refuse_constraints(header: Header, kind: str) -> None:
    """Refuse sections and keywords that are unknown: they may be constraints, e.g. fixed edges.

    A limit on vehicles is warned of, because many files state what their authors used.
    """
    if kind == "VRPTW" and "TIME_WINDOW" not in header.ids:
        raise refuse(header.path, "expected a TIME_WINDOW_SECTION, got none")
    routes, timed = kind in ("CVRP", "VRPTW"), "TIME_WINDOW" in header.ids
    times = {"SERVICE_TIME"} if timed or _limited(header) else set()
    known = {"NODE_COORD", "DISPLAY_DATA", "EDGE_WEIGHT"}
    known |= {"DEMAND", "DEPOT", "TIME_WINDOW"} | times if routes else set()
    names = [f"{name}_SECTION" for name in header.ids if name not in known]
    scalars = _FORM | ({"CAPACITY", "VEHICLES"} | times if routes else set())
    if routes and _limited(header):
        scalars |= {"DISTANCE"}
    elif not routes and header.values.get("VEHICLES") == "1":  # so in PyVRP's files; no other rule
        scalars |= {"VEHICLES"}
    names += [name for name in header.values if name not in scalars]
    if names:
        beside = " with a TIME_WINDOW_SECTION" if timed and names[0] == "DISTANCE" else ""
        raise refuse(header.path, f"{names[0]}: not supported for TYPE {kind}{beside}")
    if routes and "VEHICLES" in header.values:
        number = header.values["VEHICLES"]
        warnings.warn(
            f"{header.path}: VEHICLES {number}: a limit on vehicles is not kept", stacklevel=3
        )


def _limited(header: Header) -> bool:
    """Return whether a limit of length is the only rule of time, so that its meaning is clear."""
    return "DISTANCE" in header.values and "TIME_WINDOW" not in header.ids


def _load(header: Header, parsed: dict[str, Any], count: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return the customers' demand ``[n]`` and the capacity."""
    capacity = header.whole("CAPACITY", least=1)
    demand = table(header, parsed, "DEMAND", 1, count)[:, 0]
    bad = np.flatnonzero((demand != np.floor(demand)) | (demand < 0) | (demand > capacity))
    if bad.size:
        raise refuse(
            header.path,
            f"DEMAND_SECTION: expected whole numbers from 0 to the CAPACITY {capacity}, "
            f"got {demand[bad[0]]:.12g} at node {bad[0] + 1}",
        )
    depots = [name for name in header.ids.get("DEPOT", []) if name != "-1"]
    if depots != ["1"]:
        raise refuse(
            header.path,
            "DEPOT_SECTION: expected the one depot 1, as in every CVRPLIB file, "
            f"got {', '.join(depots) or 'none'}",
        )
    if demand[0] != 0:
        raise refuse(header.path, f"DEMAND_SECTION: expected 0 at the depot, got {demand[0]:.12g}")
    return demand[1:].astype(np.int64), capacity


def _stated_best(comment: str, rule: str) -> float | None:
    """Return the best cost in a COMMENT, or None if there is none for the file's rule."""
    found = _BEST.search(comment)
    return float(found[1]) if found and comparable(float(found[1]), rule) else None
