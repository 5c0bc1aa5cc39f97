"""The choice of a file format by the suffix of a file."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from paths import FIXTURES

import lifelong_co as lco
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.formats import Format, read_file, suffixes
from lifelong_co.instance_files.vrplib_instances import read_instance


@pytest.mark.parametrize(
    ("name", "problem"),
    [("five.tsp", "tsp"), ("four.vrp", "cvrp"), ("seven.txt", "mtvrp"), ("four.atsp", "atsp")],
)
def test_suffix_decides_the_format(name: str, problem: str) -> None:
    """The content decides the problem."""
    assert read_file(FIXTURES / name).problem == problem
    assert Path(name).suffix in suffixes(problem)


def test_file_of_unknown_suffix_is_read_as_library_text(tmp_path: Path) -> None:
    """As before there were formats."""
    path = tmp_path / "five.dat"
    path.write_text((FIXTURES / "five.tsp").read_text())
    assert read_file(path).problem == "tsp"
    assert suffixes("orienteering") == ()


@pytest.mark.usefixtures("fresh_registry")
def test_plugin_reads_files_of_another_problem(tmp_path: Path, plugin) -> None:  # type: ignore[no-untyped-def]
    """A format is found by its suffix; something else than an instance is refused."""
    path = tmp_path / "five.mine"
    path.write_text((FIXTURES / "five.tsp").read_text())
    lco.register_plugin(plugin("register_file_formats", "mine", Format((".mine",), read_instance)))
    assert isinstance(read_file(path), FileInstance)
    lco.register_plugin(
        plugin("register_file_formats", "mine", Format((".mine",), lambda *_, **__: None))  # type: ignore[arg-type,return-value]
    )
    with pytest.raises(lco.PluginError, match=r"five\.mine: expected a FileInstance, got NoneType"):
        read_file(path)
    lco.register_plugin(plugin("register_file_formats", "mine", SimpleNamespace))
    with pytest.raises(lco.PluginError, match="suffixes"):
        read_file(path)
