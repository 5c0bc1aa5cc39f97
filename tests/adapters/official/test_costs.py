"""Finding the costs that the paper's authors published."""

from lifelong_co_adapters.official import locate
from lifelong_co_adapters.official.costs import published_costs

INSIDE = ("adapters", "upstream", "LLR-BC")


def fill(folder):
    """Put a file into a new folder and return the folder."""
    folder.mkdir(parents=True)
    (folder / "file").write_text("")
    return folder


def test_costs_are_found_in_the_submodule_then_beside_the_checkout(tmp_path, monkeypatch):
    """Empty folders do not count: git leaves a submodule's folder empty until it is fetched."""
    root = tmp_path / "checkout"
    monkeypatch.setattr(locate, "checkout", lambda: root)
    monkeypatch.delenv(locate.VARIABLE, raising=False)
    root.joinpath(*INSIDE).mkdir(parents=True)
    assert published_costs() == ()
    beside = fill(tmp_path / "shared" / "official" / "testsets")
    assert published_costs() == (beside,)
    (root.joinpath(*INSIDE) / "TSP").mkdir()
    assert published_costs() == (root.joinpath(*INSIDE), beside)


def test_costs_are_found_where_the_variable_points(tmp_path, monkeypatch):
    """The variable replaces the submodule, as for the official code, and needs no checkout."""
    monkeypatch.setattr(locate, "checkout", lambda: None)
    monkeypatch.delenv(locate.VARIABLE, raising=False)
    assert published_costs() == ()
    monkeypatch.setenv(locate.VARIABLE, str(tmp_path))
    assert published_costs() == ()
    there = fill(tmp_path / "LLR-BC")
    assert published_costs() == (there,)
