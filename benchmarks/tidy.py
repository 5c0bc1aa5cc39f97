"""The costs of many finished runs in one tidy CSV, with what made each of them.

    python benchmarks/tidy.py RUN... > benchmarks/results/STUDY.csv

One line for each test after a task. A study is kept as such a file instead of its run folders:
``commit`` is that of the code, with ``+`` if it was changed; ``configuration`` is the start of the
SHA-256 of the run's ``config.toml``; ``seconds`` are those of all training steps of the run.
"""

import csv
import hashlib
import json
import sys
from pathlib import Path

from lifelong_co.experiments.comparison.runs import Run, load_run
from lifelong_co.runs import provenance

COLUMNS = (
    *("run", "commit", "configuration", "problem", "solver", "preset", "order", "seed", "method"),
    *("options", "objective", "schedule", "learning_rate", "seconds", "learned", "tested", "cost"),
)


def commits(folder: Path) -> str:
    """Return the commits that made a run, in order."""
    makers = [entry.maker for entry in provenance.read(folder)]
    return " ".join(dict.fromkeys(maker.commit[:12] + "+" * maker.changed for maker in makers))


def rows(folder: Path) -> list[list[object]]:
    """Return the lines of a run."""
    run: Run = load_run(folder)
    config = run.config
    digest = hashlib.sha256((folder / "config.toml").read_bytes()).hexdigest()[:12]
    made: list[object] = [folder.name, commits(folder), digest]
    said: list[object] = [
        *(config.problem, config.solver, config.preset, config.order, config.seed, config.method),
        json.dumps(config.method_options, sort_keys=True),
        *(config.objective, config.schedule, config.learning_rate),
        "" if run.seconds is None else round(run.seconds),
    ]
    return [
        [*made, *said, run.names[i], run.names[j], repr(cost)]
        for i, row in enumerate(run.rows)
        for j, cost in sorted(row.items())
    ]


def main() -> None:
    """Print the table."""
    write = csv.writer(sys.stdout, lineterminator="\n")
    write.writerow(COLUMNS)
    for name in sys.argv[1:]:
        write.writerows(rows(Path(name)))


if __name__ == "__main__":
    main()
