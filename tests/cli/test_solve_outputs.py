"""Where solutions go; `test_solve.py` runs the command."""

import pytest
from lifelong_co_cli.solve_outputs import check_outputs, make_folders, places
from paths import FIXTURES

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.formats import read_file


def test_missing_folder_of_several_is_made(tmp_path):
    """As by the other commands; it is made only when all is checked."""
    files = [FIXTURES / "four.vrp", FIXTURES / "five.tsp"]
    instances, out = [read_file(file) for file in files], tmp_path / "new" / "sols"
    targets = places(files, instances, out, None)
    assert targets == [(out / "four.sol", None), (out / "five.tour", None)]
    for file, (target, plot) in zip(files, targets, strict=True):
        check_outputs(file, target, plot, tmp_path, overwrite=False, new_folder=True)
    with pytest.raises(ConfigError, match=r"four\.sol: cannot be written"):
        check_outputs(files[0], targets[0][0], None, tmp_path, overwrite=False)
    assert not out.exists()
    make_folders({"--out": out, "--plot": None})
    assert out.is_dir()


def test_a_folder_of_one_file_is_a_folder(tmp_path):
    """So `solve *.vrp --out sols` does the same whether the pattern matches one file or several."""
    file, sols = FIXTURES / "four.vrp", tmp_path / "sols"
    sols.mkdir()
    instances = [read_file(file)]
    assert places([file], instances, sols, sols) == [(sols / "four.sol", sols / "four.png")]
    assert places([file], instances, sols / "a", None) == [(sols / "a", None)]
    assert places([file], instances, None, sols / "a.png")[0][1] == sols / "a.png"


def test_file_is_no_folder_of_several(tmp_path):
    """A name of a file is refused, whether the file exists or not; so is a folder below a file."""
    files = [FIXTURES / "four.vrp", FIXTURES / "five.tsp"]
    instances, taken = [read_file(file) for file in files], tmp_path / "taken"
    taken.touch()
    for out in (taken, tmp_path / "a.sol"):
        with pytest.raises(ConfigError, match=f"--out: expected a folder .*got {out}"):
            places(files, instances, out, None)
    with pytest.raises(ConfigError, match=r"--plot: .*taken/below cannot be made"):
        make_folders({"--out": None, "--plot": taken / "below"})
