"""Corrects what Sphinx makes of docstrings and signatures."""

from sphinx.application import Sphinx


def whole(
    _app: Sphinx, what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Begin the docstring of an attribute with an empty comment.

    Without it napoleon takes the text before the first colon for a type.
    """
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]


def without_placeholder(
    _app: Sphinx, what: str, _name: str, _thing: object, _options: object, signature: str, _to: str
) -> tuple[str, None] | None:
    """Remove the arguments of protocols, which nobody constructs."""
    return ("", None) if (what, signature) == ("class", "(*args, **kwargs)") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension; napoleon comes later, with priority 500."""
    app.connect("autodoc-process-docstring", whole, priority=400)
    app.connect("autodoc-process-signature", without_placeholder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
