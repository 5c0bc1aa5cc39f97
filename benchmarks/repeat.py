"""Do stored runs repeat with today's code? The costs up to the second task, to the last bit.

    python benchmarks/repeat.py STUDY... [--workers 2] [--done FOLDER]

Of each study one run is repeated for each commit, problem, solver, method and objective: the one of
the lowest seed that one commit did on a CPU. It is repeated up to its first tests in the second
task. The results are in results/repeat.csv; a run that is there is not repeated again. ``--done``
names the folder of a sweep that did runs of the study again: all their tests are compared.
"""

import argparse
import csv
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import tidy
import torch
from study import HERE, Study, same

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

Test = tuple[str, int, str]
"""The task that is learned, its epoch, the task that is tested."""


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


def by_test(lines: Iterable[tidy.Line]) -> dict[Test, float]:
    """Return the costs of a run's lines."""
    return {
        (line["learning"], int(line["epoch"]), line["tested"]): float(line["cost"])
        for line in lines
    }


def compared(study: Study, name: str) -> dict[str, object]:
    """Return the row of a run that is repeated now, up to its second task."""
    lines, config = study.lines()[name], study.plan.jobs[name].config
    labels = [task.label for task in config.tasks]
    second = [int(line["epoch"]) for line in lines if line["learning"] in labels[1:2]]
    epoch = min(second, default=1)
    again = {
        (labels[cost.learning - 1], cost.epoch, cost.name): cost.cost
        for cost in repeated(config, epoch)
        if (cost.learning, cost.epoch) <= (2, epoch)
    }
    return row(study, lines, again, tidy.commit(provenance.present("cpu")))


def whole(study: Study, folder: Path) -> Iterator[dict[str, object]]:
    """Yield a row for each run of the study that another commit did again in a sweep."""
    stored, jobs = study.lines(), attrs.evolve(study, runs=folder).plan.jobs
    for name, lines in stored.items():
        if jobs[name].finished:
            again = tidy.lines(jobs[name].folder)
            if same(again, jobs[name]) and again[0]["commit"] != lines[0]["commit"]:
                yield row(study, lines, by_test(again), again[0]["commit"])


def row(
    study: Study, lines: list[tidy.Line], again: Mapping[Test, float], today: str
) -> dict[str, object]:
    """Compare a run's new costs with its stored lines."""
    stored = by_test(lines)
    differences = [cost / stored[test] - 1 for test, cost in again.items()]
    return {
        "study": study.file.stem,
        "run": lines[0]["run"],
        "commit": lines[0]["commit"],
        **{column: lines[0][column] for column in KIND},
        "today": today,
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


def keep(found: dict[str, object]) -> None:
    """Store a row in the place of the same run's former one."""
    run = (found["study"], found["run"])
    others = [old for old in read() if (old["study"], old["run"]) != run]
    write_whole(STORED, tidy.as_csv([*others, found], COLUMNS))
    print(f"{found['run']}: {found['equal']} of {found['tests']} tests equal", flush=True)


def main() -> None:
    """Repeat what is not stored, and store each result as it comes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--done", type=Path, help="folder of a sweep, e.g. runs/libraries")
    given = parser.parse_args()
    studies = [*map(Study.named, given.studies)]
    if given.done:
        again = [found for study in studies for found in whole(study, given.done)]
        for found in again:
            keep(found)
        if not again:
            raise SystemExit(f"{given.done}: no finished run of another commit is in these studies")
    done = {(old["study"], old["run"], old["commit"]) for old in read()}
    left = [
        (study, name)
        for study in studies
        for name in chosen(study)
        if (study.file.stem, name, study.lines()[name][0]["commit"]) not in done
    ]
    print(f"{len(left)} runs to repeat", flush=True)
    with ProcessPoolExecutor(given.workers) as pool:
        for each in as_completed(pool.submit(compared, study, name) for study, name in left):
            if error := each.exception():  # the others go on
                print(f"not repeated: {error!r}", flush=True)
            else:
                keep(each.result())


if __name__ == "__main__":
    main()
