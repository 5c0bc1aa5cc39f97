"""Imports of official codebases side by side and without trace, on invented codebases."""

import copy
import inspect
import pickle
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import pytest
from invented_codebases import process, write
from lifelong_co_adapters.official.loading import load

from lifelong_co.errors import ConfigError


@pytest.fixture
def codebases(tmp_path):
    """Return two codebases whose modules have the same names."""
    return [
        write(
            tmp_path / name,
            {
                "model.py": "import utils.tools\nimport utils.tools as tools\n"
                "from encoder import Encoder\nfrom utils import numbers, tools as again\n"
                "from utils.tools import *\n"
                f"class Model:\n    name = {name!r}\n    tools = utils.tools\n"
                "def later():\n    from late import value\n    return value\n",
                "encoder.py": f"class Encoder:\n    name = {name!r}\n",
                "utils/__init__.py": "from . import numbers\nfrom .numbers import ONE\n",
                "utils/tools.py": f"NAME = {name!r}\nfrom .. import encoder\n",
                "utils/numbers.py": "ONE = 1\n",
                "late.py": f"value = {name!r}\n",
                "folder/inside.py": "import encoder\nencoded = encoder.Encoder\n",
            },
        )
        for name in ("one", "two")
    ]


def test_codebases_with_equal_module_names_are_separate(codebases):
    """Each codebase imports only its modules, by any form of import."""
    for root, name in zip(codebases, ("one", "two"), strict=True):
        model = load(root, "model")
        assert model.Model.name == model.Encoder.name == model.tools.NAME == model.NAME == name
        assert model.Model.tools is model.tools is model.again
        assert model.numbers.ONE == model.utils.ONE == 1
        assert load(root, "utils.tools") is model.tools
        assert load(root, "folder.inside").encoded is model.Encoder
        assert model.later() == name


def test_loading_twice_returns_the_same_module(codebases):
    """The classes and the imports inside are the same, too."""
    first = load(codebases[0], "model")
    assert load(codebases[0], "model") is first
    assert load(codebases[0], "encoder").Encoder is first.Encoder
    assert load(codebases[1], "model") is not first


def test_classes_can_be_pickled_copied_and_inspected(codebases):
    """The private name is a real one: pickle finds the class, inspect its source."""
    model = load(codebases[0], "model").Model
    assert pickle.loads(pickle.dumps(model)) is model
    assert type(copy.deepcopy(model())) is model
    assert inspect.getsource(model).startswith("class Model:")
    assert inspect.getsourcefile(model) == str(codebases[0] / "model.py")


def test_import_leaves_no_public_trace(codebases):
    """No public name, no path, no setting, and no file in the codebases' folders."""
    files = sorted(codebases[0].rglob("*"))
    before = process()
    load(codebases[0], "model").later()
    assert process() == before
    assert sorted(codebases[0].rglob("*")) == files


def test_public_modules_of_the_same_name_do_not_change(codebases, monkeypatch):
    """A module imported as `utils` before stays, and the codebase does not get it."""
    public = types.ModuleType("utils")
    monkeypatch.setitem(sys.modules, "utils", public)
    assert load(codebases[0], "model").utils is not public
    assert sys.modules["utils"] is public


def test_failed_import_can_be_repeated(tmp_path):
    """A module added after the failure is found; nothing of the first import is kept."""
    root = write(tmp_path, {"a.py": "import utils.b\n", "utils/b.py": "import torch_nowhere\n"})
    with pytest.raises(ModuleNotFoundError, match="torch_nowhere"):
        load(root, "a")
    stand_in = types.ModuleType("torch_nowhere")
    assert load(root, "a", {"torch_nowhere": stand_in}).utils.b.torch_nowhere is stand_in


def test_stand_ins_exist_only_during_the_import(tmp_path):
    """Modules and parts of packages get them; later, and in public, they do not exist."""
    root = write(
        tmp_path,
        {
            "a.py": "from far.off import knn\nimport far.off as f\nimport far\nimport b\n"
            "def later():\n    import far\n",
            "b.py": "from far import top\n",
        },
    )
    far, off = types.ModuleType("far"), types.ModuleType("far.off")
    far.top, far.off, off.knn = 1, off, 2
    module = load(root, "a", {"far": far, "far.off": off})
    assert (module.knn, module.f, module.far, module.b.top) == (2, off, far, 1)
    assert "far" not in sys.modules
    with pytest.raises(ModuleNotFoundError, match="far"):
        module.later()


def test_more_roots_are_searched_in_order(tmp_path):
    """The first folder comes first, then the others, as with `sys.path` in their scripts."""
    write(tmp_path, {"problem.py": "NAME = 'parent'\n", "model.py": "NAME = 'not this'\n"})
    write(tmp_path / "own", {"model.py": "from problem import NAME\n"})
    assert load(tmp_path / "own", "model", roots=[tmp_path]).NAME == "parent"
    with pytest.raises(ModuleNotFoundError, match="problem"):
        load(tmp_path / "own", "model")


def test_missing_module_is_named(tmp_path):
    """The error has the searched folder; a missing import inside raises Python's error."""
    with pytest.raises(ConfigError, match=f"'nowhere': expected in {tmp_path}"):
        load(tmp_path, "nowhere")
    with pytest.raises(ConfigError, match=r"'nowhere\.inside'"):
        load(tmp_path, "nowhere.inside")


def test_threads_get_the_same_module(tmp_path):
    """With several threads the code runs once, and all get the complete module."""
    slow = "import time\ntime.sleep(0.02)\nimport part\nwhole = True\n"
    root = write(tmp_path, {"slow.py": slow, "part.py": "runs = []\nruns.append(1)\n"})
    barrier = threading.Barrier(8)

    def ask(_):
        barrier.wait()
        module = load(root, "slow")
        return module, module.whole

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(8)))
    assert {id(module) for module, _ in found} == {id(found[0][0])}
    assert found[0][0].part.runs == [1]
