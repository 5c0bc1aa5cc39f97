"""``lifelong-co run``: learn a sequence of tasks."""

import os
from pathlib import Path
from typing import Any

import typer

from lifelong_co_cli import run_options as options


def run(
    context: typer.Context,
    problem: options.Problem = None,
    solver: options.Solver = None,
    method: options.Method = "llr-bc",
    preset: options.Preset = None,
    order: options.Order = None,
    tasks: options.Tasks = None,
    drift: options.Drift = None,
    seed: options.Seed = 0,
    ablation: options.Ablation = None,
    weighting: options.Weighting = None,
    divergence: options.Divergence = None,
    behavior: options.Behavior = None,
    alpha: options.Alpha = None,
    buffer_size: options.BufferSize = None,
    replay_size: options.ReplaySize = None,
    replay_rows: options.ReplayRows = None,
    method_option: options.MethodOption = None,
    solver_option: options.SolverOption = None,
    start_from: options.StartFrom = None,
    buffer_from: options.BufferFrom = None,
    images: options.Images = None,
    one_pass: options.OnePass = None,
    precision: options.Precision = None,
    tests: options.Tests = None,
    curve_every: options.CurveEvery = None,
    augment: options.Augment = None,
    device: options.Device = "auto",
    out: options.Out = None,
    resume: options.Resume = None,
) -> None:
    """Learn tasks one after another, and test on all of them after each.

    Options that are not given come from the preset.
    Ctrl-C and SIGTERM save and stop; the line then printed continues the run.
    """
    from lifelong_co_cli.execution import continue_run, execute

    if resume is not None:
        refuse_other_options(context)
        continue_run(resume)
        return
    from lifelong_co.config.run_config import resolve
    from lifelong_co_cli.options import assignments, choose_device, fresh_folder, machine

    if out is None and os.environ.get("WORLD_SIZE", "1") != "1":
        raise typer.BadParameter("expected --out under torchrun: all processes share one folder")
    place = choose_device(device)
    if preset is None:
        preset = "small"
        if tasks is None:
            print(
                f"No preset given: taking `small`, which finishes on this machine "
                f"({machine(place)}) in minutes; `--preset paper` is the paper's scale."
            )
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
    more = assignments(method_option or [], "--method-option")
    for name in given.keys() & more.keys():
        flag = f"--{name.replace('_', '-')}"
        raise typer.BadParameter(f"expected {flag} or --method-option {name}=…, got both")
    config = resolve(
        solver=solver,
        problem=problem,
        method=method,
        preset=preset,
        order_number=order,
        tasks_file=tasks,
        seed=seed,
        device=place,
        start_from=start_from,
        buffer_from=buffer_from,
        drift=bool(drift),
        solver_options=assignments(solver_option or [], "--solver-option"),
        method_options={**given, **more},
        tests=tests,
        curve_every=curve_every,
        augment=augment,
        images=images,
        one_pass=one_pass,
        precision=precision,
    )
    variant = config.method_options.get("ablation") or config.method
    name = f"{config.problem}-{config.solver}-{variant}-{config.preset}-{seed}"
    folder = out or fresh_folder(Path("runs") / name)
    execute(config, folder, resume=False)


def refuse_other_options(context: typer.Context) -> None:
    """Refuse ``--resume`` beside an option that the stored configuration already decides.

    Raises
    ------
    BadParameter
        Naming the options that were given.
    """
    given = [
        f"--{name.replace('_', '-')}"
        for name in context.params
        if name != "resume" and "COMMANDLINE" in str(context.get_parameter_source(name))
    ]
    if given:
        raise typer.BadParameter(
            f"--resume takes the configuration of the run; leave out {', '.join(given)}"
        )
