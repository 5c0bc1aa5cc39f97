"""Solutions in the units of a file: checking them, and writing and reading ``.sol`` and ``.tour``.

Nothing here uses `lifelong_co.problems`: the check is independent, so it finds errors there.
"""

import os
import re
from collections.abc import Iterator

import attrs
import numpy as np
import numpy.typing as npt
from vrplib.parse import parse_solution

from lifelong_co.instance_files.file_instance import (
    Actions,
    FileInstance,
    InvalidSolutionError,
    cost,
    legs,
    visits,
)
from lifelong_co.instance_files.vrplib_parser import COST, read_text, refuse, scan
from lifelong_co.storage.files import write_new

# Other programs write "route 1: …" or "#1: …", and a line with the number of routes.
_ROUTE = re.compile(r"^ *(?:route *#?|#) *(\d+) *:", re.IGNORECASE | re.MULTILINE)
_COUNT = re.compile(r"^ *(?:number of )?routes\b", re.IGNORECASE | re.MULTILINE)
_NUMBERS = re.compile(r"^(?:[^:\n]*:)? *\d+(?: +\d+)+ *$", re.MULTILINE)
# LKH and the published optimal tours state the length in a comment, e.g. "Length = 2579".
_LENGTH = re.compile(rf"(?:length|cost)\s*[:=]?\s*{COST}", re.IGNORECASE)


@attrs.frozen
class Report:
    """The cost, routes and loads of a feasible solution."""

    cost: float
    """In the unit of the file; an integer if its distances are rounded."""
    routes: list[list[int]]
    """The customers (1 … n) of each route; without a depot a single tour over 0 … n - 1."""
    loads: list[int]
    """The total demand of each route; empty without a depot."""


@attrs.frozen(eq=False)
class Solution:
    """The content of a solution file."""

    actions: npt.NDArray[np.int64]
    """``[T]``; empty if the file has none. CVRP: the depot (0) at both ends and between routes."""
    cost: float | None
    """The cost that the file states; None if it states none."""


def routes(actions: Actions) -> list[list[int]]:
    """Return the customers of each CVRP route, without empty routes; depot visits separate them."""
    split: list[list[int]] = [[]]
    for action in np.asarray(actions).tolist():
        if action:
            split[-1].append(int(action))
        elif split[-1]:
            split.append([])
    return split if split[-1] else split[:-1]


def check(file_instance: FileInstance, actions: Actions) -> Report:
    """Check that ``actions [T]`` solve the instance, and return their cost, routes and loads.

    Loads are sums of the file's integers, so the check has no rounding.

    Raises
    ------
    InvalidSolutionError
        If a node is missing or visited twice, a route exceeds the capacity or breaks another rule
        of the file, or the solution does not start and end at the depot.
    """
    sequence = visits(file_instance, actions)
    first = 0 if file_instance.demand is None else 1
    counts = np.bincount(sequence, minlength=len(file_instance.coordinates))
    wrong = np.flatnonzero(counts[first:] != 1) + first
    if wrong.size:
        node, times = wrong[0], counts[wrong[0]]
        more = f" (and {wrong.size - 1} more such nodes)" if wrong.size > 1 else ""
        raise InvalidSolutionError(
            f"{file_instance.name}: expected every node once, got node {node} {times} times{more}"
        )
    if file_instance.demand is None or file_instance.capacity is None:
        return Report(cost(file_instance, sequence), [sequence.tolist()], [])
    if sequence[0] != 0 or sequence[-1] != 0:
        raise InvalidSolutionError(
            f"{file_instance.name}: expected to start and end at the depot 0, "
            f"got {sequence[0]} and {sequence[-1]}"
        )
    split = routes(sequence)
    loads = [sum(int(file_instance.demand[i - 1]) for i in route) for route in split]
    for number, (route, load) in enumerate(zip(split, loads, strict=True), start=1):
        if load > file_instance.capacity:
            raise InvalidSolutionError(
                f"{file_instance.name}: expected at most the capacity "
                f"{file_instance.capacity} on every route, got {load} on route #{number}"
            )
        fault = broken_rule(file_instance, route)
        if fault:
            raise InvalidSolutionError(f"{file_instance.name}: route #{number}: {fault}")
    return Report(cost(file_instance, sequence), split, loads)


def broken_rule(file_instance: FileInstance, route: list[int]) -> str:
    """Return why the customers of a route break a rule of the file; empty if they do not."""
    if file_instance.rules is None:
        return ""
    stops = np.array([0, *route], dtype=np.int64)
    return file_instance.rules.fault(route, legs(file_instance, stops).tolist())


def write_solution(
    path: str | os.PathLike[str],
    file_instance: FileInstance,
    actions: Actions,
    cost: float,
    *,
    overwrite: bool = False,
) -> None:
    """Write a CVRPLIB ``.sol`` or TSPLIB ``.tour`` file, completely or not at all.

    As in CVRPLIB, customer ``k`` of a ``.sol`` file is node ``k + 1`` of the ``.vrp`` file, whose
    node 1 is the depot. A ``.tour`` file has the node numbers of the ``.tsp`` file.

    Parameters
    ----------
    path
        The file. The problem decides its format, not its name.
    file_instance, actions
        The instance and its solution ``[T]``, which is checked first.
    cost
        The cost of the actions, in file units.
    overwrite
        Whether to replace a file that already exists.

    Raises
    ------
    InvalidSolutionError
        If the actions do not solve the instance, or have another cost.
    ConfigError
        If the file exists and ``overwrite`` is false, or it cannot be written.
    """
    report = check(file_instance, actions)
    if cost != report.cost:
        raise InvalidSolutionError(
            f"{file_instance.name}: expected the cost {report.cost} of the actions, got {cost}"
        )
    lines = _sol(report) if report.loads else _tour(file_instance.name, report)
    write_new(path, "\n".join(lines) + "\n", overwrite=overwrite)


def _sol(report: Report) -> Iterator[str]:
    for number, route in enumerate(report.routes, start=1):
        yield f"Route #{number}: {' '.join(map(str, route))}"
    yield f"Cost {report.cost:.12g}"


def _tour(name: str, report: Report) -> Iterator[str]:
    yield f"NAME : {name}.tour"
    yield f"COMMENT : Length = {report.cost:.12g}"
    yield "TYPE : TOUR"
    yield f"DIMENSION : {len(report.routes[0])}"
    yield "TOUR_SECTION"
    yield from (str(node + 1) for node in report.routes[0])
    yield from ("-1", "EOF")


def read_solution(path: str | os.PathLike[str]) -> Solution:
    """Read a CVRPLIB ``.sol`` or TSPLIB ``.tour`` file; the content decides which, not the name.

    Raises
    ------
    FileFormatError
        If the file cannot be read or has neither format.
    """
    text = read_text(path)
    return _read_tour(path, text) if "TOUR_SECTION" in text else _read_sol(path, text)


def _read_sol(path: str | os.PathLike[str], text: str) -> Solution:
    # vrplib knows a route by the word "Route" in its line, and splits it at single spaces only.
    lines = "\n".join(text.replace("\t", " ").splitlines())  # those of Windows end in \r
    text = _ROUTE.sub(r"Route #\1:", _COUNT.sub("Number", lines))
    try:
        parsed = parse_solution(text)
        found = [action for route in parsed["routes"] for action in (0, *route)]
        actions = np.array([*found, 0] if found else [], dtype=np.int64)
    except Exception as error:  # vrplib does not catch the errors of int() and indexing
        raise refuse(path, f"not in the CVRPLIB form of a solution ({error})") from error
    unknown = None if found else _NUMBERS.search(text)
    if unknown:  # else its cost would count without a check
        raise refuse(path, f"expected 'Route #1: …' for each route, got {unknown[0]!r:.60}")
    stated = parsed.get("cost")
    if stated is None and not parsed["routes"]:
        raise refuse(path, "expected 'Route #1: …' and 'Cost …', or a TOUR_SECTION; found neither")
    if isinstance(stated, str) or (stated is not None and not 0 <= stated < float("inf")):
        raise refuse(path, f"Cost: expected a number of at least 0, got {stated!r}")
    return Solution(actions, stated)


def _read_tour(path: str | os.PathLike[str], text: str) -> Solution:
    words = text.partition("TOUR_SECTION")[2].strip(" :").split()
    nodes = []
    for word in words:
        if word in ("-1", "EOF"):
            break
        # No file has nodes with more than ten digits, and ten digits still fit int64.
        if not word.isdecimal() or len(word) > 10 or int(word) == 0:
            raise refuse(path, f"TOUR_SECTION: expected node numbers from 1 on, got {word!r}")
        nodes.append(int(word) - 1)
    header = scan(path, text)
    if "DIMENSION" in header.values and header.whole("DIMENSION", least=1) != len(nodes):
        raise refuse(
            path,
            f"TOUR_SECTION: expected {header.values['DIMENSION']} nodes as DIMENSION says, "
            f"got {len(nodes)}",
        )
    stated = _LENGTH.search(header.comment)
    return Solution(np.array(nodes, dtype=np.int64), float(stated[1]) if stated else None)


def comparable(stated: float, rule: str) -> bool:
    """Return whether a cost without a solution can be of this rule.

    A fractional cost belongs to distances without rounding. With EXACT_2D it can be in either unit.
    """
    return rule == "UNROUNDED" or (rule != "EXACT_2D" and stated.is_integer())
