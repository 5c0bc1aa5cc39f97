"""How a sweep is carried out is kept in its folder."""

import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.execution import (
    FILE,
    Execution,
    read_execution,
    write_execution,
)


@pytest.mark.parametrize(
    "execution",
    [
        Execution(),
        Execution(workers=3, retries=0, engine="slurm", engine_options=("a=1", "b=2")),
    ],
)
def test_execution_is_written_and_read(execution, tmp_path):
    """All fields come back."""
    write_execution(tmp_path, execution)
    assert read_execution(tmp_path) == execution


def test_folder_of_an_earlier_version_has_the_defaults(tmp_path):
    """It has no such file."""
    assert read_execution(tmp_path) == Execution()


def test_damaged_file_is_refused(tmp_path):
    """The error names the file."""
    (tmp_path / FILE).write_text("workers = 'two'")
    with pytest.raises(ConfigError, match=r"execution\.toml: workers"):
        read_execution(tmp_path)


def test_given_options_replace_those_of_the_folder():
    """Another engine does not take the parameters of the one before."""
    last = Execution(workers=3, retries=1, engine="slurm", engine_options=("a=1",))
    assert last.changed(None, None, None, None) == last
    assert last.changed(2, 0, None, ["b=2"]) == Execution(
        workers=2, retries=0, engine="slurm", engine_options=("b=2",)
    )
    assert last.changed(None, None, "local", None) == Execution(workers=3, retries=1)
