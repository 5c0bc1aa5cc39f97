"""A report of invented runs."""

import pytest
import synthetic_runs

from lifelong_co.experiments.benchmark.results import Result, save
from lifelong_co.experiments.paper.assemble import make_report
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.report import Report


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Make a report of two methods on two problems, and of a benchmark of both."""
    root = tmp_path_factory.mktemp("report")
    for problem in ("cvrp", "tsp"):
        for method in ("llr-bc", "fine-tuning"):
            of = synthetic_runs.config(method, problem=problem)
            synthetic_runs.write(root / "runs" / f"{problem}-{method}", of)
    solved = [
        Result("X-n101-k25", 100, 27591.0, solver, cost, float(cost), 0.1)
        for solver, cost in (("llr-bc", 28000), ("fine-tuning", 29000))
    ]
    save(root / "cvrplib", {"library": "cvrplib", "paper": False}, solved, ["X-n101-k25"])
    return make_report(collect([root]), Places(root / "absent"), str)
