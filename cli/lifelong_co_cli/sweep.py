"""``lifelong-co sweep``: a grid of runs that ends in one table."""

import shlex
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from lifelong_co_cli import sweep_options as options
from lifelong_co_cli.options import TestsOf
from lifelong_co_cli.sweep_grid import asked
from lifelong_co_cli.system import cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lifelong_co.experiments.sweep.engines import Engine
    from lifelong_co.experiments.sweep.execution import Execution
    from lifelong_co.experiments.sweep.plan import Plan

ENGINES = ("local", "slurm", "submitit-local")


def sweep(
    file: options.File = None,
    methods: options.Methods = None,
    ablations: options.Ablations = None,
    weightings: options.Weightings = None,
    divergences: options.Divergences = None,
    objectives: options.Objectives = None,
    axis: options.Axis = None,
    problems: options.Problems = None,
    solvers: options.Solvers = None,
    preset: options.Preset = None,
    orders: options.Orders = None,
    tasks: options.Tasks = None,
    seeds: options.Seeds = None,
    tests_of: TestsOf = None,
    device: options.Device = None,
    out: options.Out = None,
    resume: options.Resume = None,
    workers: options.Workers = None,
    retries: options.Retries = None,
    dry_run: options.DryRun = False,
    engine: options.EngineName = None,
    engine_option: options.EngineOption = None,
) -> None:
    """Do a grid of runs, and print one table.

    Several runs take place at the same time. After an interruption the same
    command continues the sweep; finished runs are kept. Ctrl-C saves all runs
    and stops.
    """
    of_grid = {
        "methods": methods,
        "ablations": ablations,
        "weightings": weightings,
        "divergences": divergences,
        "objectives": objectives,
        "axis": axis,
        "problems": problems,
        "solvers": solvers,
        "preset": preset,
        "orders": orders,
        "tasks": tasks,
        "seeds": seeds,
        "tests_of": tests_of,
    }
    given = {name: value for name, value in of_grid.items() if value is not None}
    from lifelong_co.errors import UnknownNameError, naming
    from lifelong_co.experiments.sweep.conduct import locked, refuse_other_content
    from lifelong_co.experiments.sweep.execution import (
        Execution,
        read_execution,
        write_execution,
    )
    from lifelong_co.experiments.sweep.grid import grids_to_toml
    from lifelong_co.experiments.sweep.plan import make_plan
    from lifelong_co.storage.files import write_whole

    last = read_execution(resume) if resume else Execution()
    execution = last.changed(workers, retries, engine, engine_option)
    if execution.engine not in ENGINES:
        raise UnknownNameError("engine", execution.engine, ENGINES)
    folder, grids = asked(file, resume, out, given, device, execution.engine)
    refuse_other_content(folder)
    source = resume / "sweep.toml" if resume is not None else file
    with naming(source) if source is not None else nullcontext():
        plan = make_plan(grids, folder)
    digests: dict[str, str] = {}
    for job in plan.jobs.values():
        job.check(digests)

    def made(cluster: Path, lock: int | None) -> "Engine":
        return make_engine(execution, plan, cluster, grids[0].device, lock)

    with TemporaryDirectory() as trial:  # refuses wrong options before anything is written
        slots = made(Path(trial), None).slots
    if dry_run:
        describe(plan, slots, each=True)
        return
    with locked(folder) as lock:
        # So that --resume needs no other option.
        write_whole(folder / "sweep.toml", grids_to_toml(grids))
        write_execution(folder, execution)
        failed = carry_out(plan, made(folder / "cluster", lock), execution.retries)
    if failed:
        raise typer.Exit(1)


def room(device: str) -> int:
    """Return how many runs this machine can do at the same time."""
    if device == "cuda":
        import torch

        return max(1, torch.cuda.device_count())
    return cores()


def make_engine(
    execution: "Execution", plan: "Plan", cluster: Path, device: str, lock: int | None
) -> "Engine":
    """Return where the runs are carried out; ``cluster`` is the folder of submitit's files."""
    from lifelong_co.experiments.sweep.cluster import cluster_engine
    from lifelong_co.experiments.sweep.engines import LocalEngine, visible_gpus
    from lifelong_co_cli.options import assignments

    workers, pairs = execution.workers, list(execution.engine_options)
    if execution.engine == "local":
        if pairs:
            raise typer.BadParameter(
                "--engine-option: expected --engine slurm or submitit-local, got local"
            )
        gpus = visible_gpus(room(device)) if device == "cuda" else []
        return LocalEngine(workers or room(device), gpus, lock)
    parameters = assignments(pairs, "--engine-option")
    if device == "cuda":
        parameters = {"gpus_per_node": 1, **parameters}
    # A scheduler has a queue, so that all jobs can be submitted.
    slots = workers or max(1, len(plan.jobs))
    return cluster_engine(execution.engine, cluster, slots, parameters)


def describe(plan: "Plan", slots: int, *, each: bool) -> None:
    """Print how many runs there are and, if runs are finished, an estimate for the others."""
    from lifelong_co.api.progress import duration
    from lifelong_co.experiments.sweep.estimate import remaining, taken_by, wall

    done = taken_by(plan)
    print(f"{len(plan.jobs)} runs, {len(done)} of them finished, in {plan.folder}")
    seconds = remaining(plan, done)
    if each:
        for name, job in plan.jobs.items():
            state = "finished" if name in done else "begun" if job.begun else "to do"
            time = f", about {duration(seconds[name])}" if name in seconds else ""
            print(f"  {name}: {state}{time}")
    if seconds:
        print(
            f"estimate: {duration(sum(seconds.values()))} of training, {slots} at once in about"
            f" {duration(wall(seconds.values(), slots))}, from the mean of the finished runs;"
            " tests, reports and starts take more"
        )


def carry_out(plan: "Plan", engine: "Engine", retries: int) -> list[str]:
    """Do the runs and write and print the table; return the names of those that failed."""
    from lifelong_co.api.progress import duration
    from lifelong_co.errors import Interrupted
    from lifelong_co.experiments.paired import LEAST_SEEDS
    from lifelong_co.experiments.sweep import table
    from lifelong_co.experiments.sweep.conduct import conduct
    from lifelong_co.experiments.sweep.estimate import remaining, wall
    from lifelong_co.storage.files import write_whole
    from lifelong_co_cli.advice import stopped
    from lifelong_co_cli.options import places
    from lifelong_co_cli.system import stop_on_signal

    describe(plan, engine.slots, each=False)

    def time_left(finished: "Mapping[str, float]") -> str:
        seconds = wall(remaining(plan, finished).values(), engine.slots)
        return f", about {duration(seconds)} left" if seconds else ""

    with stop_on_signal() as stop:
        try:
            failed = conduct(
                plan,
                engine,
                retries=retries,
                stop=stop,
                log=lambda line: print(line, flush=True),
                time_left=time_left,
            )
        except Interrupted as interrupted:
            print(stopped("sweep", interrupted.folder))
            raise typer.Exit(stop.status) from interrupted
    results = table.gather(plan, places())
    text = table.as_text(results)
    write_whole(plan.folder / "table.txt", text)
    write_whole(plan.folder / "table.csv", table.as_csv(results))
    write_whole(plan.folder / "table.md", table.as_markdown(results))
    print()
    print(text, end="")
    if results.runs:
        seeds = {run.config.seed for run in results.runs.values()}
        what = "figures, and tests paired by seed" if len(seeds) >= LEAST_SEEDS else "figures"
        print(f"{what}: lifelong-co report {shlex.quote(str(plan.folder))}")
    for name in failed:
        print(f"failed: {name} ({failed[name]}); its log: {plan.folder / 'logs' / name}.log")
    if failed:
        print(
            "the same command tries these again; after status 2 or 3 correct the file first, and"
            " give rows that change another name"
        )
    return list(failed)
