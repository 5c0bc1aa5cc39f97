"""An import of official code leaves global state as it was."""

import sys

import pytest
import torch
from invented_codebases import process, write
from lifelong_co_adapters.official.loading import load

MISBEHAVIOUR = """
import os, random, sys, warnings
import numpy, torch
os.chdir({elsewhere!r})
sys.path.insert(0, {elsewhere!r})
sys.dont_write_bytecode = not sys.dont_write_bytecode
random.seed(9)
numpy.random.seed(9)
torch.manual_seed(9)
torch.set_default_device("meta")
torch.set_grad_enabled(False)
{tensors}
warnings.filterwarnings("ignore")
warnings.warn("nobody shall see this")
import helper
{end}
"""

TENSORS = (
    "torch.set_default_dtype(torch.float64)",
    "torch.set_default_tensor_type(torch.DoubleTensor)",
)


@pytest.mark.parametrize("tensors", TENSORS)
@pytest.mark.parametrize("end", ["", "raise OSError('broken')"])
def test_global_state_is_restored_after_an_import(tmp_path, end, tensors):
    """Also if the import raises; then none of its modules remains."""
    code = MISBEHAVIOUR.format(elsewhere=str(tmp_path), end=end, tensors=tensors)
    root = write(tmp_path / "code", {"bad.py": code, "helper.py": ""})
    before, names = process(), set(sys.modules)
    if end:
        with pytest.raises(OSError, match="broken"):
            load(root, "bad")
        left = set(sys.modules) - names
        assert {name for name in left if "." in name} == set()
    else:
        load(root, "bad")
    assert process() == before


def test_default_device_of_the_caller_does_not_affect_the_code(tmp_path):
    """The code makes tensors on torch's default device; the caller's device stays set."""
    root = write(tmp_path, {"made.py": "import torch\ndevice = torch.empty(0).device\n"})
    with torch.device("meta"):
        assert load(root, "made").device == torch.device("cpu")
        assert torch.empty(0).device == torch.device("meta")
