"""The rules of ARCHITECTURE.md, checked in the source: imports, packages, global state."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT
from source_code import (
    CORE,
    MODULES,
    PACKAGES,
    at_import,
    core_modules,
    dotted,
    forbidden_calls,
    imported,
    modules_imported,
    name,
    parse,
    part,
    parts_imported,
    strings,
)

from lifelong_co import registry

# Without the tests: they may change global settings for a check, and restore them.
SHOWN_TO_USERS = [
    *MODULES,
    *(path for folder in ("benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")),
]
# What no module of a package may import, at any depth of nesting.
FORBIDDEN = {
    "lifelong_co": {"lifelong_co_adapters", "lifelong_co_plugins", "lifelong_co_cli", "typer"},
    "lifelong_co_adapters": {"lifelong_co_plugins", "lifelong_co_cli", "typer"},
    "lifelong_co_plugins": {"lifelong_co_adapters", "lifelong_co_cli", "typer"},
    "lifelong_co_cli": set(),
}
# The layers of the core, lowest first: what each part may import besides `errors`. A part is a
# folder, or a module that lies beside the folders.
LAYERS = {
    "errors": "",
    "hookspecs": "",
    "seeding": "",
    "validators": "",
    "metrics": "",
    "protocols": "",
    "tensors": "",
    "storage": "",
    "reference_solvers": "validators",
    "registry": "hookspecs protocols reference_solvers validators",
    "problems": "hookspecs protocols reference_solvers tensors",
    "replay": "hookspecs protocols registry seeding tensors validators",
    "rollout": "protocols tensors validators",
    "evaluation": "problems protocols rollout tensors validators",
    "reinforce": "problems protocols rollout tensors validators",
    "instance_files": "hookspecs problems protocols registry rollout storage tensors",
    "tasks": "instance_files problems protocols registry seeding tensors validators",
    "config": "problems storage tasks tensors validators",
    "runs": "config evaluation metrics protocols registry seeding storage tasks tensors",
    "learner": "config evaluation protocols rollout runs tensors",
    "pretraining": "config evaluation learner protocols registry runs seeding storage tasks tensors"
    " validators",
    "testing": "problems protocols registry replay rollout seeding storage tasks tensors"
    " validators",
    "api": "config evaluation instance_files learner problems protocols registry runs tasks"
    " tensors validators",
}
# What each folder of `experiments/` may import of the other ones. Of the rest of the core it may
# import everything except `pretraining`, `testing` and `api`; `api` may import all of them.
EXPERIMENTS = {
    "references": "",
    "comparison": "references",
    "benchmark": "references comparison",
    "sweep": "references comparison",
    "paper": "references comparison benchmark sweep",
}
# Too slow to import for `lifelong-co --help`. Every module of `lifelong_co` imports torch.
SLOW = {
    "torch",
    "numpy",
    "matplotlib",
    "lifelong_co",
    "lifelong_co_adapters",
    "lifelong_co_plugins",
}
# Tables of presets and options, and checks that need a consolidation loss.
NAMES_COMPONENTS = {
    CORE / "config" / "preset.py",
    CORE / "config" / "presets.py",
    CORE / "config" / "solver_options.py",
    CORE / "config" / "ablations.py",
    CORE / "config" / "former_options.py",
    CORE / "testing" / "gradients.py",
}
COMMAND = re.compile(r"lifelong-co (run|sweep|pretrain|compare|report|solve)|(^|\s)--[a-z]")
# The first module restores what official code has changed; it needs the same calls. The second one
# changes the folder of a child process that it has forked.
EXEMPT = (
    ROOT / "adapters" / "lifelong_co_adapters" / "official" / "untouched.py",
    ROOT / "benchmarks" / "trials" / "forks.py",
    ROOT / "benchmarks" / "official.py",  # times official code under the type that it sets
)
# Every module has a test of its name in the mirrored folder, except these: the test for them,
# their folder and their names. A `plugin.py` only registers and needs none.
TESTS = ROOT / "tests"
MIRRORS = {
    "lifelong_co": "core",
    "lifelong_co_adapters": "adapters",
    "lifelong_co_plugins": "plugins",
}
COVERED_BY = {
    "adapters/test_contract.py": (
        "lifelong_co/protocols",
        "instances learning logger problem replay solver",
    ),
    "docs/test_plugins_page.py": ("lifelong_co", "hookspecs"),
    "core/testing/test_suite.py": (
        "lifelong_co/testing",
        "behavior gradients joined memory sampling solutions",
    ),
    "core/testing/test_problem.py": ("lifelong_co/testing", "problem_solutions"),
    "core/testing/test_method.py": ("lifelong_co/testing", "trial"),
    "adapters/invit/test_golden.py": ("lifelong_co_adapters/invit", "decoder layer network"),
    "adapters/pomo/test_golden.py": ("lifelong_co_adapters/pomo", "network"),
    "adapters/official/test_pomo_omni.py": ("lifelong_co_adapters/official", "attention omni pomo"),
    "adapters/official/test_invit.py": ("lifelong_co_adapters/official", "invit_policy"),
    "cli/test_upstream.py": ("lifelong_co_adapters/official", "fetching"),
    "core/reference_solvers/test_heuristic.py": ("lifelong_co/reference_solvers", "contract"),
    "core/experiments/test_page.py": ("lifelong_co/experiments", "style"),
}
LONGEST = 250


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_lower_packages(package):
    """The core imports no adapter, plugin or command line; adapters and plugins no command line."""
    for path in PACKAGES[package].rglob("*.py"):
        crossed = imported(ast.walk(parse(path))) & FORBIDDEN[package]
        assert not crossed, f"{name(path)} imports {crossed}"


@pytest.mark.parametrize("path", core_modules(), ids=dotted)
def test_module_imports_only_allowed_folders(path: Path) -> None:
    """A module imports only what the table of layers allows for its part."""
    here = part(dotted(path))
    crossed = parts_imported(path) - allowed(here)
    assert not crossed, f"{name(path)}: {here} may not import {', '.join(sorted(crossed))}"


def allowed(here: str) -> set[str]:
    """Return the parts that a part may import."""
    if not here.startswith("experiments"):
        after = {f"experiments/{each}" for each in EXPERIMENTS} if here == "api" else set()
        return {"errors", *LAYERS[here].split(), *after}
    below = set(LAYERS) - {"pretraining", "testing", "api"}
    inside = here.removeprefix("experiments/")
    shared = {part(dotted(path)) for path in core_modules() if path.parent.name == "experiments"}
    neighbors = {f"experiments/{each}" for each in EXPERIMENTS.get(inside, "").split()}
    return below | neighbors | (shared if inside in EXPERIMENTS else set())


@pytest.mark.parametrize("layers", [LAYERS, EXPERIMENTS])
def test_folders_form_no_circle(layers: dict[str, str]) -> None:
    """Every folder stands after all folders that it may import in the table."""
    above: set[str] = set()
    for here, below in layers.items():
        assert set(below.split()) <= above, f"{here} stands above a part that it may import"
        above.add(here)


def test_tables_of_layers_are_complete() -> None:
    """The tables name each folder and each module of the core, and no other."""
    parts = {part(dotted(path)) for path in core_modules()}
    after = {each for each in parts if (CORE / each).is_dir() and each.startswith("experiments/")}
    assert {each for each in parts if not each.startswith("experiments")} == set(LAYERS)
    assert after == {f"experiments/{each}" for each in EXPERIMENTS}


def test_only_experiments_and_commands_import_experiments() -> None:
    """Nothing that a run needs imports what happens after a run."""
    others = [*MODULES, *(ROOT / "examples").rglob("*.py")]
    for path in others:
        if path.is_relative_to(CORE / "experiments") or "lifelong_co_cli" in path.parts:
            continue
        if path.is_relative_to(CORE / "api"):  # the commands, as functions
            continue
        after = {each for each in modules_imported(parse(path)) if ".experiments" in each}
        assert not after, f"{name(path)} imports {after}"


def test_few_modules_lie_beside_the_folders() -> None:
    """At most fourteen modules lie directly in the core."""
    assert len(list(CORE.glob("*.py"))) <= 14


def test_every_module_has_a_test_of_its_name() -> None:
    """`x/y.py` is tested in `x/test_y.py`, except the modules that the table names."""
    covered = {
        f"{folder}/{module}.py"
        for folder, modules in COVERED_BY.values()
        for module in modules.split()
    }
    without = {
        f"{package}/{path.relative_to(PACKAGES[package])}"
        for package in MIRRORS
        for path in PACKAGES[package].rglob("*.py")
        if path.name not in ("__init__.py", "plugin.py") and not namesake(package, path).is_file()
    }
    assert without == covered
    assert [test for test in COVERED_BY if not (TESTS / test).is_file()] == []


def namesake(package: str, path: Path) -> Path:
    """Return where the test of a module lies."""
    folder = path.relative_to(PACKAGES[package]).parent
    return TESTS / MIRRORS[package] / folder / f"test_{path.name}"


def test_core_names_no_plugin_and_no_command() -> None:
    """What happens in a run does not depend on the name of a method, a solver or a command.

    Names stand in the tables of presets and ablations, in the checks for authors of solvers, which
    use the paper's loss, and in what happens after a run.
    """
    plugins = {
        component.name
        for component in registry.components()
        if component.kind in ("solver", "method", "weighting", "divergence")
    }
    for path in core_modules():
        if part(dotted(path)).startswith("experiments") or path in NAMES_COMPONENTS:
            continue
        for text in strings(parse(path)):
            assert text not in plugins, f"{name(path)} names the component {text!r}"
            assert not COMMAND.search(text), f"{name(path)} names a command or an option: {text!r}"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from lifelong_co import registry", {"lifelong_co.registry"}),
        ("from lifelong_co.tasks import drift", {"lifelong_co.tasks.drift"}),
        ("from lifelong_co.tasks import Task", {"lifelong_co.tasks"}),
        ("def f():\n    import lifelong_co.metrics", {"lifelong_co.metrics"}),
    ],
)
def test_import_reader_finds_modules(source: str, found: set[str]) -> None:
    """The reader also finds imports inside functions."""
    assert modules_imported(ast.parse(source)) == found


def test_commands_import_slow_packages_inside_functions():
    """No module of the command line imports torch, numpy, matplotlib or the core at its top."""
    for path in PACKAGES["lifelong_co_cli"].rglob("*.py"):
        slow = imported(at_import(parse(path))) & SLOW
        assert not slow, f"{name(path)} imports {slow} outside functions"


def test_command_line_starts_without_torch():
    """Importing the command line, with all its imports, does not import the slow packages."""
    program = "import sys, lifelong_co_cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert not set(done.stdout.split()) & SLOW


def test_init_modules_have_no_logic():
    """An `__init__.py` has a docstring, imports and `__all__`, nothing else."""
    for path in MODULES:
        if path.name == "__init__.py":
            tree = parse(path)
            assert ast.get_docstring(tree), name(path)
            assert not [ast.unparse(node) for node in tree.body[1:] if is_logic(node)], name(path)


def is_logic(statement: ast.stmt) -> bool:
    """Return whether a statement is neither an import nor `__all__`."""
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) != "__all__"
    return not isinstance(statement, ast.Import | ast.ImportFrom)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package):
    """Each package declares its annotations to type checkers, and every folder is a package."""
    assert (PACKAGES[package] / "py.typed").is_file()
    folders = {path.parent for path in PACKAGES[package].rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_source_changes_no_global_state_and_unpickles_nothing():
    """Nothing changes the working directory or torch's defaults, and nothing unpickles."""
    read = (path for path in SHOWN_TO_USERS if path not in EXEMPT)
    found = {name(path): list(forbidden_calls(parse(path))) for path in read}
    assert {path: what for path, what in found.items() if what} == {}


def test_modules_are_short():
    """A module has at most 250 lines."""
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    too_long = {path: n for path, n in lengths.items() if n > LONGEST}
    assert too_long == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os\nos.chdir('/')", {"chdir"}),
        ("from os import chdir", {"chdir"}),
        ("import torch\ntorch.set_default_dtype(torch.float64)", {"set_default_dtype"}),
        ("torch.load('x', weights_only=False)", {"weights_only=False"}),
        ("def f():\n    import pickle", {"pickle"}),
        ("torch.load('x', weights_only=True)", set()),
    ],
)
def test_source_reader_finds_global_changes_and_unpickling(source, found):
    """The reader finds each construct that the tests above refuse."""
    assert set(forbidden_calls(ast.parse(source))) == found


def test_import_inside_try_counts_as_import_at_the_top():
    """An import inside a function does not count."""
    source = "try:\n    import torch\nexcept ImportError:\n    pass\ndef f():\n    import numpy\n"
    assert imported(at_import(ast.parse(source))) == {"torch"}
    assert imported(ast.walk(ast.parse(source))) == {"torch", "numpy"}
