"""Runs found in folders."""

import shutil

import imported_starts
import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.paper.collect import collect


def test_runs_are_found_below_a_sweeps_folder(root, tmp_path):
    """First parts that runs share and unfinished runs are left out, the latter by name."""
    (tmp_path / "sweep.toml").write_text("")
    shutil.copytree(root / "alpha", tmp_path / "runs" / "alpha")
    shutil.copytree(root / "alpha", tmp_path / "runs" / "again")
    shutil.copytree(root / "alpha", tmp_path / "shared" / "first")
    torn = shutil.copytree(root / "kld", tmp_path / "runs" / "torn")
    (torn / "costs.csv").unlink()
    found = collect([tmp_path, tmp_path / "runs"])
    assert [run.path.name for run in found.runs] == ["again"]
    assert any("torn: the run is not finished" in line for line in found.left_out)
    assert any("alpha: the same configuration and seed as" in line for line in found.left_out)


def test_a_run_whose_method_is_not_installed_is_left_out(root, tmp_path):
    """The other runs make a report."""
    shutil.copytree(root / "alpha", tmp_path / "alpha")
    other = shutil.copytree(root / "alpha", tmp_path / "theirs")
    text = (other / "config.toml").read_text()
    (other / "config.toml").write_text(text.replace('method = "llr-bc"', 'method = "theirs"'))
    found = collect([tmp_path])
    assert [run.path.name for run in found.runs] == ["alpha"]
    assert any("Unknown method 'theirs'" in line for line in found.left_out)


def test_a_folder_without_finished_runs_is_refused(root, tmp_path):
    """Missing, empty, with nothing finished, or itself an unfinished run: the error says which."""
    with pytest.raises(ConfigError, match="absent: expected a folder of runs, found nothing"):
        collect([tmp_path / "absent"])
    with pytest.raises(ConfigError, match="expected finished runs in it, found none"):
        collect([tmp_path])
    run = shutil.copytree(root / "kld", tmp_path / "run")
    (run / "costs.csv").unlink()
    with pytest.raises(ConfigError, match=r"none of them can be used: .*not finished"):
        collect([tmp_path])
    with pytest.raises(ConfigError, match="run: the run is not finished"):
        collect([root, run])


def test_start_counts_only_if_it_is_given(root, tmp_path):
    """A start below a folder is left out by name, because its tests take time."""
    imported_starts.write(tmp_path / "start")
    shutil.copytree(root / "alpha", tmp_path / "alpha")
    below = collect([tmp_path])
    assert below.starts == ()
    assert any(line.startswith(f"{tmp_path / 'start'}: ") for line in below.left_out)
    given = collect([tmp_path / "alpha", tmp_path / "start"])
    assert [start.path for start in given.starts] == [tmp_path / "start"]
    with pytest.raises(ConfigError, match=r"start: expected finished runs on \w+ beside it"):
        collect([tmp_path / "start"])
    assert given.left_out == ()


def test_a_linked_run_counts_and_a_link_that_leads_back_ends(root, tmp_path):
    """Runs can lie on another disk."""
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "linked").symlink_to(root / "alpha")
    (runs / "back").symlink_to(tmp_path)
    found = collect([runs])
    assert [run.path.name for run in found.runs] == ["linked"]
    assert found.left_out == ()
