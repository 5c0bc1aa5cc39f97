"""Several processes that learn one run together, under torchrun, on the CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from command_line import SMALL, results
from paths import PROGRAMS
from ranked_runs import gradients

from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.learner import learn
from lifelong_co.runs.data_parallel import ALONE, Ranks, joined
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.storage import checkpoint

PROGRAM = PROGRAMS / "ranked_runs.py"
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


def two(*command: object) -> str:
    """Run a program in two processes and return what they print."""
    done = subprocess.run(
        [*TORCHRUN, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROGRAM.parent)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of what two processes did."""
    folder = tmp_path_factory.mktemp("ranks")
    two(PROGRAM, folder, "whole", "stopped", "damaged", "ruined", "gradients")
    return folder


def states(folder: Path) -> list[dict]:
    """Return the last checkpoint of each process."""
    places = RunFolder(folder).checkpoints, RunFolder(folder).checkpoints / "rank-1"
    found = [checkpoint.latest(place) for place in places]
    return [state for _, state in found]


def test_parameters_are_one_and_buffers_are_two(both: Path) -> None:
    """After all steps every process has the same parameters and a shard of its own experiences."""
    first, second = states(both / "whole")
    for name, value in first["parameters"].items():
        assert torch.equal(value, second["parameters"][name])
    shards = [state["method"]["buffer"]["items"] for state in (first, second)]
    assert all(unit["behavior"].shape[0] == 2 for shard in shards for unit in shard)  # of B = 4
    nodes = [unit["instances"]["nodes"] for shard in shards for unit in shard]
    ours, theirs = nodes[: len(shards[0])], nodes[len(shards[0]) :]
    assert not any(
        torch.equal(one, other) for one in ours for other in theirs if one.shape == other.shape
    )


def test_stopped_by_one_process_it_goes_on_to_the_same_bytes(both: Path) -> None:
    """A stop that only the second asks for stops both; resumed they end as if never stopped."""
    assert results(both / "stopped") == results(both / "whole")
    for one, other in zip(states(both / "stopped"), states(both / "whole"), strict=True):
        for name, value in one["parameters"].items():
            assert torch.equal(value, other["parameters"][name])


def test_a_damaged_shard_takes_all_back_to_what_each_has(both: Path) -> None:
    """A run goes on from the latest step of which every process has a whole checkpoint."""
    assert results(both / "damaged") == results(both / "whole")
    for one, other in zip(states(both / "damaged"), states(both / "whole"), strict=True):
        for name, value in one["parameters"].items():
            assert torch.equal(value, other["parameters"][name])


def test_without_a_common_step_every_process_says_so(both: Path) -> None:
    """Neither goes on alone, nor begins anew over what is there."""
    assert "process" in (both / "ruined-0.txt").read_text()
    assert "no checkpoint can be used" in (both / "ruined-1.txt").read_text()


def test_averaged_gradients_are_those_of_the_whole_batch(both: Path) -> None:
    """Half a batch each, in two processes, gives what one process makes of all of it."""
    gradients(ALONE, both)
    whole = torch.load(both / "1-0.pt", weights_only=True)
    assert whole.abs().max() > 0
    for rank in (0, 1):
        torch.testing.assert_close(torch.load(both / f"2-{rank}.pt", weights_only=True), whole)


def test_the_command_line_speaks_once(tmp_path: Path) -> None:
    """`torchrun … lifelong-co run` learns together, and one process prints and reports."""
    tasks = tmp_path / "tasks.toml"
    tasks.write_text(
        'epochs = 1\nbatches = 2\nbatch_size = 4\ntasks = [{distribution = "U", size = 5}]\n'
    )
    arguments = ["run", "--tasks", tasks, "--out", tmp_path / "run", *SMALL]
    printed = two("-m", "lifelong_co_cli.main", *arguments)
    assert printed.count("report: ") == 1
    assert (tmp_path / "run" / "report.html").is_file()


def test_begun_by_two_it_is_not_continued_by_one(both: Path) -> None:
    """The other shards of the buffer would be lost."""
    folder = both / "whole"
    with pytest.raises(CheckpointError, match="expected 2 processes"):
        learn(prepare(RunFolder(folder).config(), folder, resume=True))


def test_a_batch_that_cannot_be_shared_is_refused() -> None:
    """All processes take as much."""
    with pytest.raises(ConfigError, match="multiple of the 3 processes, got 4"):
        Ranks(rank=0, count=3).share(4)


def test_half_an_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without torchrun's variables nobody would ever answer."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ConfigError, match="RANK"), joined():
        pass
