"""``lifelong-co run``: learn a sequence of tasks."""

from pathlib import Path
from typing import Annotated, Any

import typer


def run(
    context: typer.Context,
    solver: Annotated[str, typer.Option(help="Neural solver; see `plugins`.")] = "pomo",
    problem: Annotated[str, typer.Option(help="tsp or cvrp.")] = "cvrp",
    method: Annotated[str, typer.Option(help="Lifelong-learning method.")] = "llr-bc",
    preset: Annotated[
        str | None, typer.Option(help="demo, small or paper; small when not given.")
    ] = None,
    order: Annotated[
        int | None, typer.Option(help="Task order of the paper, 1 to 5; the preset's own.")
    ] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="Task sequence of your own, a TOML file.", metavar="FILE")
    ] = None,
    weighting: Annotated[
        str | None, typer.Option(help="variance, entropy, top2-margin, uniform.")
    ] = None,
    divergence: Annotated[str | None, typer.Option(help="rkl or kl.")] = None,
    behavior: Annotated[
        str | None, typer.Option(help="What is compared: official or probabilities.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Weight of the consolidation loss.")] = None,
    buffer_size: Annotated[int | None, typer.Option(help="|B|, units in the buffer.")] = None,
    replay_size: Annotated[int | None, typer.Option(help="|E|, units replayed a step.")] = None,
    replay_rows: Annotated[
        float | None, typer.Option(help="Fraction of a unit's instances replayed.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes everything random.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")] = "auto",
    tests: Annotated[int | None, typer.Option(help="Test instances per task.")] = None,
    curve_every: Annotated[
        int | None, typer.Option(help="Epochs between points of the forgetting curve.")
    ] = None,
    augment: Annotated[
        bool | None, typer.Option("--augment", help="Test with x8 augmentation.")
    ] = None,
    solver_option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Any option of the solver.")
    ] = None,
    method_option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Any option of the method.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder, new.", metavar="DIR")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue an interrupted run.", metavar="DIR")
    ] = None,
) -> None:
    """Learn tasks one after another, and test on all of them after each.

    Every option that is not given comes from the preset. Ctrl-C saves and stops; the line it
    prints continues the run.
    """
    if resume is not None:
        refuse_other_options(context)
        continue_run(resume)
        return
    from lifelong_co.config import resolve
    from lifelong_co_cli.options import assignments, choose_device, fresh_folder, machine

    place = choose_device(device)
    if preset is None:
        preset = "small"
        if tasks is None:
            print(
                f"No preset given: taking `small`, which finishes on this machine "
                f"({machine(place)}) in minutes; `--preset paper` is the paper's scale."
            )
    flags: dict[str, Any] = {
        "weighting": weighting,
        "divergence": divergence,
        "behavior": behavior,
        "alpha": alpha,
        "buffer_size": buffer_size,
        "replay_size": replay_size,
        "replay_rows": replay_rows,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    config = resolve(
        solver=solver,
        problem=problem,
        method=method,
        preset=preset,
        order_number=order,
        tasks_file=tasks,
        seed=seed,
        device=place,
        solver_options=assignments(solver_option or [], "--solver-option"),
        method_options={**given, **assignments(method_option or [], "--method-option")},
        tests=tests,
        curve_every=curve_every,
        augment=augment,
    )
    name = f"{config.problem}-{config.solver}-{config.method}-{config.preset}-{seed}"
    execute(config, out or fresh_folder(Path("runs") / name), resume=False)


def continue_run(folder: Path) -> None:
    """Resume the run in a folder."""
    from lifelong_co.run_folder import RunFolder

    execute(RunFolder(folder).config(), folder, resume=True)


def execute(config: Any, folder: Path, *, resume: bool) -> None:
    """Show the configuration, learn, and end with the metrics and the report."""
    from lifelong_co.config import to_toml
    from lifelong_co.learner import Interrupted, learn
    from lifelong_co.report.comparison import compare_folders
    from lifelong_co.report.publish import write_run_report
    from lifelong_co.report.tables import as_text
    from lifelong_co_cli.progress import watching
    from lifelong_co_cli.signals import stop_on_signal

    print(to_toml(config))
    with stop_on_signal() as stop:
        try:
            with watching(config) as watcher:
                learn(
                    config, folder, resume=resume, stop=stop, watch=watcher.watch, tell=watcher.tell
                )
        except Interrupted as interrupted:
            print(interrupted)
            raise typer.Exit(stop.status) from interrupted
    report = write_run_report(folder)
    print()
    print(as_text(compare_folders([folder])))
    print(f"report: {report}")


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
