"""``lifelong-co run``: learn a sequence of tasks."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lifelong_co_cli.options import DEVICE

# The panels of `run --help`.
WHAT = "What to learn"
CONSOLIDATION = "Method llr-bc"
TESTING = "Testing"
WHERE = "Where"


def run(
    context: typer.Context,
    problem: Annotated[
        str | None,
        typer.Option(help="Routing problem: tsp or cvrp (when not given).", rich_help_panel=WHAT),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="Neural solver: pomo (when not given), omni, invit, official-pomo, official-omni,"
            " official-invit or a plugin's.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="Lifelong-learning method: llr-bc, fine-tuning, restart or a plugin's.",
            rich_help_panel=WHAT,
        ),
    ] = "llr-bc",
    preset: Annotated[
        str | None,
        typer.Option(
            help="Scale of it all: demo, small or paper; `tasks` shows them. small when not given.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            help="One of the paper's task orders, 1 to 5; `tasks` shows them.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(
            help="Task sequence of your own, a TOML file; `tasks` shows an example.",
            metavar="FILE",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Fixes everything random.", min=0, rich_help_panel=WHAT)
    ] = 0,
    weighting: Annotated[
        str | None,
        typer.Option(
            help="What makes an experience weigh more: variance, entropy, top2-margin, uniform or"
            " a plugin's.",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    divergence: Annotated[
        str | None,
        typer.Option(
            help="From the buffered behavior to the present one: rkl (reverse KL), kl or a"
            " plugin's.",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    behavior: Annotated[
        str | None,
        typer.Option(
            help="What is compared: probabilities (the paper's equation) or official (the softmax"
            " of them, as the paper's code has it).",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Weight of the consolidation loss, at least 0.", rich_help_panel=CONSOLIDATION
        ),
    ] = None,
    buffer_size: Annotated[
        int | None,
        typer.Option(
            help="|B|: units (a decoding step of a batch) that the buffer holds.",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    replay_size: Annotated[
        int | None,
        typer.Option(
            help="|E|: units replayed at every training step.", rich_help_panel=CONSOLIDATION
        ),
    ] = None,
    replay_rows: Annotated[
        float | None,
        typer.Option(
            help="Fraction of a unit's instances replayed, above 0 and at most 1.",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    method_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Any option of the method; give it again for more.",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    solver_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Any option of the solver, e.g. embedding_dim=64; give it again for more.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(
            help="Run whose solver and parameters to start with, e.g. from `pretrain`.",
            metavar="DIR",
            rich_help_panel=WHAT,
        ),
    ] = None,
    buffer_from: Annotated[
        Path | None,
        typer.Option(
            help="Run, of any solver, whose experiences to start with.",
            metavar="DIR",
            rich_help_panel=CONSOLIDATION,
        ),
    ] = None,
    images: Annotated[
        bool | None,
        typer.Option(
            "--images",
            help="Train on the eight symmetric images of each instance.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    tests: Annotated[
        int | None,
        typer.Option(help="Test instances of each task.", min=1, rich_help_panel=TESTING),
    ] = None,
    curve_every: Annotated[
        int | None,
        typer.Option(
            help="Epochs between two points of the forgetting curve.",
            min=1,
            rich_help_panel=TESTING,
        ),
    ] = None,
    augment: Annotated[
        bool | None,
        typer.Option(
            "--augment",
            help="Test on the eight symmetric images of each instance, too.",
            rich_help_panel=TESTING,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE, rich_help_panel=WHERE)] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Run folder, new or empty; when not given a new one in runs/.",
            metavar="DIR",
            rich_help_panel=WHERE,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Continue the interrupted run in this folder; takes no other option.",
            metavar="DIR",
            rich_help_panel=WHERE,
        ),
    ] = None,
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
    options = assignments(method_option or [], "--method-option")
    for name in given.keys() & options.keys():
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
        solver_options=assignments(solver_option or [], "--solver-option"),
        method_options={**given, **options},
        tests=tests,
        curve_every=curve_every,
        augment=augment,
        images=images,
    )
    name = f"{config.problem}-{config.solver}-{config.method}-{config.preset}-{seed}"
    execute(config, out or fresh_folder(Path("runs") / name), resume=False)


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
