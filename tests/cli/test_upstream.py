"""`lifelong-co upstream` with local repositories in place of the official ones."""

import subprocess

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
def test_fetch_into_a_folder_clones_the_pinned_commit(tmp_path, monkeypatch):
    """The last line says which variable to set, so that the code is used."""
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


def test_fetch_without_into_uses_the_folder_of_the_variable(github, tmp_path, monkeypatch):
    """A clone at another commit moves to the pinned commit, even a new one."""
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


def test_fetch_in_a_checkout_updates_only_the_submodule(github, tmp_path, monkeypatch):
    """adapters/upstream gets the commit that the checkout records."""
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
def test_list_shows_the_state_of_each_codebase(tmp_path, monkeypatch):
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


def test_unreachable_repository_is_refused(github, tmp_path):
    """The error is one line with the message of git; no partial clone stays."""
    (github / "yd-kwon").rename(github / "gone")
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "there")
    assert_one_line(outcome, "git clone failed: fatal: ", "yd-kwon/POMO.git")
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.usefixtures("github")
def test_repository_without_the_pinned_commit_is_refused(tmp_path, monkeypatch):
    """The clone is deleted."""
    broken = attrs.evolve(UPSTREAMS["POMO"], commit="0" * 39 + "1")
    monkeypatch.setitem(UPSTREAMS, "POMO", broken)
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "there")
    assert_one_line(outcome, "git checkout failed: fatal: ", broken.commit)
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.usefixtures("github")
def test_fetch_without_git_is_refused(tmp_path, monkeypatch):
    """The error says that git is not on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "there")
    assert_one_line(outcome, "git: not found", "must be on the PATH")


@pytest.mark.usefixtures("github")
def test_unknown_codebase_is_refused_before_any_fetch(tmp_path):
    """Known names before it are not fetched."""
    outcome = call("upstream", "fetch", "POMO", "INVIT", "--into", tmp_path / "there")
    assert_one_line(outcome, "Unknown official codebase 'INVIT'", "Did you mean 'INViT'?")
    assert not (tmp_path / "there").exists()


@pytest.mark.usefixtures("github")
def test_fetch_does_not_touch_other_files(tmp_path):
    """A folder that is no clone stays; so does a file in place of a folder."""
    (tmp_path / "POMO").mkdir()
    (tmp_path / "POMO" / "mine").write_text("keep")
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path)
    assert_one_line(outcome, f"{tmp_path / 'POMO'}: expected a clone of", "got other files")
    assert (tmp_path / "POMO" / "mine").read_text() == "keep"
    (tmp_path / "file").write_text("")
    outcome = call("upstream", "fetch", "POMO", "--into", tmp_path / "file")
    assert_one_line(outcome, f"{tmp_path / 'file'}: expected a folder, got a file")


@pytest.mark.usefixtures("github")
def test_fetch_without_checkout_needs_into(tmp_path, monkeypatch):
    """A wheel and a source archive have no submodules."""
    for checkout in (None, tmp_path):
        checkout_is(monkeypatch, checkout)
        outcome = call("upstream", "fetch", "POMO")
        assert_one_line(outcome, "not in a git checkout", "a folder for the code with --into DIR")
