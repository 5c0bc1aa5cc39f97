"""Reads the source: which modules there are, and what they import, name and change."""

import ast
from collections.abc import Iterator
from pathlib import Path

from paths import ROOT

PACKAGES = {
    "lifelong_co": ROOT / "lifelong_co",
    "lifelong_co_adapters": ROOT / "adapters" / "lifelong_co_adapters",
    "lifelong_co_plugins": ROOT / "plugins" / "lifelong_co_plugins",
    "lifelong_co_cli": ROOT / "cli" / "lifelong_co_cli",
}
CORE = PACKAGES["lifelong_co"]
MODULES = [path for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))]


def part(module: str) -> str:
    """Return the part that a module of the core is in, e.g. ``replay`` or ``experiments/paper``."""
    names = module.split(".")[1:]
    if names[:1] == ["experiments"] and (CORE / "experiments" / names[1]).is_dir():
        return "/".join(names[:2])
    return names[0]


def parts_imported(path: Path) -> set[str]:
    """Return the other parts of the core that a module imports."""
    found = {
        part(module)
        for module in modules_imported(parse(path))
        if module.startswith("lifelong_co.") and module.split(".")[1] != "__init__"
    }
    return found - {part(dotted(path))} if path.is_relative_to(CORE) else found


def dotted(path: Path) -> str:
    """Return the import name of a module of the core."""
    return ".".join(("lifelong_co", *path.relative_to(CORE).with_suffix("").parts))


def modules_imported(tree: ast.Module) -> set[str]:
    """Return the modules that a module imports; ``from a import b`` is ``a.b`` if b is a module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = CORE.parent / Path(*node.module.split("."))
            for alias in node.names:
                is_module = (inside / alias.name).is_dir() or (
                    inside / f"{alias.name}.py"
                ).is_file()
                found.add(f"{node.module}.{alias.name}" if is_module else node.module)
    return found


def core_modules() -> list[Path]:
    """Return the modules of the core, without `__init__.py`, which only imports names."""
    return [path for path in sorted(CORE.rglob("*.py")) if path.name != "__init__.py"]


def name(path: Path) -> str:
    """Return a path as errors show it."""
    return str(path.relative_to(ROOT))


def parse(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """Return the top-level packages that the nodes import; our modules have no relative imports."""
    packages: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            packages.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            packages.add((node.module or "").split(".")[0])
    return packages


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run at import: no function bodies, no ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from at_import(child)


def forbidden_calls(tree: ast.Module) -> Iterator[str]:
    """Yield the names of what changes global state or runs code from a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=called) | ast.Name(id=called) | ast.alias(name=called):
                if called == "chdir" or called.startswith("set_default_"):
                    yield called
            case ast.keyword(arg="weights_only", value=ast.Constant(value=False)):
                yield "weights_only=False"
    yield from imported(ast.walk(tree)) & {"pickle", "cPickle", "dill", "cloudpickle", "shelve"}


def strings(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module, without docstrings."""
    bodies = (node for node in ast.walk(tree) if hasattr(node, "body"))
    statements = (each for node in bodies if isinstance(node.body, list) for each in node.body)
    documentation = {id(each.value) for each in statements if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) not in documentation and isinstance(node, ast.Constant):
            yield from [node.value] if isinstance(node.value, str) else []
