"""A plugin's code is one hash of its packages and modules, whatever part of it is asked for."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.registry.finding import find
from lifelong_co.runs.code_hash import code, module_of

PLUGIN = """
import functools
import lifelong_co as lco
from trial_parts import anchor, weights

@lco.hookimpl
def register_methods(register):
    register("anchor", functools.partial(anchor.Anchor))

@lco.hookimpl
def register_weightings(register):
    register("mine", weights.mine)
    register("theirs", lco.weighting)
"""
PARTS = {
    "__init__.py": "",
    "weights.py": "def mine(probs): return probs.amax(dim=-1)",
    "anchor.py": "from trial_parts.deep.hidden import STRENGTH\nclass Anchor: pass",
    "deep/hidden.py": "STRENGTH = 1",
}


@pytest.fixture
def parts(tmp_path: Path, install: Callable[..., None]) -> Iterator[Path]:
    """Return the folder of an installed package, whose entry point is a module beside it."""
    folder = tmp_path / "trial_parts"
    for name, content in PARTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    install("trial", trial_entry=PLUGIN)
    assert registry.failures() == []
    yield folder
    for name in [name for name in sys.modules if name.startswith("trial_parts")]:
        del sys.modules[name]


def both() -> set[str]:
    """Return the hashes of two parts of the plugin."""
    return {code(find("method", "anchor")), code(find("weighting", "mine"))}


@pytest.mark.parametrize("changed", ["deep/hidden.py", "anchor.py", "../trial_entry.py"])
def test_every_file_of_the_package_counts(parts: Path, changed: str) -> None:
    """All parts have one hash; it changes with a file that registers nothing, too."""
    (before,) = both()
    assert len(before) == 12
    file = parts / changed
    content = file.read_text()
    file.write_text(content + "\n# changed")
    (after,) = both()
    assert after != before
    file.write_text(content)
    assert both() == {before}


def test_files_that_are_not_code_do_not_count(parts: Path) -> None:
    """Neither data, nor hidden folders, nor installed packages below the folder."""
    before = both()
    for name in ("data.txt", ".venv/x.py", "site-packages/x.py"):
        (parts / name).parent.mkdir(exist_ok=True)
        (parts / name).write_text("")
    assert both() == before
    (parts / "more.py").write_text("")
    assert both() != before


def test_registered_function_of_ours_does_not_count(parts: Path) -> None:
    """The version and the commit of a run stand for our code."""
    assert parts.is_dir()
    assert module_of(find("weighting", "theirs").thing).startswith("lifelong_co")
    assert {code(find("weighting", "theirs"))} == both()


@pytest.mark.usefixtures("fresh_registry")
def test_object_of_one_file_is_that_file(plugin: Callable[..., object]) -> None:
    """Its neighbours belong to other plugins."""

    def mine(probs: object) -> object:
        return probs

    lco.register_plugin(plugin("register_weightings", "mine", mine))
    content = Path(__file__).read_bytes()
    assert code(find("weighting", "mine")) == hashlib.sha256(content).hexdigest()[:12]
