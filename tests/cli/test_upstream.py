"""`lifelong-co upstream` fetches and lists official codebases; here they are local repositories."""

import subprocess
from pathlib import Path

import attrs
import pytest
from command_line import call
from lifelong_co_adapters.official import fetching, locate
from lifelong_co_adapters.official.upstreams import UPSTREAMS

GITHUB = "https://github.com/"


def git(folder, *arguments):
    """Run git and return what it printed."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.strip()


def write_commit(folder, text):
    """Commit a file and return the hash."""
    (folder / "code.py").write_text(text)
    git(folder, "add", "code.py")
    git(folder, "commit", "--quiet", "-m", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def github(tmp_path, monkeypatch):
    """Put repositories in the place of the official ones; the commit before the last is pinned."""
    folder = tmp_path / "github"
    settings = {
        f"url.file://{folder}/.insteadOf": GITHUB,
        "protocol.file.allow": "always",
        "user.name": "nobody",
        "user.email": "nobody@localhost",
        "init.defaultBranch": "main",
    }
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    for index, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{index}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{index}", value)
    for name in ("POMO", "INViT"):
        upstream = UPSTREAMS[name]
        source = folder / upstream.url.removeprefix(GITHUB)
        source.mkdir(parents=True)
        git(source, "init", "--quiet")
        commit = write_commit(source, "pinned")
        write_commit(source, "later")
        monkeypatch.setitem(UPSTREAMS, name, attrs.evolve(upstream, commit=commit))
    for name in set(UPSTREAMS) - {"POMO", "INViT"}:
        monkeypatch.delitem(UPSTREAMS, name)
    monkeypatch.delenv(locate.VARIABLE, raising=False)
    # As in an installed wheel, so that no test reaches the checkout that the tests lie in.
    checkout_is(monkeypatch, None)
    return folder


def checkout_is(monkeypatch, folder):
    """Say which checkout the package lies in."""
    for module in (locate, fetching):
        monkeypatch.setattr(module, "checkout", lambda: folder)


def head(folder):
    """Return the commit that is checked out."""
    return git(folder, "rev-parse", "HEAD")


def assert_one_line(outcome, *parts):
    """Check that a command ended with status 2 and one line that has these parts."""
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("lifelong-co: ")
    assert outcome.err.count("\n") == 1
    for part in parts:
        assert part in outcome.err


@pytest.mark.usefixtures("github")
def test_fetch_into_a_folder(tmp_path, monkeypatch):
    """The pinned commit is cloned, not the last, and the user is told how to have it used."""
    into = tmp_path / "new" / "there"
    outcome = call("upstream", "fetch", "--into", into)
    assert (outcome.status, outcome.err) == (0, "")
    pinned = [upstream.commit for upstream in UPSTREAMS.values()]
    assert outcome.out.splitlines() == [
        f"POMO: {pinned[0][:12]} in {into / 'POMO'}",
        f"INViT: {pinned[1][:12]} in {into / 'INViT'}",
        f"To use this code, set LIFELONG_CO_UPSTREAM={into}",
    ]
    assert [head(into / name) for name in UPSTREAMS] == pinned
    assert sorted(path.name for path in into.iterdir()) == ["INViT", "POMO"]
    assert (into / "POMO" / "code.py").read_text() == "pinned"

    monkeypatch.setenv(locate.VARIABLE, str(into))
    assert locate.upstream("POMO") == into / "POMO"
    assert "To use" not in call("upstream", "fetch", "POMO", "--into", into).out


def test_fetch_goes_where_the_variable_points(github, tmp_path, monkeypatch):
    """Without --into; a clone at another commit is brought to the pinned one, even a new one."""
    monkeypatch.setenv(locate.VARIABLE, str(tmp_path / "place"))
    assert call("upstream", "fetch", "POMO").status == 0
    clone = tmp_path / "place" / "POMO"
    assert head(clone) == UPSTREAMS["POMO"].commit
    assert not (tmp_path / "place" / "INViT").exists()

    newer = write_commit(github / UPSTREAMS["POMO"].url.removeprefix(GITHUB), "newer")
    monkeypatch.setitem(UPSTREAMS, "POMO", attrs.evolve(UPSTREAMS["POMO"], commit=newer))
    assert "not pinned" in call("upstream", "list").out
    assert call("upstream", "fetch", "POMO").status == 0
    assert head(clone) == newer


def test_fetch_in_a_checkout_updates_the_submodule(github, tmp_path, monkeypatch):
    """What the checkout has recorded is checked out under adapters/upstream, and nothing else."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    for name, upstream in UPSTREAMS.items():
        folder = f"adapters/upstream/{name}"
        git(project, "submodule", "--quiet", "add", "--name", folder, upstream.url, folder)
        git(project / folder, "checkout", "--quiet", upstream.commit)
        git(project, "add", folder)
    git(project, "commit", "--quiet", "-m", "submodules")
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(project), str(checkout))
    checkout_is(monkeypatch, checkout)
    places = {name: checkout / "adapters" / "upstream" / name for name in UPSTREAMS}
    assert [line.split()[2] for line in call("upstream", "list").out.splitlines()[1:3]] == [
        "missing",
        "missing",
    ]
    # Inherited from a hook, say: it must not redirect git to another repository.
    monkeypatch.setenv("GIT_DIR", str(github))
    outcome = call("upstream", "fetch", "INViT")
    monkeypatch.delenv("GIT_DIR")
    assert (outcome.status, outcome.err) == (0, "")
    assert head(places["INViT"]) == UPSTREAMS["INViT"].commit
    assert not any(places["POMO"].iterdir())
    assert locate.upstream("INViT") == places["INViT"]


@pytest.mark.usefixtures("github")
def test_list_says_what_is_where(tmp_path, monkeypatch):
    """Pinned, at another commit, without git, or missing; with the full pinned hash."""
    pinned = {name: upstream.commit for name, upstream in UPSTREAMS.items()}
    outcome = call("upstream", "list")
    assert outcome.status == 0
    assert [line.split() for line in outcome.out.splitlines()] == [
        ["name", "pinned", "commit", "state", "folder"],
        ["POMO", pinned["POMO"], "missing"],
        ["INViT", pinned["INViT"], "missing"],
        [],
        ["To", "fetch", "what", "is", "missing:", "lifelong-co", "upstream", "fetch"],
    ]
    monkeypatch.setenv(locate.VARIABLE, str(tmp_path))
    assert call("upstream", "fetch", "POMO").status == 0
    (tmp_path / "INViT").mkdir()
    (tmp_path / "INViT" / "code.py").write_text("copied")
    lines = [line.split(maxsplit=2) for line in call("upstream", "list").out.splitlines()]
    assert lines[1:] == [
        ["POMO", pinned["POMO"], f"pinned                  {tmp_path / 'POMO'}"],
        ["INViT", pinned["INViT"], f"there, no git checkout  {tmp_path / 'INViT'}"],
    ]
    other = write_commit(tmp_path / "POMO", "mine")
    assert f"at {other[:12]}, not pinned" in call("upstream", "list").out


def test_an_unreachable_repository_is_one_line(github, tmp_path):
    """What git said of it, and nothing half done is left."""
    (github / "yd-kwon").rename(github / "gone")
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "there")
    assert_one_line(outcome, "git clone failed: fatal: ", "yd-kwon/POMO.git")
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.usefixtures("github")
def test_an_unknown_commit_is_one_line(tmp_path, monkeypatch):
    """Cloned, but without the pinned commit: refused, and the clone is gone."""
    broken = attrs.evolve(UPSTREAMS["POMO"], commit="0" * 39 + "1")
    monkeypatch.setitem(UPSTREAMS, "POMO", broken)
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "there")
    assert_one_line(outcome, "git checkout failed: fatal: ", broken.commit)
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.usefixtures("github")
def test_without_git_one_line(tmp_path, monkeypatch):
    """No git on the PATH is said as such."""
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "there")
    assert_one_line(outcome, "git: not found", "must be on the PATH")


@pytest.mark.usefixtures("github")
def test_an_unknown_name_is_refused_before_anything_is_fetched(tmp_path):
    """Also when good names come before it."""
    outcome = call("upstream", "fetch", "POMO", "INVIT", "--into", tmp_path / "there")
    assert_one_line(outcome, "Unknown official codebase 'INVIT'", "Did you mean 'INViT'?")
    assert not (tmp_path / "there").exists()


@pytest.mark.usefixtures("github")
def test_other_files_in_the_way_are_left_alone(tmp_path):
    """A folder of that name that is no clone is not touched; nor is a file instead of a folder."""
    (tmp_path / "POMO").mkdir()
    (tmp_path / "POMO" / "mine").write_text("keep")
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path)
    assert_one_line(outcome, f"{tmp_path / 'POMO'}: expected a clone of", "got other files")
    assert (tmp_path / "POMO" / "mine").read_text() == "keep"
    (tmp_path / "file").write_text("")
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "file")
    assert_one_line(outcome, str(Path(tmp_path, "file", "POMO")), "exists")


@pytest.mark.usefixtures("github")
def test_without_checkout_a_place_must_be_given(tmp_path, monkeypatch):
    """An installed wheel has no submodules, nor has a source archive, which is no git checkout."""
    for checkout in (None, tmp_path):
        checkout_is(monkeypatch, checkout)
        outcome = call("upstream", "fetch", "POMO")
        assert_one_line(outcome, "no git checkout", "say where to put it with --into DIR")
