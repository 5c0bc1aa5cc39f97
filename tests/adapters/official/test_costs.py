"""Where the costs that the paper's authors published are found."""

from lifelong_co_adapters.official import locate
from lifelong_co_adapters.official.costs import published_costs

INSIDE = ("adapters", "upstream", "LLR-BC")


def fill(folder):
    """Put a file into a new folder and return the folder."""
    folder.mkdir(parents=True)
    (folder / "file").write_text("")
    return folder


def test_in_the_submodule_then_beside_the_checkout(tmp_path, monkeypatch):
    """Each only where it has anything in it: git leaves a submodule's folder empty."""
    root = tmp_path / "checkout"
    monkeypatch.setattr(locate, "checkout", lambda: root)
    monkeypatch.delenv(locate.VARIABLE, raising=False)
    root.joinpath(*INSIDE).mkdir(parents=True)
    assert published_costs() == ()
    beside = fill(tmp_path / "shared" / "official" / "testsets")
    assert published_costs() == (beside,)
    (root.joinpath(*INSIDE) / "TSP").mkdir()
    assert published_costs() == (root.joinpath(*INSIDE), beside)


def test_where_the_variable_points(tmp_path, monkeypatch):
    """Instead of the submodule, as the official code is; without a checkout as well."""
    monkeypatch.setattr(locate, "checkout", lambda: None)
    monkeypatch.delenv(locate.VARIABLE, raising=False)
    assert published_costs() == ()
    monkeypatch.setenv(locate.VARIABLE, str(tmp_path))
    assert published_costs() == ()
    there = fill(tmp_path / "LLR-BC")
    assert published_costs() == (there,)
