"""What ARCHITECTURE.md promises, held by reading the source: floors, packages, no surprises."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT

PACKAGES = {
    "lifelong_co": ROOT / "lifelong_co",
    "lifelong_co_adapters": ROOT / "adapters" / "lifelong_co_adapters",
    "lifelong_co_plugins": ROOT / "plugins" / "lifelong_co_plugins",
    "lifelong_co_cli": ROOT / "cli" / "lifelong_co_cli",
}
MODULES = [path for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))]
# Tests are left out: they may change such settings to see that we cope, and set them back.
SHOWN_TO_USERS = [
    *MODULES,
    *(path for folder in ("benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")),
]
# The floors of the house: what each package may not import, at any depth of nesting.
FORBIDDEN = {
    "lifelong_co": {"lifelong_co_adapters", "lifelong_co_plugins", "lifelong_co_cli", "typer"},
    "lifelong_co_adapters": {"lifelong_co_cli", "typer"},
    "lifelong_co_plugins": {"lifelong_co_cli", "typer"},
    "lifelong_co_cli": set(),
}
# What `lifelong-co --help` cannot wait for. `import lifelong_co`, of any module, brings torch.
SLOW = {
    "torch",
    "numpy",
    "matplotlib",
    "lifelong_co",
    "lifelong_co_adapters",
    "lifelong_co_plugins",
}
# Puts back what official code has changed, which takes the same calls.
PUTS_BACK = ROOT / "adapters" / "lifelong_co_adapters" / "official" / "untouched.py"
LONGEST = 250
# design.md wants every contract in one file; each tensor's shape is then written once.
LONGER = {"lifelong_co/protocols.py": 366}


def name(path: Path) -> str:
    """Return a path as errors show it."""
    return str(path.relative_to(ROOT))


def parse(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """Return the top-level packages that the nodes import; none of ours imports relatively."""
    packages: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            packages.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            packages.add((node.module or "").split(".")[0])
    return packages


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported: no function bodies, no ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from at_import(child)


def surprises(tree: ast.Module) -> Iterator[str]:
    """Yield what changes the process behind its owner's back or runs code from a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=called) | ast.Name(id=called) | ast.alias(name=called):
                if called == "chdir" or called.startswith("set_default_"):
                    yield called
            case ast.keyword(arg="weights_only", value=ast.Constant(value=False)):
                yield "weights_only=False"
    yield from imported(ast.walk(tree)) & {"pickle", "cPickle", "dill", "cloudpickle", "shelve"}


@pytest.mark.parametrize("package", PACKAGES)
def test_floors(package):
    """The core knows no adapter, plugin or command line; adapters and plugins no command line."""
    for path in PACKAGES[package].rglob("*.py"):
        crossed = imported(ast.walk(parse(path))) & FORBIDDEN[package]
        assert not crossed, f"{name(path)} imports {crossed}"


def test_commands_import_what_is_slow_inside_functions():
    """No module of the command line names torch, numpy, matplotlib or the core at its top."""
    for path in PACKAGES["lifelong_co_cli"].rglob("*.py"):
        slow = imported(at_import(parse(path))) & SLOW
        assert not slow, f"{name(path)} imports {slow} outside functions"


def test_command_line_starts_without_torch():
    """Importing the command line, with all it imports in turn, leaves the slow packages out."""
    program = "import sys, lifelong_co_cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert not set(done.stdout.split()) & SLOW


def test_packages_hold_no_logic():
    """An `__init__.py` has a docstring, imports and `__all__`, nothing else."""
    for path in MODULES:
        if path.name == "__init__.py":
            tree = parse(path)
            assert ast.get_docstring(tree), name(path)
            assert not [ast.unparse(node) for node in tree.body[1:] if is_logic(node)], name(path)


def is_logic(statement: ast.stmt) -> bool:
    """Tell whether a statement is neither an import nor `__all__`."""
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) != "__all__"
    return not isinstance(statement, ast.Import | ast.ImportFrom)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package):
    """Each package tells type checkers that it is annotated, and every folder is a package."""
    assert (PACKAGES[package] / "py.typed").is_file()
    folders = {path.parent for path in PACKAGES[package].rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_no_surprises():
    """Nothing changes the working directory or torch's defaults, and nothing unpickles."""
    read = (path for path in SHOWN_TO_USERS if path != PUTS_BACK)
    found = {name(path): list(surprises(parse(path))) for path in read}
    assert {path: what for path, what in found.items() if what} == {}


def test_modules_are_short():
    """A module is one idea, of at most 250 lines."""
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    too_long = {path: n for path, n in lengths.items() if n > LONGER.get(path, LONGEST)}
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
def test_surprises_are_seen(source, found):
    """The reader of sources finds each thing it is meant to refuse."""
    assert set(surprises(ast.parse(source))) == found


def test_nested_imports_are_seen():
    """An import in a `try` counts as one at the top, one in a function does not."""
    source = "try:\n    import torch\nexcept ImportError:\n    pass\ndef f():\n    import numpy\n"
    assert imported(at_import(ast.parse(source))) == {"torch"}
    assert imported(ast.walk(ast.parse(source))) == {"torch", "numpy"}
