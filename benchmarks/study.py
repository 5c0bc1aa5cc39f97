"""A study: a file of grids (``benchmarks/NAME.toml``) and its runs (``results/NAME.csv``)."""

import importlib
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import attrs

sys.path.insert(0, str(Path(__file__).parent))
import tidy

from lifelong_co import registry
from lifelong_co.experiments.comparison.comparison import compare_runs
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.sweep.grid import read_grids
from lifelong_co.experiments.sweep.job import Job
from lifelong_co.experiments.sweep.plan import Plan, make_plan
from lifelong_co.experiments.sweep.table import Results, compared, results_of
from lifelong_co.storage.files import write_whole

HERE = Path(__file__).parent


@attrs.frozen(slots=False)
class Study:
    """A study."""

    file: Path
    stored: Path
    runs: Path
    """The folder of the sweep that does the missing runs."""
    device: str | None = None
    """Where the missing runs learn; None: where the file says."""

    @classmethod
    def named(cls, name: str) -> "Study":
        """Return the study of ``benchmarks/NAME.toml``."""
        return cls(HERE / f"{name}.toml", HERE / "results" / f"{name}.csv", Path("runs") / name)

    @cached_property
    def plan(self) -> Plan:
        """All runs and tables, to read; official code need not be there."""
        return make_plan(read_grids(self.file), self.runs, check=False)

    def lines(self) -> dict[str, list[tidy.Line]]:
        """Return the stored lines of each run that is in the plan as it is stored."""
        found = tidy.read(self.stored)
        return {
            name: found[name] for name, job in self.plan.jobs.items() if same(found.get(name), job)
        }

    def results(self) -> Results:
        """Return the stored runs with their comparisons."""
        jobs, stored = self.plan.jobs, self.lines()
        if {job.config.method for job in jobs.values()} - {*registry.names("method")}:
            # The plugin of ideas.toml; its runs can be read where it is not installed.
            sys.path.append(str(HERE / "ideas"))
            registry.register_plugin(importlib.import_module("lifelong_co_ideas.plugin"))
        found = {name: tidy.as_run(lines, jobs[name].config) for name, lines in stored.items()}
        return of_networks(results_of(self.plan, found))

    def missing(self) -> Plan:
        """Return the plan with only the runs that are not stored: by tables, then by seeds.

        So a study that is interrupted has whole seeds, and rows that can be compared.
        """
        stored, jobs = self.lines(), {}
        grids = read_grids(self.file)
        if self.device:
            grids = [attrs.evolve(grid, device=self.device) for grid in grids]
        whole = make_plan(grids, self.runs)
        for block in whole.blocks:
            cells = (cell for row in block.rows for cell in row.cells)
            for _, _, name in sorted(cells, key=lambda cell: cell[1]):
                if name not in stored:
                    jobs.setdefault(name, whole.jobs[name])
        return attrs.evolve(whole, jobs=jobs)

    def store(self, folders: Iterable[Path]) -> None:
        """Add finished runs to the stored ones; runs that the plan does not have go."""
        found = self.lines()
        found |= {folder.name: tidy.lines(folder) for folder in folders}
        kept = (line for name in self.plan.jobs if name in found for line in found[name])
        self.stored.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.stored, tidy.as_csv(kept))


def of_networks(found: Results) -> Results:
    """Give an official class and ours one common ``d*``: they are the same network."""
    alike: dict[tuple[str, str], list[FinishedRun]] = {}
    for run in found.runs.values():
        solver, tested = compared(run.config)
        alike.setdefault((solver.removeprefix("official-"), tested), []).append(run)
    of_both = {
        key: compare_runs(runs)
        for key, runs in alike.items()
        if len({run.config.solver for run in runs}) > 1
    }
    own = {
        (solver, tested): of_both.get((solver.removeprefix("official-"), tested), comparison)
        for (solver, tested), comparison in found.comparisons.items()
    }
    return attrs.evolve(found, comparisons=own)


def same(lines: list[tidy.Line] | None, job: Job) -> bool:
    """Return whether stored lines are of a run as the plan wants it: settings, tasks and epochs.

    What else a task file says is not stored; whoever changes it deletes the lines of its runs.
    """
    if lines is None or not tidy.said(job.config).items() <= lines[0].items():
        return False
    last: dict[str, int] = {}
    for line in lines:
        last[line["learning"]] = max(last.get(line["learning"], 0), int(line["epoch"]))
    return last == {task.label: task.epochs for task in job.config.tasks}
