"""Jobs of a cluster: what submitit is given, and what its answers mean."""

import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep import cluster
from lifelong_co.experiments.sweep.cluster import ClusterEngine, ClusterJob, cluster_engine
from lifelong_co.experiments.sweep.conduct import conduct
from lifelong_co.experiments.sweep.engines import RefusedError


@attrs.define
class Job:
    """A job of submitit."""

    folder: Path
    state: str = "RUNNING"
    ended: bool = False
    failure: Exception | None = None
    asked: int = 0

    @property
    def paths(self):
        """Return where the output goes."""
        return SimpleNamespace(stdout=self.folder / "1_0_log.out")

    def done(self):
        """Return whether it has ended."""
        return self.ended

    def exception(self):
        """Return the error; submitit waits here."""
        self.asked += 1
        return self.failure

    def cancel(self, *, check):
        """Cancel it."""
        assert check
        if self.state == "FIXED":
            raise subprocess.CalledProcessError(1, "scancel")


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Put commands of Slurm that refuse everything first in the path."""
    pytest.importorskip("submitit")
    for name in ("sbatch", "srun", "scancel", "sacct"):
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\necho 'error: QOSMaxSubmitJobPerUserLimit' >&2\nexit 1\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path / "jobs"


def script(engine):
    """Return the lines of the script that sbatch gets."""
    return engine.executor._executor._make_submission_file_text("true", "1").splitlines()


@pytest.mark.filterwarnings("ignore:Setting 'additional_parameters' is deprecated")
def test_slurm_does_not_start_a_job_again(slurm):
    """The sweep resumes a run in a new job; one that Slurm started again would meet it."""
    assert "#SBATCH --no-requeue" in script(cluster_engine("slurm", slurm, 2, {}))
    for name in ("slurm_additional_parameters", "additional_parameters"):
        lines = script(cluster_engine("slurm", slurm, 2, {name: {"account": "routing"}}))
        assert {"#SBATCH --no-requeue", "#SBATCH --account=routing"} <= set(lines)


def test_jobs_do_not_import_files_of_the_working_directory(slurm):
    """A file `queue.py` there would be imported in place of the library's module."""
    engine = cluster_engine("slurm", slurm, 2, {})
    assert " -P -u -m submitit" in engine.executor._executor._submitit_command_str


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"timeout_min": "4h"}, "timeout_min"),
        ({"timeout_min": 1.5}, "timeout_min"),
        ({"tasks_per_node": 2}, "tasks_per_node: expected 1, got 2"),
        ({"slurm_nodes": 3}, "nodes: expected 1, got 3"),
        ({"slurm_ntasks_per_node": 2}, "ntasks_per_node: expected 1, got 2"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_refuses_a_parameter(slurm, given, words):
    """It is named in one line."""
    with pytest.raises(ConfigError, match=words) as raised:
        cluster_engine("slurm", slurm, 2, given)
    assert "\n" not in str(raised.value)


def test_says_why_the_queue_takes_no_job(slurm, plan):
    """With no run in progress there is nothing to wait for."""
    with pytest.raises(RefusedError, match=r"took no job: .*QOSMaxSubmitJobPerUserLimit"):
        conduct(plan, cluster_engine("slurm", slurm, 2, {}))


def test_a_job_that_died_is_asked_once_and_its_reason_is_logged(tmp_path):
    """A job can die before its run has written anything."""
    job = Job(tmp_path, ended=True, failure=RuntimeError("no output\nmodule: not found"))
    handle = ClusterJob(job, tmp_path / "run.log")
    assert [handle.poll() for _ in range(3)] == [-signal.SIGKILL] * 3
    assert job.asked == 1
    assert handle.log.read_text() == "no output\nmodule: not found\n"


def test_a_job_whose_output_cannot_be_decoded_has_died(tmp_path):
    """The other runs go on."""

    class Latin(Job):
        def exception(self):
            return b"gr\xfc\xdfe".decode()

    handle = ClusterJob(Latin(tmp_path, ended=True), tmp_path / "run.log")
    assert handle.poll() == -signal.SIGKILL
    assert "can't decode byte 0xfc" in handle.log.read_text()


def test_a_preempted_job_ends_after_a_while(tmp_path, monkeypatch):
    """Its run saves first. Submitit would wait for it to start again."""
    job = Job(tmp_path, state="PREEMPTED")
    handle = ClusterJob(job, tmp_path / "run.log")
    assert handle.poll() is None
    monkeypatch.setattr(cluster, "SAVES", 0)
    assert handle.poll() == -signal.SIGTERM


def test_a_job_that_is_stopped_in_the_queue_has_ended(tmp_path):
    """Otherwise submitit waits for its output. A job that has begun saves first."""
    job = Job(tmp_path, state="PENDING")
    handle = ClusterJob(job, tmp_path / "run.log")
    assert handle.poll() is None
    handle.stop()
    assert handle.poll() == -signal.SIGTERM

    job.paths.stdout.touch()
    begun = ClusterJob(job, tmp_path / "run.log")
    begun.stop()
    assert begun.poll() is None


def test_a_job_that_cannot_be_cancelled_has_not_ended(tmp_path):
    """It would go on beside those of the next sweep."""
    handle = ClusterJob(Job(tmp_path, state="FIXED"), tmp_path / "run.log")
    handle.stop()
    assert handle.poll() is None


def test_interrupts_wait_while_a_job_is_submitted(tmp_path):
    """Without this sbatch dies of a Ctrl-C, and nobody knows of its job."""
    seen = []

    def submit(*_):
        seen.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return Job(tmp_path)

    for name in ("slurm", "local"):
        executor = SimpleNamespace(cluster=name, submit=submit)
        ClusterEngine(1, executor).submit(["run"], tmp_path / "run.log")
    assert [signal.SIGINT in blocked for blocked in seen] == [True, False]
