"""Shows a notebook with the outputs stored in it, as Markdown; nothing is executed."""

import json
from typing import Any

from sphinx.application import Sphinx


def as_markdown(notebook: dict[str, Any]) -> str:
    """Return a notebook (format 4) as Markdown: text, code, printed lines and figures."""
    return "\n\n".join(part for cell in notebook["cells"] for part in parts(cell)) + "\n"


def parts(cell: dict[str, Any]) -> list[str]:
    """Return the Markdown of one cell and of its outputs."""
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return [source]
    return [fenced("python", source), *(shown(output) for output in cell["outputs"])]


def shown(output: dict[str, Any]) -> str:
    """Return the Markdown of one output: a PNG figure, or text."""
    if output["output_type"] == "stream":
        return fenced("text", "".join(output["text"]))
    data = output["data"]
    if "image/png" in data:
        picture = "".join(data["image/png"]).strip()
        return f'<img alt="output" src="data:image/png;base64,{picture}">'
    return fenced("text", "".join(data["text/plain"]))


def fenced(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the JSON of a notebook by Markdown before it is parsed."""
    if str(app.env.doc2path(name)).endswith(".ipynb"):
        source[0] = as_markdown(json.loads(source[0]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
