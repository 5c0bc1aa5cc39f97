"""What made a run: read back, noted once, and completed when a run is resumed."""

import json
import platform
import subprocess
from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import tiny_config

from lifelong_co.errors import FileFormatError, Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs import provenance
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.provenance import Entry, Maker

ONE = Maker(lifelong_co="1.0", torch="2.6")
TWO = attrs.evolve(ONE, torch="2.7")


def test_present_maker_is_complete() -> None:
    """Versions, machine and threads are known here, and there is no GPU in a run on the CPU."""
    made = provenance.present("cpu")
    assert made.torch == torch.__version__
    assert made.threads == torch.get_num_threads()
    assert made.gpu == ""
    known = (made.lifelong_co, made.numpy, made.python, made.platform, made.cpu)
    assert provenance.UNKNOWN not in known
    assert provenance.present("cpu") == made


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (
            "model\t: 17\nmodel name\t: A: B\ncpu family\t: 25\n\nmodel\t: 18\n",
            "A: B, family 25, model 17",
        ),
        ("model name\t: A\n", "A"),
        ("Features\t: fp\n", "B"),
        (None, "B"),
    ],
)
def test_the_processor_is_told_apart_from_others_of_its_name(
    monkeypatch: pytest.MonkeyPatch, lines: str | None, shown: str
) -> None:
    """Family and model follow the name, where Linux says them."""

    def text(*_: object, **__: object) -> str:
        if lines is None:
            raise FileNotFoundError
        return lines

    monkeypatch.setattr(Path, "read_text", text)
    monkeypatch.setattr(platform, "processor", lambda: "B")
    assert provenance.processor() == shown


def test_entries_follow_the_steps(tmp_path: Path) -> None:
    """A new entry only for another maker; a run that goes back drops the later entries."""
    provenance.note(tmp_path, 0, ONE)
    before = (tmp_path / provenance.FILE).read_bytes()
    provenance.note(tmp_path, 10, ONE)
    assert (tmp_path / provenance.FILE).read_bytes() == before
    provenance.note(tmp_path, 20, TWO)
    assert provenance.read(tmp_path) == [Entry(0, ONE), Entry(20, TWO)]
    provenance.note(tmp_path, 15, ONE)  # killed before the first save, then resumed with the first
    assert provenance.read(tmp_path) == [Entry(0, ONE)]


def test_steps_of_older_versions_are_unknown(tmp_path: Path) -> None:
    """A folder without the file, and one that was begun without it."""
    assert provenance.read(tmp_path) == [Entry(0, Maker())]
    provenance.note(tmp_path, 5, ONE)
    assert provenance.read(tmp_path) == [Entry(0, Maker()), Entry(5, ONE)]
    assert Maker().versions == "unknown"


@pytest.mark.parametrize("text", ["{", "[1]", '[{"torch": "2.6"}]', "\udcff"])
def test_damaged_file_is_named(text: str, tmp_path: Path) -> None:
    """It is not replaced: the user decides."""
    (tmp_path / provenance.FILE).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FileFormatError, match=r"provenance\.json: expected a list"):
        provenance.note(tmp_path, 0, ONE)


def test_keys_of_later_versions_are_left_out(tmp_path: Path) -> None:
    """So that an older version can read the folder."""
    row = {"from_step": 0, "torch": "2.6", "lifelong_co": "1.0", "colour": "red"}
    (tmp_path / provenance.FILE).write_text(json.dumps([row]))
    assert provenance.read(tmp_path) == [Entry(0, ONE)]


def test_commit_of_a_checkout(tmp_path: Path) -> None:
    """A change in a package is seen; another project around an installed package is not taken."""

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, timeout=60)

    assert provenance.checkout(tmp_path) == ("unknown", False)
    git("init", "-q")
    (tmp_path / "lifelong_co").mkdir()
    module = tmp_path / "lifelong_co" / "__init__.py"
    module.touch()
    assert provenance.checkout(tmp_path) == ("unknown", False)  # not tracked
    git("add", ".")
    git("commit", "-q", "-m", "first")
    commit, changed = provenance.checkout(tmp_path)
    assert len(commit) == 40
    assert not changed
    (tmp_path / "notes.txt").touch()
    assert provenance.checkout(tmp_path) == (commit, False)
    module.write_text("x = 1\n")
    assert provenance.checkout(tmp_path) == (commit, True)
    made = attrs.evolve(ONE, commit=commit, changed=True)
    assert made.versions == f"lifelong-co 1.0 ({commit[:12]}+), torch 2.6"


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ({"url": "https://x.org/x.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}}, "ab12"),
        ({"url": "file:///x", "dir_info": {}}, "unknown"),
        (None, "unknown"),
    ],
)
def test_commit_that_pip_installed(
    origin: object, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``direct_url.json`` counts only for the packages beside it."""
    info = tmp_path / "lifelong_co-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lifelong-co\nVersion: 1.0\n")
    if origin:
        (info / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(tmp_path)
    assert provenance.installed(tmp_path) == expected
    assert provenance.installed(tmp_path / "elsewhere") == "unknown"


def test_run_notes_who_made_which_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run resumed elsewhere gets an entry; resuming a finished run changes nothing."""
    here = provenance.present("cpu")
    with pytest.raises(Interrupted):
        learn(prepare(tiny_config(), tmp_path / "run"), stop=lambda: True)
    assert provenance.read(tmp_path / "run") == [Entry(0, here)]
    monkeypatch.setattr(provenance, "present", lambda device, processes, plugins: TWO)  # noqa: ARG005
    learn(prepare(tiny_config(), tmp_path / "run", resume=True))
    assert provenance.read(tmp_path / "run") == [Entry(0, here), Entry(1, TWO)]
    monkeypatch.setattr(provenance, "present", lambda device, processes, plugins: ONE)  # noqa: ARG005
    learn(prepare(tiny_config(), tmp_path / "run", resume=True))
    assert provenance.read(tmp_path / "run") == [Entry(0, here), Entry(1, TWO)]


def test_other_threads_are_said(tmp_path: Path) -> None:
    """The end has other bytes then; what is unknown gives no warning."""
    made = provenance.Maker(torch="2.13.0", cpu="Zen 4", threads=2)
    assert provenance.differences(tmp_path, made) == []
    provenance.note(tmp_path, 0, provenance.Maker())
    assert provenance.differences(tmp_path, made) == []
    provenance.note(tmp_path, 1, made)
    assert provenance.differences(tmp_path, made) == []
    (said,) = provenance.differences(tmp_path, attrs.evolve(made, threads=1))
    assert said.endswith("so the end can have other bytes (threads: 2 before, 1 now)")
