"""The notebooks run from top to bottom, and are committed with their outputs."""

import json
import sys
from types import ModuleType
from typing import Any

import matplotlib
import matplotlib.pyplot
import pytest
import torch
from paths import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(path: Any) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run_in_order(path, tmp_path, monkeypatch, fresh_registry):  # noqa: ARG001
    """The code of a notebook runs as it does in Jupyter, in one module."""
    monkeypatch.chdir(tmp_path)  # the notebook changes the folder; this brings it back
    matplotlib.use("agg")
    notebook = ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", notebook)
    with torch.random.fork_rng(devices=[]):
        for number, cell in enumerate(code_cells(path), start=1):
            code = compile("".join(cell["source"]), f"{path.name}, code cell {number}", "exec")
            exec(code, notebook.__dict__)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_committed(path):
    """Every code cell was executed, in order and without an error."""
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert kinds <= {"stream", "display_data", "execute_result"}
