"""``lifelong-co upstream``: fetch and list the official codebases."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong_co_cli.help_option import Command, Group

upstream = typer.Typer(
    cls=Group,
    help="Fetch or list official code, for the official-… solvers.",
    no_args_is_help=True,
)


@upstream.command("fetch", cls=Command)
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="POMO, Omni-VRP, INViT or LLR-BC (default: all).",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Clone to DIR/NAME, not to the submodules."),
    ] = None,
) -> None:
    """Fetch the pinned commit of official codebases with git.

    Without --into, the folder is that of the variable LIFELONG_CO_UPSTREAM, or
    else that of the submodules of this checkout.
    """
    import os

    from lifelong_co_adapters.official import fetching
    from lifelong_co_adapters.official.locate import VARIABLE
    from lifelong_co_adapters.official.upstreams import UPSTREAMS, pinned

    from lifelong_co.storage.files import refuse_unwritable

    for name in names or ():  # check all names before the first fetch
        pinned(name)
    if into is not None:
        refuse_unwritable(into)
    for name in names or UPSTREAMS:
        folder = fetching.fetch(name, into)
        print(f"{name}: {UPSTREAMS[name].commit[:12]} in {folder}", flush=True)
    if into is not None:
        wanted = into.resolve()
        if Path(os.environ.get(VARIABLE) or os.devnull).resolve() != wanted:
            print(f"To use this code, set {VARIABLE}={wanted}")


@upstream.command("list", cls=Command)
def show() -> None:
    """List the official codebases with pinned commit, state and folder."""
    from lifelong_co_adapters.official.fetching import commit
    from lifelong_co_adapters.official.locate import place, present
    from lifelong_co_adapters.official.upstreams import UPSTREAMS

    from lifelong_co_cli.listings import aligned

    rows = [("name", "pinned commit", "state", "folder")]
    for name, codebase in UPSTREAMS.items():
        folder = place(name)
        if folder is None or not present(folder):
            state = "missing"
        else:
            found = commit(folder)
            if found is None:
                state = "there, no git checkout"
            else:
                state = "pinned" if found == codebase.commit else f"at {found[:12]}, not pinned"
        rows.append((name, codebase.commit, state, "" if folder is None else str(folder)))
    print(aligned(rows))
    if any(row[2] == "missing" for row in rows):
        print("\nTo fetch what is missing: lifelong-co upstream fetch")
