"""What PyVRP reaches from the shipped solver's solutions, and what it reaches alone.

    python benchmarks/improve.py FILE... [--seconds 10]

It solves each file as ``lifelong-co solve FILE --improve SECONDS --compare`` does, prints a line
for it, and writes all of them to ``benchmarks/results/improve.csv``. PyVRP's result depends on the
speed of the machine, so nothing else should run.
"""

import argparse
import csv
import io
from pathlib import Path

import attrs
import tidy
from lifelong_co_adapters import shipped

from lifelong_co.experiments.benchmark.answer import Answer, Effort, answer
from lifelong_co.experiments.benchmark.known import known_of
from lifelong_co.experiments.references.cache import FOLDER
from lifelong_co.instance_files.formats import read_file
from lifelong_co.runs import provenance
from lifelong_co.storage.files import write_whole

STORED = Path(__file__).parent / "results" / "improve.csv"
COLUMNS = (
    *("commit", "instance", "problem", "nodes", "best_known", "seconds"),
    *("solver", "nearest_neighbor", "from_solver", "alone"),
)


def solved(file: Path, seconds: float) -> Answer:
    """Return all solutions of a file."""
    instance = read_file(file)
    instance = attrs.evolve(instance, best_known=known_of(file, instance, FOLDER))
    found = shipped.load(instance.problem)
    effort = Effort(improve=seconds, compare=True)
    return answer(found.solver, instance, effort, label="shipped")


def line(found: Answer) -> tuple[object, ...]:
    """Return the values of `COLUMNS`."""
    made = provenance.present("cpu")
    one = found.instance
    return (
        *(tidy.commit(made), one.name, one.problem, one.size, one.best_known),
        *(found.effort.improve, found.found, found.nearest, found.cost, found.alone),
    )


def main() -> None:
    """Solve the files and store the costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for file in given.files:
        found = solved(file, given.seconds)
        writer.writerow(line(found))
        print("\n".join(found.lines()), flush=True)
    write_whole(STORED, text.getvalue())


if __name__ == "__main__":
    main()
