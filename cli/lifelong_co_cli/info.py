"""``lifelong-co info``: what is installed here, for a bug report."""

from json import dumps
from typing import Annotated

import typer

from lifelong_co_cli.options import FLAG

OPTIONAL = ("matplotlib", "pyvrp", "ortools", "submitit", "tensorboard")
"""Packages of the extras, which may be missing."""


def info(
    json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print one JSON object.")
    ] = False,
) -> None:
    """Show versions, devices and plugins, for a bug report."""
    import torch

    from lifelong_co import registry
    from lifelong_co.runs.provenance import UNKNOWN, present
    from lifelong_co_cli.listings import aligned, silent_registry
    from lifelong_co_cli.system import cores

    here = present("cpu")
    commit = f" (commit {here.commit}{', changed' if here.changed else ''})"
    state = "" if here.commit == UNKNOWN else commit
    with silent_registry():
        components, failures = registry.components(), registry.failures()
    owners = dict.fromkeys(f"{one.owner} {one.version}".strip() for one in components)
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    facts = {
        "lifelong-co": f"{here.lifelong_co}{state}",
        "python": here.python,
        "torch": here.torch,
        "numpy": here.numpy,
        **{name: version_of(name) for name in OPTIONAL},
        "system": here.platform,
        "cpu": here.cpu,
        "cores": str(cores()),
        "threads": str(here.threads),
        **{f"cuda:{i}": name for i, name in enumerate(gpus)},
        "plugins": ", ".join(owners),
        **{f"not loaded: {one.plugin}": f"{one.owner} {one.error}".strip() for one in failures},
    }
    typer.echo(dumps(facts, indent=2) if json else aligned(list(facts.items())))


def version_of(package: str) -> str:
    """Return the version of an installed package, or that it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
