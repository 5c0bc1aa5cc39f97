"""The pieces of `gpu.py`: the jobs of each, and what a job does in its process."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import torch
from gpu_pieces import correctness, growing, paper
from lifelong_co_adapters.official.locate import upstream

HERE = Path(__file__).parents[1]
RESULTS = "gpu.json"
RESUMED = ("pomo-cvrp", "omni-tsp", "invit-cvrp")


@attrs.frozen
class Job:
    """A process of a piece."""

    name: str
    command: Callable[[float], list[str]]
    """Returns the arguments for Python, given the seconds that the job may take."""
    environment: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Piece:
    """A part of the proof."""

    share: float
    """Its seconds, over all commands."""
    jobs: Callable[[Namespace], list[Job]]
    do: Callable[[str, Namespace], Iterator[dict[str, Any]]]
    """Does a job by name in this process, and yields its results so far."""


def own(piece: str, name: str, options: Namespace, **environment: str) -> Job:
    """Return a job that `gpu.py` does itself in a new process."""
    given = [str(HERE / "gpu.py"), "--one", piece, name, *options.given]
    return Job(name, lambda seconds: [*given, "--budget", f"{seconds:.0f}"], environment)


def of_correctness(options: Namespace) -> list[Job]:
    """Return a job for each solver and problem, and those of resumed runs."""
    names = [f"{solver}-{p}" for solver in correctness.SOLVERS for p in correctness.PROBLEMS]
    names += [f"resumed-{pair}" for pair in RESUMED]
    # cuBLAS gives the same bits in each run only with workspaces of a fixed size.
    return [own("correctness", name, options, CUBLAS_WORKSPACE_CONFIG=":4096:8") for name in names]


def do_correctness(name: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """Do the checks of a job; yield them all after each."""
    *resumed, solver, problem = name.split("-")
    if resumed:
        torch.use_deterministic_algorithms(True, warn_only=True)
    check = correctness.resumed if resumed else correctness.of_solver
    checks: list[correctness.Check] = []
    for each in check(solver, problem, options.device, options.tiny):
        checks.append(each)
        yield {"broken": sum(not each["holds"] for each in checks), "checks": checks}


def of_official(options: Namespace) -> list[Job]:
    """Return a job for each problem and size: `against_official.py`."""
    script, checkout = str(HERE / "against_official.py"), str(upstream("LLR-BC"))
    common = ["--device", options.device, "--threads", str(options.threads)]
    common += ["--official", checkout]
    if options.tiny:
        cases, few = [("tsp", 20)], ["--repeats", "1", "--recorded", "1", "--tests", "2"]
    else:
        cases = [(problem, n) for problem in ("cvrp", "tsp") for n in (20, 50, 100)]
        few = ["--repeats", "3"]

    def job(problem: str, n: int) -> Job:
        chosen = ["--problems", problem, "--sizes", str(n)]
        return Job(f"{problem}-{n}", lambda _: [script, *chosen, *common, *few])

    return [job(problem, n) for problem, n in cases]


def no_job(name: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """Refuse a job that another program does."""
    raise AssertionError(f"{name}: against_official.py does it, {options}")


def of_paper(options: Namespace) -> list[Job]:
    """Return the estimates of both precisions, and the run."""
    return [own("paper", name, options) for name in ("float32", "bfloat16", "run")]


def do_paper(name: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """Estimate or continue the run."""
    device, tiny = options.device, options.tiny
    if name == "run":
        folder = options.out / "paper"
        yield paper.run(folder, device, options.precision, tiny, options.budget)
    else:
        yield paper.minutes(device, name, tiny)


def of_growth(options: Namespace) -> list[Job]:
    """Return a job for each point, and their picture."""
    names = [*growing.names(options.tiny), "picture"]
    return [own("growth", name, options) for name in names]


def do_growth(name: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """Measure a point, or draw those that are known."""
    pieces = json.loads((options.out / RESULTS).read_text())["pieces"]
    jobs = pieces.get("growth", {"jobs": {}})["jobs"]
    known = [job["result"] for job in jobs.values() if job["result"]]
    if name == "picture":
        yield growing.picture(known, options.out / "growth.png")
    else:
        yield growing.point(name, options.device, known, options.threads)


PIECES = {
    "correctness": Piece(300, of_correctness, do_correctness),
    "official": Piece(300, of_official, no_job),
    "paper": Piece(700, of_paper, do_paper),
    "growth": Piece(200, of_growth, do_growth),
}
