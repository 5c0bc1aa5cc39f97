"""Commands whose help shows ``--help`` as an option without a value; typer writes ``<bool>``."""

from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from lifelong_co_cli.options import FLAG


class Command(TyperCommand):
    """A command."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the option of typer with our metavar."""
        return _as_flag(super().get_help_option(ctx))


class Group(TyperGroup):
    """A group of commands."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the option of typer with our metavar."""
        return _as_flag(super().get_help_option(ctx))


def _as_flag(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.metavar = FLAG
    return option
