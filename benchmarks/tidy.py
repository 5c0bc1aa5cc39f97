"""A study's runs as one tidy CSV: a line for each test, with what made the run.

    python benchmarks/tidy.py RUN... > STUDY.csv

``commit`` is that of the code, with ``+`` if it was changed; ``configuration`` is the start of the
SHA-256 of the run's ``config.toml``; ``seconds`` are those of all training steps of the run. The
task ``learning`` has had ``epoch`` epochs when ``tested`` is tested; ``cost`` is read back to the
same bits.
"""

import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison.runs import FinishedRun, load_run
from lifelong_co.runs import provenance

MADE = ("commit", "lifelong_co", "torch", "configuration")
SAID = (
    *("problem", "solver", "preset", "order", "seed", "method", "options"),
    *("objective", "schedule", "learning_rate", "precision"),
)
TEST = ("learning", "epoch", "tested", "cost")
USUAL = Path(__file__).parent / "results" / "defaults.json"
"""Options that no line has. They do not follow a new default: then stored runs would change."""
COLUMNS = ("run", *MADE, *SAID, "seconds", *TEST)

Line = Mapping[str, str]


def said(config: Config) -> dict[str, str]:
    """Return what the columns `SAID` have for a run; options are those that are not `USUAL`."""
    usual = json.loads(USUAL.read_text(encoding="utf-8")).get(config.method, {})
    every = registry.all_options("method", config.method, config.method_options)
    options = {name: of for name, of in every.items() if name not in usual or usual[name] != of}
    each = {name: str(getattr(config, name)) for name in SAID if name != "options"}
    return {
        **each,
        "order": Path(config.order).name,
        "options": json.dumps(options, sort_keys=True),
    }


def commit(maker: provenance.Maker) -> str:
    """Return the start of a commit, with ``+`` if the code was changed."""
    return maker.commit[:12] + "+" * maker.changed


def made(folder: Path) -> dict[str, str]:
    """Return what the columns `MADE` have for a run; several makers are in order."""
    makers = [entry.maker for entry in provenance.read(folder)]
    each = {
        "commit": [commit(maker) for maker in makers],
        "lifelong_co": [maker.lifelong_co for maker in makers],
        "torch": [maker.torch for maker in makers],
    }
    found = {name: " ".join(dict.fromkeys(values)) for name, values in each.items()}
    digest = hashlib.sha256((folder / "config.toml").read_bytes()).hexdigest()[:12]
    return {**found, "configuration": digest}


def lines(folder: Path) -> list[Line]:
    """Return the lines of a finished run, in the order of its tests."""
    run = load_run(folder)
    seconds = "" if run.seconds is None else str(round(run.seconds))
    head = {"run": folder.name, **made(folder), **said(run.config), "seconds": seconds}
    return [
        {
            **head,
            "learning": run.names[learning - 1],
            "epoch": str(epoch),
            "tested": run.names[tested - 1],
            "cost": repr(cost),
        }
        for (learning, epoch), costs in sorted(run.tests.items())
        for tested, cost in sorted(costs.items())
    ]


def as_csv(found: Iterable[Mapping[str, object]], columns: Sequence[str] = COLUMNS) -> str:
    """Return the text of a CSV, by default that of a study."""
    text = io.StringIO()
    write = csv.DictWriter(text, columns, lineterminator="\n")
    write.writeheader()
    write.writerows(found)
    return text.getvalue()


def read(file: Path) -> dict[str, list[Line]]:
    """Return the lines of each run of a CSV, by name; nothing if there is no file.

    Raises
    ------
    SystemExit
        If the columns are others.
    """
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        table = csv.DictReader(stream)
        if tuple(table.fieldnames or ()) != COLUMNS:
            raise SystemExit(f"{file}: expected the columns {','.join(COLUMNS)}")
        found: dict[str, list[Line]] = {}
        for line in table:
            found.setdefault(line["run"], []).append(line)
    return found


def as_run(found: list[Line], config: Config) -> FinishedRun:
    """Return a run made of its lines and its configuration.

    A torch for CUDA made it on a GPU: on a CPU all stored runs have a torch for CPUs.
    """
    number = {task.label: i for i, task in enumerate(config.tasks, start=1)}
    tests: dict[tuple[int, int], dict[int, float]] = {}
    for line in found:
        place = number[line["learning"]], int(line["epoch"])
        tests.setdefault(place, {})[number[line["tested"]]] = float(line["cost"])
    first = found[0]
    maker = f"lifelong-co {first['lifelong_co']} ({first['commit']}), torch {first['torch']}"
    seconds = float(first["seconds"]) if first["seconds"] else None
    config = attrs.evolve(config, device="cuda" if "+cu" in first["torch"] else "cpu")
    return FinishedRun(Path(first["run"]), tests, config, seconds, (maker,))


def main() -> None:
    """Print the table of the given run folders."""
    folders = map(Path, sys.argv[1:])
    print(as_csv(line for folder in folders for line in lines(folder)), end="")


if __name__ == "__main__":
    main()
