"""What methods reach on the paper's instances of TSPLIB and CVRPLIB, beside rules and PyVRP.

    python benchmarks/libraries.py [--official CHECKOUT] [--runs runs/libraries] [--workers 2]

The solvers are those of libraries.toml; runs that are not in the folder of runs are done first.
They solve the instances as ``lifelong-co benchmark --paper`` does. Costs are in the distances of
the files. Beside them stand the nearest-neighbor rule from every start, random insertion (the best
of `ORDERS` orders), and PyVRP alone for some seconds, whose result depends on the speed of the
machine. Each cost is stored in results/libraries.csv when it is found; the same command goes on.
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

import attrs
import official
import random_insertion
import tidy
from lifelong_co_cli.system import stop_on_signal
from study import HERE

from lifelong_co.errors import Interrupted
from lifelong_co.experiments.benchmark.answer import nearest
from lifelong_co.experiments.benchmark.conduct import Entrant, How, solve
from lifelong_co.experiments.benchmark.folder import read_folder
from lifelong_co.experiments.benchmark.improve import improved
from lifelong_co.experiments.sweep.conduct import conduct, locked
from lifelong_co.experiments.sweep.engines import LocalEngine
from lifelong_co.experiments.sweep.grid import read_grids
from lifelong_co.experiments.sweep.plan import Plan, make_plan
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.solutions import check
from lifelong_co.runs.trained_solver import fingerprint, load_solver
from lifelong_co.storage.files import write_whole

STUDY, STORED = HERE / "libraries.toml", HERE / "results" / "libraries.csv"
LIBRARIES = {"tsplib": ("tsp", "TSP/tsplib"), "cvrplib": ("cvrp", "CVRP/cvrplib-Set-X")}
"""Library to problem, and the folder of its files in the checkout of LLR-BC."""
RULES = ("nearest neighbor", "random insertion")
ORDERS = 100
COLUMNS = (
    *("library", "instance", "n", "best_known", "solver", "cost"),
    *("length", "version", "commit", "configuration"),
)
"""``length`` is not rounded. ``version`` is a hash of the solver's parameters, or that of PyVRP; a
line with another one is solved again. ``commit`` and ``configuration`` are those of the run."""

Line = dict[str, str]
Stored = dict[tuple[str, str, str], Line]
"""By library, instance and solver."""


@attrs.frozen(eq=False)
class Contest:
    """The instances of a library and the solvers."""

    library: str
    instances: list[FileInstance]
    entrants: list[tuple[Entrant, Mapping[str, str]]]
    """With what made their runs."""
    seconds: float
    """For PyVRP."""

    def lines(self, stored: Stored) -> Iterator[Line]:
        """Yield the lines of each instance in turn; those that are stored are not solved again."""
        for instance in self.instances:
            for entrant, made in self.entrants:
                known = stored.get((self.library, instance.name, entrant.label), {})
                same = known.get("version") == entrant.weights
                yield known if same else self.learned(instance, entrant, made)
            for name, version in self.others():
                known = stored.get((self.library, instance.name, name), {})
                same = known.get("version") == version
                yield known if same else self.other(instance, name, version)

    def others(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the version of each rule and of PyVRP."""
        yield from ((rule, "") for rule in RULES)
        yield f"PyVRP, {self.seconds:g} s", metadata.version("pyvrp")

    def learned(self, instance: FileInstance, entrant: Entrant, made: Mapping[str, str]) -> Line:
        """Return the line of a solver."""
        (one,) = solve([instance], entrant, How(as_paper=True))
        return self.line(
            instance, entrant.label, one.cost, length=one.length, version=one.weights, **made
        )

    def other(self, instance: FileInstance, name: str, version: str) -> Line:
        """Return the line of a rule or of PyVRP."""
        if name == RULES[0]:
            least, _ = nearest(instance, self.entrants[0][0].solver.problem)
            return self.line(instance, name, least)
        if name == RULES[1]:
            return self.line(instance, name, random_insertion.best_of(instance, ORDERS))
        found = improved(instance, self.seconds)
        if found is None:
            raise SystemExit(f"{instance.name}: PyVRP finds no solution in {self.seconds:g} s")
        return self.line(instance, name, check(instance, found).cost, version=version)

    def line(self, instance: FileInstance, solver: str, cost: float, **made: object) -> Line:
        """Return a line; what is not given is empty."""
        head = (self.library, instance.name, instance.size, instance.best_known, solver, cost)
        named = dict(zip(COLUMNS, head, strict=False)) | made
        return {column: str(named.get(column, "")) for column in COLUMNS}


def entrants(plan: Plan, problem: str) -> Iterator[tuple[Entrant, Mapping[str, str]]]:
    """Yield the solver of each row of the problem's table, with what made its run."""
    for block in plan.blocks:
        if block.problem == problem:
            for row in block.rows:
                ((_, _, name),) = row.cells
                folder = plan.jobs[name].folder
                solver = load_solver(folder)
                entrant = Entrant(row.label, solver, fingerprint(folder, solver))
                made = tidy.made(folder)
                yield entrant, {name: made[name] for name in ("commit", "configuration")}


def learn(plan: Plan, workers: int) -> None:
    """Do the runs that are missing."""
    with locked(plan.folder) as lock, stop_on_signal() as stop:
        if conduct(plan, LocalEngine(workers, [], lock), stop=stop, log=print):
            raise SystemExit("not all runs are complete")


def read() -> Stored:
    """Return the stored lines."""
    if not STORED.exists():
        return {}
    with STORED.open(encoding="utf-8", newline="") as stream:
        return {key(line): line for line in csv.DictReader(stream)}


def write(lines: Iterable[Line]) -> None:
    """Store lines."""
    write_whole(STORED, tidy.as_csv(lines, COLUMNS))


def key(line: Line) -> tuple[str, str, str]:
    """Return the place of a line."""
    return line["library"], line["instance"], line["solver"]


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--official", type=Path, help="checkout of github.com/PeiJY/LLR-BC")
    parser.add_argument("--runs", type=Path, default=Path("runs/libraries"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="for PyVRP")
    given = parser.parse_args()
    checkout = official.find(given.official)
    if checkout is None:
        raise SystemExit("the instances are missing: `lifelong-co upstream fetch LLR-BC`")
    plan = make_plan(read_grids(STUDY), given.runs)
    try:
        learn(plan, given.workers)
    except Interrupted:
        print("interrupted; the same command goes on")
        return 130
    stored, wanted = read(), set()
    for library, (problem, folder) in LIBRARIES.items():
        found = read_folder(library, checkout / folder, paper=True)
        contest = Contest(library, found.instances, list(entrants(plan, problem)), given.seconds)
        for line in contest.lines(stored):
            wanted.add(key(line))
            if stored.get(key(line)) != line:
                stored[key(line)] = line
                write(stored.values())
                print(f"{line['instance']}: {line['solver']}: {line['cost']}", flush=True)
    write(line for place, line in stored.items() if place in wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
