"""Forgetting, with and without LLR-BC, for every solver: preset `small`, two tasks, two methods.

    python benchmarks/every_solver.py [--workers 2] [--runs DIR] [--results DIR] [--solvers NAME …]
        [--problems NAME …]

It does only the runs whose results are missing; the results are committed. `omni` starts from
parameters that `lifelong-co pretrain` meta-trains here. At the end a new POMO learns with the
buffers of Omni and INViT: one solver teaches another. All learn by REINFORCE at a constant
rate, with an absolute alpha, as the stored runs do.
"""

import argparse
import json
from itertools import product
from pathlib import Path

from grid import Grid

from lifelong_co.experiments.comparison.comparison import compare_folders

HERE = Path("benchmarks")  # run from the checkout: config.toml keeps the path
SOLVERS = ("pomo", "omni", "invit", "official-pomo", "official-omni", "official-invit")
METHODS = ("fine-tuning", "llr-bc")
PROBLEMS = ("cvrp", "tsp")
METRICS = ("AP", "AF", "APl")
HEADER = [f"{metric} {method}" for metric in METRICS for method in METHODS]
COMMON = ["--preset", "small", "--tasks"]
REINFORCE = ["--objective=reinforce", "--schedule=constant", "--setting=learning_rate=1e-4"]
ALPHA = ["--alpha", "3", "--method-option=alpha_unit=absolute"]
"""What the stored runs have; the preset has other values now."""
SEEDS = {("cvrp", "pomo"): 3, ("cvrp", "official-pomo"): 3}
"""The number of seeds; 1 for all others."""
PRETRAINED = ("omni",)
TEACHERS = ("omni", "invit")


def job(grid: Grid, problem: str, solver: str, method: str, seed: int = 0) -> tuple[str, list[str]]:
    """Return the name of a run and the arguments for `lifelong-co run`."""
    start = ["--solver", solver, "--problem", problem]
    if solver in PRETRAINED:
        start = ["--start-from", str(grid.runs / f"{problem}-{solver}-pretrained")]
    arguments = ["--method", method, "--seed", str(seed), *COMMON, tasks_of(solver), *REINFORCE]
    arguments += ALPHA if method == "llr-bc" else []
    return run_name(problem, solver, method, seed), [*start, *arguments]


def run_name(problem: str, solver: str, method: str, seed: int) -> str:
    """Return the name of a run's folder."""
    return f"{problem}-{solver}-{method}" + (f"-{seed}" if seed else "")


def tasks_of(solver: str) -> str:
    """Return the task file of a solver."""
    return str(HERE / ("two_tasks_invit.toml" if "invit" in solver else "two_tasks.toml"))


def lesson(grid: Grid, problem: str, teacher: str | None) -> tuple[str, list[str]]:
    """Return a run in which a new POMO learns only the second task, with or without a buffer.

    It is also tested on the first task, which it knows only from the buffer.
    """
    tasks = str(HERE / "two_tasks_reversed.toml")
    arguments = ["--problem", problem, *COMMON, tasks, "--seed", "0", *REINFORCE]
    if teacher is None:
        return f"{problem}-alone", [*arguments, "--method", "fine-tuning"]
    buffer = str(grid.runs / f"{problem}-{teacher}-llr-bc")
    return f"{problem}-taught-by-{teacher}", [*arguments, *ALPHA, "--buffer-from", buffer]


def pretrain(grid: Grid, problem: str, solver: str) -> None:
    """Meta-train a solver on the tasks."""
    arguments = ["--solver", solver, "--problem", problem, "--iterations", "200", "--seed", "0"]
    name = f"{problem}-{solver}-pretrained"
    grid.complete(name, [*arguments, *COMMON, tasks_of(solver)], command="pretrain")


def row(grid: Grid, problem: str, solver: str) -> str:
    """Return a solver's line of the table: each metric under fine-tuning and under LLR-BC."""
    seeds = range(SEEDS.get((problem, solver), 1))
    names = [run_name(problem, solver, *which) for which in product(METHODS, seeds)]
    comparison = compare_folders([grid.results / name for name in names])
    cells = [
        f"{1e3 * comparison.spread(group, metric).mean:.1f}"
        for metric in METRICS
        for group in comparison.groups
    ]
    return f"| {problem} | `{solver}` | {len(seeds)} | {' | '.join(cells)} |"


def main() -> None:
    """Do the missing runs and print one table for each problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=Path, default=Path("runs/every-solver"))
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/every-solver"))
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=SOLVERS)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    options = parser.parse_args()
    grid = Grid(options.runs, options.results)
    for problem, solver in product(options.problems, PRETRAINED):
        if solver in options.solvers:
            pretrain(grid, problem, solver)
    jobs = [
        job(grid, problem, solver, method, seed)
        for problem, solver, method in product(options.problems, options.solvers, METHODS)
        for seed in range(SEEDS.get((problem, solver), 1))
    ]
    grid.complete_all(jobs, options.workers)
    taught = [teacher for teacher in TEACHERS if teacher in options.solvers]
    lessons = [
        lesson(grid, problem, who) for problem in options.problems for who in (None, *taught)
    ]
    grid.complete_all(lessons, options.workers)
    print("| problem | solver | seeds | " + " | ".join(HEADER) + " |")
    print("|---|---|" + "---:|" * (1 + len(HEADER)))
    for problem, solver in product(options.problems, options.solvers):
        print(row(grid, problem, solver))
    print("\na fresh POMO that has seen only R10: mean cost on R10 and G20")
    for name, _ in lessons:
        costs = json.loads((grid.results / name / "metrics.json").read_text())["costs"][0]
        print(f"{name:24} {costs[0]:.4f} {costs[1]:.4f}")


if __name__ == "__main__":
    main()
