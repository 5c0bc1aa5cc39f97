"""The example of a third-party package works in a new process when it is installed."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from paths import ROOT

EXAMPLES = ROOT / "examples"
PASSED = {"lifelong-co-max-prob": 2, "lifelong-co-prize-collecting": 15}
"""Folder to the number of its tests."""
ADDED = {
    "lifelong-co-max-prob": {("weighting", "max-prob")},
    "lifelong-co-prize-collecting": {
        ("problem", "prize-collecting-tsp"),
        ("sampler", "prize-collecting-tsp"),
        ("order", "prize-collecting-tsp:short"),
        ("reference-model", "prize-collecting-tsp"),
    },
}
"""Folder to the kinds and names that it registers."""


@pytest.fixture(params=sorted(PASSED))
def example(request: pytest.FixtureRequest) -> Path:
    """Return the folder of an example."""
    return EXAMPLES / request.param


@pytest.fixture
def environment(example: Path, tmp_path: Path) -> dict[str, str]:
    """Return variables under which the example counts as installed.

    The entry points of its pyproject.toml are written where pip would write them. So the test needs
    no build and no network.
    """
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    site = tmp_path / "site"
    info = site / f"{example.name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["lifelong_co"].items()
    lines = ["[lifelong_co]", *(f"{name} = {module}" for name, module in points)]
    (info / "entry_points.txt").write_text("\n".join(lines))
    kept = {key: value for key, value in os.environ.items() if key != "LIFELONG_CO_LOAD_PLUGINS"}
    paths = [str(site), str(example / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python and return what it printed."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_examples_are_all_tested() -> None:
    """The tables above name every folder of examples."""
    assert {folder.name for folder in EXAMPLES.iterdir()} == set(PASSED) == set(ADDED)


def test_tests_of_the_example_pass(example: Path, environment: dict[str, str]) -> None:
    """The tests of the installed package pass, run as by its author."""
    if "prize" in example.name:
        pytest.importorskip("ortools")  # else some of its tests are skipped
    plain = ("-p", "no:cacheprovider", "-q", "--rootdir", str(example))
    done = run(environment, "-m", "pytest", *plain, str(example / "tests"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{PASSED[example.name]} passed" in done.stdout


def test_command_line_lists_the_example(example: Path, environment: dict[str, str]) -> None:
    """`lifelong-co plugins --json` shows what it registers with owner and version."""
    done = run(environment, "-m", "lifelong_co_cli.main", "plugins", "--json")
    assert done.returncode == 0, done.stderr
    listing = json.loads(done.stdout)
    module = example.name.replace("-", "_")
    expected = [
        {"kind": kind, "name": name, "owner": example.name, "version": "0.1.0", "plugin": module}
        for kind, name in ADDED[example.name]
    ]
    assert all(component in listing["components"] for component in expected)
    assert sum(one["plugin"] == module for one in listing["components"]) == len(expected)
    assert listing["failures"] == listing["clashes"] == []
