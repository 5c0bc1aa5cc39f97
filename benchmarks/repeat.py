"""Do stored runs repeat with today's code? The costs up to the second task, to the last bit.

    python benchmarks/repeat.py STUDY... [--workers 2]

Of each study one run is repeated for each commit, problem, solver, method and objective: the one of
the lowest seed that one commit did on a CPU. It is repeated up to its first tests in the second
task. The results are in results/repeat.csv; a run that is there is not repeated again.
"""

import argparse
import csv
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import tidy
import torch
from study import HERE, Study

from lifelong_co.config.run_config import Config
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs import provenance
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.storage.files import write_whole

STORED = HERE / "results" / "repeat.csv"
KIND = ("problem", "solver", "method", "objective")
COLUMNS = ("study", "run", "commit", *KIND, "today", "tests", "equal", "largest")
"""``tests`` is their number, ``equal`` how many have equal bits, ``largest`` the largest relative
difference of a cost."""


def chosen(study: Study) -> Iterator[str]:
    """Yield the names of the runs to repeat."""
    found: dict[tuple[str, ...], str] = {}
    lines = study.lines()
    for name in sorted(lines, key=lambda name: int(lines[name][0]["seed"])):
        first = lines[name][0]
        key = (first["commit"], *(first[column] for column in KIND))
        of_one = " " not in first["commit"] and "+cu" not in first["torch"]
        if of_one and key not in found:
            found[key] = name
    yield from found.values()


def repeated(config: Config, epoch: int) -> list[Cost]:
    """Return the costs of a run that ends after an epoch of its second task."""
    made: list[Run] = []

    def stop() -> bool:
        learner = made[0].learner
        return (learner.task, learner.epoch) >= (1, epoch)

    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        made.append(prepare(config, Path(folder) / "run"))
        with suppress(Interrupted):
            learn(made[0], stop=stop)
        return made[0].costs


def compared(study: Study, name: str) -> dict[str, object]:
    """Return the row of a run that is repeated now."""
    lines, config = study.lines()[name], study.plan.jobs[name].config
    labels = [task.label for task in config.tasks]
    stored = {(line["learning"], int(line["epoch"]), line["tested"]): line for line in lines}
    second = [int(line["epoch"]) for line in lines if line["learning"] in labels[1:2]]
    epoch = min(second, default=1)
    differences = [
        cost.cost / float(stored[labels[cost.learning - 1], cost.epoch, cost.name]["cost"]) - 1
        for cost in repeated(config, epoch)
        if (cost.learning, cost.epoch) <= (2, epoch)
    ]
    return {
        "study": study.file.stem,
        "run": name,
        "commit": lines[0]["commit"],
        **{column: lines[0][column] for column in KIND},
        "today": tidy.commit(provenance.present("cpu")),
        "tests": len(differences),
        "equal": differences.count(0.0),
        "largest": max(map(abs, differences)),
    }


def read() -> list[dict[str, str]]:
    """Return the stored rows."""
    if not STORED.exists():
        return []
    with STORED.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def main() -> None:
    """Repeat what is not stored, and store each result as it comes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    rows: list[dict[str, object]] = [{**row} for row in read()]
    done = {(row["study"], row["run"], row["commit"]) for row in rows}
    left = [
        (study, name)
        for study in map(Study.named, given.studies)
        for name in chosen(study)
        if (study.file.stem, name, study.lines()[name][0]["commit"]) not in done
    ]
    print(f"{len(left)} runs to repeat", flush=True)
    with ProcessPoolExecutor(given.workers) as pool:
        for each in as_completed(pool.submit(compared, study, name) for study, name in left):
            if error := each.exception():  # the others go on
                print(f"not repeated: {error!r}", flush=True)
                continue
            row = each.result()
            same = (row["study"], row["run"])
            rows = [old for old in rows if (old["study"], old["run"]) != same] + [row]
            write_whole(STORED, tidy.as_csv(rows, COLUMNS))
            print(f"{row['run']}: {row['equal']} of {row['tests']} tests equal", flush=True)


if __name__ == "__main__":
    main()
