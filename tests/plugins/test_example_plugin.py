"""The example of a third-party package works in a new process when it is installed."""

import json
import os
import subprocess
import sys
import tomllib

import pytest
from paths import ROOT

EXAMPLE = ROOT / "examples" / "lifelong-co-max-prob"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return variables under which the example counts as installed.

    The entry points of its pyproject.toml are written where pip would write them. So the test needs
    no build and no network.
    """
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    site = tmp_path_factory.mktemp("site")
    info = site / "lifelong_co_max_prob-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["lifelong_co"].items()
    lines = ["[lifelong_co]", *(f"{name} = {module}" for name, module in points)]
    (info / "entry_points.txt").write_text("\n".join(lines))
    kept = {key: value for key, value in os.environ.items() if key != "LIFELONG_CO_LOAD_PLUGINS"}
    return kept | {"PYTHONPATH": f"{site}{os.pathsep}{EXAMPLE / 'src'}", "OMP_NUM_THREADS": "1"}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python and return what it printed."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_tests_of_the_example_pass(environment):
    """The tests of the installed package pass, run as by its author."""
    plain = ("-p", "no:cacheprovider", "-q", "--rootdir", str(EXAMPLE))
    done = run(environment, "-m", "pytest", *plain, str(EXAMPLE / "tests"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_command_line_lists_the_example(environment):
    """`lifelong-co plugins --json` shows the weighting with its owner and version."""
    done = run(environment, "-m", "lifelong_co_cli.main", "plugins", "--json")
    assert done.returncode == 0, done.stderr
    listing = json.loads(done.stdout)
    assert {
        "kind": "weighting",
        "name": "max-prob",
        "owner": "lifelong-co-max-prob",
        "version": "0.1.0",
        "plugin": "lifelong_co_max_prob",
    } in listing["components"]
    assert listing["failures"] == listing["clashes"] == []
