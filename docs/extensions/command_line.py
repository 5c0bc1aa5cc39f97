"""The directive `command-line`: every command and option of `lifelong-co`, from the program."""

from collections.abc import Iterator

import typer
from docutils import nodes
from lifelong_co_cli.main import app as program
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def page() -> str:
    """Return all commands as Markdown, one heading each."""
    root = typer.main.get_command(program)
    return "\n\n".join(
        part for command in leaves("lifelong-co", root) for part in section(*command)
    )


def leaves(name: str, command: object) -> Iterator[tuple[str, object]]:
    """Yield each command with its full name; a group of commands yields what it holds."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for child, held in inner.items():
        yield from leaves(f"{name} {child}", held)


def section(name: str, command: object) -> Iterator[str]:
    """Yield the Markdown of one command: what it does, how it is called, its options."""
    context = typer.Context(command, info_name=name)
    yield f"## {name.removeprefix('lifelong-co ')}"
    yield f"```text\n{name} {' '.join(command.collect_usage_pieces(context))}\n```"
    yield (command.help or "").replace("\f", "").strip()
    panels: dict[str, list[str]] = {}
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:  # None: a hidden option
            panel = getattr(parameter, "rich_help_panel", None) or "Arguments and options"
            panels.setdefault(panel, []).append(row(*record))
    for panel, rows in panels.items():
        yield f"**{panel}**\n\n| | |\n|---|---|\n" + "\n".join(rows)


def row(names: str, text: str) -> str:
    """Return one line of a table: an option with what it takes, and its help."""
    escaped = text.replace("[", "&#91;").replace("|", "&#124;")
    return f"| `{names.replace('|', ', ')}` | {' '.join(escaped.split())} |"


class CommandLine(SphinxDirective):
    """``command-line``, without arguments."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the page; it is read again at every build."""
        self.env.note_reread()
        return self.parse_text_to_nodes(page(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
