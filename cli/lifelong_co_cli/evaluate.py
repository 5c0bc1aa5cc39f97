"""``lifelong-co evaluate``: test a trained solver on tasks."""

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.advice import note_unfinished
from lifelong_co_cli.options import ADVANCED, FLAG, After, Device, References, TestsOf


def evaluate(
    run: Annotated[Path, typer.Argument(help="Run folder.", metavar="DIR")],
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="A task of the run, e.g. E50, or a distribution and size (and distance), e.g. U:20"
            " or U:20:manhattan; repeatable (default: all tasks of the run).",
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Instances from an .npz, .vrp, .tsp, .atsp or Solomon .txt file, or a folder of"
            " those; repeatable.",
        ),
    ] = None,
    scale: Annotated[
        bool,
        typer.Option(
            "--scale",
            metavar=FLAG,
            help="Scale each instance of an .npz file into the unit square. Others always are.",
        ),
    ] = False,
    tests: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Test instances of each task (default: as in the run, or all of a file). Another"
            " number may draw other instances; of files it takes the first ones.",
            min=1,
        ),
    ] = None,
    references: References = None,
    device: Device = "auto",
    json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print one JSON object: task to mean cost.")
    ] = False,
    after: After = None,
    tests_of: TestsOf = None,
    augment: Annotated[
        bool,
        typer.Option(
            "--augment",
            metavar=FLAG,
            help="Solve also the eight images of each instance.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
) -> None:
    """Test a trained solver on tasks or files, and print the mean costs.

    Decoding is greedy from every node (INViT: from one); the best solution of an instance counts.
    Costs are in the unit square.
    Where --references has near-optimal costs, the gap to them is shown.
    """
    import attrs

    from lifelong_co.api.evaluate import changes, chosen_tasks, number, tested, with_files
    from lifelong_co.errors import ConfigError, LifelongError
    from lifelong_co.evaluation import note_batches
    from lifelong_co.experiments.references.gaps import gap_of
    from lifelong_co.experiments.references.lookup import of_task, origins
    from lifelong_co.runs.folder import RunFolder
    from lifelong_co.runs.trained_solver import load_solver
    from lifelong_co.tensors.records import rows
    from lifelong_co_cli.options import places
    from lifelong_co_cli.system import choose_device

    folder = RunFolder(run)
    config = folder.config()
    if scale and not files:
        raise ConfigError("--scale: expected --files PATH beside it")
    if json and references:
        raise ConfigError("--references: not with --json, which has costs and no gaps")
    own = chosen_tasks(task, config.tasks) if task or not files else ()
    chosen = with_files(own, files or (), scale)
    if tests_of is not None:
        chosen = [attrs.evolve(one, tests_of=tests_of) for one in chosen]
    solver = load_solver(run, after=after, device=choose_device(device))
    note_unfinished(run, after)
    for line in changes(run, config, own):
        typer.echo(line, err=True)
    note_batches(solver, lambda line: typer.echo(line, err=True))
    looked = places(references)
    costs = {}
    for one, groups, each in tested(solver, config, chosen, tests, run, augment=augment):
        costs[one.label] = float(each.mean())
        if not json:
            try:
                count = number(one, config, tests)
                known = of_task(looked, one, solver.problem, count, groups)
            except LifelongError as error:  # show the costs even without a gap
                typer.echo(f"no gap on {one.label}: {error}", err=True)
                known = []
            else:
                if references and not any(known):
                    said = f"{references} has no references of its {len(each)} test instances"
                    typer.echo(f"no gap on {one.label}: {said}", err=True)
            gap = gap_of(each.tolist(), known)
            shown = f"  {gap} to {looked.named(origins(known))}" if gap else ""
            print(f"{one.label:<12} {costs[one.label]:.4f}{shown}", flush=True)
            if len(groups) > 1:  # the mean depends on the mix of sizes
                for group, part in zip(groups, each.split([*map(rows, groups)]), strict=True):
                    size = solver.problem.size(group)
                    plural = "s" * (len(part) > 1)
                    print(f"  size {size}: {part.mean():.4f} ({len(part)} instance{plural})")
    if json:
        print(json_module.dumps(costs))
