"""``lifelong-co run``: learn a sequence of tasks."""

import os
from pathlib import Path
from typing import Any

import typer

from lifelong_co_cli import options, run_options


def run(
    context: typer.Context,
    problem: options.Problem = None,
    solver: options.Solver = None,
    method: run_options.Method = "llr-bc",
    preset: run_options.Preset = None,
    order: run_options.Order = None,
    tasks: run_options.Tasks = None,
    seed: options.Seed = 0,
    weighting: run_options.Weighting = None,
    divergence: run_options.Divergence = None,
    alpha: run_options.Alpha = None,
    buffer_size: run_options.BufferSize = None,
    replay_size: run_options.ReplaySize = None,
    device: options.Device = "auto",
    out: options.Out = None,
    resume: run_options.Resume = None,
    dry_run: run_options.DryRun = False,
    ablation: run_options.Ablation = None,
    behavior: run_options.Behavior = None,
    replay_rows: run_options.ReplayRows = None,
    method_option: run_options.MethodOption = None,
    solver_option: options.SolverOption = None,
    setting: run_options.Setting = None,
    start_from: run_options.StartFrom = None,
    buffer_from: run_options.BufferFrom = None,
    fresh: run_options.Fresh = False,
    drift: run_options.Drift = False,
    images: run_options.Images = None,
    one_pass: run_options.OnePass = None,
    precision: run_options.Precision = None,
    objective: run_options.Objective = None,
    objective_option: run_options.ObjectiveOption = None,
    schedule: run_options.Schedule = None,
    tests: run_options.Tests = None,
    tests_of: options.TestsOf = None,
    curve_every: run_options.CurveEvery = None,
    augment: run_options.Augment = None,
    logger: run_options.Logger = None,
) -> None:
    """Learn tasks one after another, and test on all of them.

    The test on all tasks comes after each task, or with `--setting
    tests_after=next` only at the end. An option without a default
    takes its value from the preset. `lifelong-co plugins` lists all names,
    `lifelong-co tasks` shows presets, orders and an example of a task file.

    Ctrl-C and SIGTERM save the run and stop it. The last line says how to
    continue.
    """
    from lifelong_co_cli.execution import continue_run, execute, show_estimate, show_further

    if resume is not None:
        options.refuse_other_options(context, beside=("resume", "tasks", "dry_run"))
        if not dry_run:
            continue_run(resume, tasks)
        elif tasks is None:
            raise typer.BadParameter("--dry-run beside --resume: expected --tasks FILE, got none")
        else:
            show_further(resume, tasks)
        return

    from lifelong_co.api.learn import run_name
    from lifelong_co.config.resolve import resolve
    from lifelong_co.config.run_config import to_toml
    from lifelong_co.runs.folder import RunFolder, fresh_folder, with_all_options
    from lifelong_co.runs.names import check_names
    from lifelong_co.runs.warm_start import left_behind
    from lifelong_co_cli.system import choose_device, machine

    if out is None and os.environ.get("WORLD_SIZE", "1") != "1":
        raise typer.BadParameter("under torchrun, expected --out: all processes share one folder")
    place = choose_device(device)
    flags: dict[str, Any] = {
        "ablation": ablation,
        "weighting": weighting,
        "divergence": divergence,
        "behavior": behavior,
        "alpha": alpha,
        "buffer_size": buffer_size,
        "replay_size": replay_size,
        "replay_rows": replay_rows,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    more = options.assignments(method_option or [], "--method-option")
    for name in given.keys() & more.keys():
        flag = f"--{name.replace('_', '-')}"
        raise typer.BadParameter(f"expected {flag} or --method-option {name}=…, got both")
    config = resolve(
        solver=solver,
        problem=problem,
        method=method,
        preset=preset or "small",
        order=order,
        tasks_file=tasks,
        seed=seed,
        device=place,
        start_from=start_from,
        buffer_from=buffer_from,
        fresh=fresh,
        drift=drift,
        tests_of=tests_of,
        solver_options=options.assignments(solver_option or [], "--solver-option"),
        method_options={**given, **more},
        more_settings=options.assignments(setting or [], "--setting"),
        tests=tests,
        curve_every=curve_every,
        augment=augment,
        images=images,
        one_pass=one_pass,
        precision=precision,
        objective=objective,
        objective_options=options.assignments(objective_option or [], "--objective-option") or None,
        schedule=schedule,
        loggers=tuple(logger) if logger else None,
    )
    if preset is None and tasks is None:
        typer.echo(
            f"No preset given: taking `small`, which finishes on this machine ({machine(place)}) "
            "in minutes; `--preset paper` is the scale of the paper.",
            err=True,
        )
    if method != "fine-tuning" and (tasks_left := ", ".join(left_behind(config))):
        typer.echo(
            f"{method} begins without a memory of {tasks_left}: --start-from takes only parameters"
            " (--buffer-from DIR takes experiences, too, if both methods have a buffer of them;"
            " run --resume DIR --tasks FILE goes on with that run and its memory, unless its method"
            " learns all tasks at once)",
            err=True,
        )
    if dry_run:
        check_names(config)
        if out is not None:
            RunFolder(out).check_new()
        print(to_toml(with_all_options(config)), end="", flush=True)
        show_estimate(config)
        return
    execute(config, out or fresh_folder(Path("runs") / run_name(config)), resume=False)
