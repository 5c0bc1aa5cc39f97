"""Benchmarks: files that cannot be used are named, and results are written as the paper does."""

import csv
import io
import json
import statistics

import attrs
import pytest
from paths import FIXTURES, ROOT

from lifelong_co.errors import ConfigError, FileFormatError, UnknownNameError
from lifelong_co.experiments.benchmark import results, tables
from lifelong_co.experiments.benchmark.folder import read_folder
from lifelong_co.experiments.benchmark.published import CVRPLIB, LIBRARIES, TSPLIB
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.subject import of_file

OFFICIAL = ROOT / "adapters" / "upstream" / "LLR-BC"

PLACES = {"tsplib": OFFICIAL / "TSP" / "tsplib", "cvrplib": OFFICIAL / "CVRP" / "cvrplib-Set-X"}


def test_files_that_cannot_be_used_are_named_and_left_out(tmp_path):
    """One bad file costs only itself; none that is good is an error that names one."""
    good = (FIXTURES / "five.tsp").read_text()
    (tmp_path / "geo.tsp").write_text(good.replace("EUC_2D", "GEO"))
    with pytest.raises(ConfigError, match=r"at least one usable \.tsp file.*GEO is not supported"):
        read_folder("tsplib", tmp_path)
    (tmp_path / "five.tsp").write_text(good)
    (tmp_path / "four.tsp").write_text((FIXTURES / "four.vrp").read_text())
    (tmp_path / "kroA100.tsp").write_text(good.replace("optim", "").replace("Optim", ""))
    found = read_folder("tsplib", tmp_path)
    assert {one.name for one in found.instances} == {"five", "kroA100"}
    refused = sorted(found.refused)
    assert "four.tsp: expected an instance of tsp, got one of cvrp" in refused[0]
    assert "geo.tsp: EDGE_WEIGHT_TYPE: GEO is not supported" in refused[1]
    with pytest.raises(ConfigError, match="the paper's instances, without: kroA150, kroA200"):
        read_folder("tsplib", tmp_path, paper=True)
    with pytest.raises(ConfigError, match="at least one usable"):
        read_folder("tsplib", tmp_path, largest=3)
    with pytest.raises(ConfigError, match="expected a folder"):
        read_folder("tsplib", tmp_path / "none")
    with pytest.raises(UnknownNameError, match="'cvrplib'"):
        read_folder("cvrp", tmp_path)


def test_a_damaged_reference_costs_the_best_known_cost_alone(tmp_path):
    """The instance is still solved, and the fault is reported."""
    (tmp_path / "five.tsp").write_text((FIXTURES / "five.tsp").read_text())
    [one] = read_folder("tsplib", tmp_path, references=tmp_path / "references").instances
    place = Cache(tmp_path / "references").place("tsp", of_file(one).key)
    place.parent.mkdir(parents=True)
    place.write_text("[]")
    found = read_folder("tsplib", tmp_path, references=tmp_path / "references")
    assert [(each.name, each.best_known) for each in found.instances] == [("five", None)]
    assert found.refused == []
    assert found.faults[0].startswith("five: no best known cost: ")


@pytest.mark.parametrize("library", PLACES)
def test_the_papers_instances_are_all_read(library):
    """23 of TSPLIB and 19 of CVRPLIB, in the paper's order, each with its best known cost."""
    if not PLACES[library].is_dir():
        pytest.skip("needs the submodule LLR-BC")
    found = read_folder(library, PLACES[library], paper=True)
    assert [one.name for one in found.instances] == list(LIBRARIES[library][2])
    assert found.refused == []
    assert [one.best_known for one in found.instances] == list({**TSPLIB, **CVRPLIB}.values())[
        slice(23) if library == "tsplib" else slice(23, None)
    ]


def test_there_are_as_many_instances_as_in_the_paper():
    """The names say their sizes."""
    assert (len(TSPLIB), len(CVRPLIB)) == (23, 19)
    assert max(int(name.split("-")[1][1:]) for name in CVRPLIB) == 1001


def made():
    """Return results of two checkpoints on three instances, one of unknown optimum."""
    values = {"a": (100, 110, 120), "b": (200, 220, 210), "c": (None, 50, 60)}
    return [
        Result(name, 9, best, label, cost, cost - 0.5, 1.0)
        for name, (best, *costs) in values.items()
        for label, cost in zip(("one", "two"), costs, strict=True)
    ]


def test_gaps_are_relative_to_the_best_known_cost():
    """A row for each instance and the mean gap over those with a best known cost."""
    table = tables.cost_table(made()).shown
    assert table[0] == ["instance", "n", "best known", "one cost", "one gap", "two cost", "two gap"]
    assert table[1] == ["a", "9", "100", "110", "10.00%", "120", "20.00%"]
    assert table[3] == ["c", "9", "-", "50", "-", "60", "-"]
    assert table[4] == ["mean", "", "", "", "10.00%", "", "12.50%"]


def test_the_papers_table_is_relative_to_the_best_of_the_checkpoints():
    """In 10^-3, with the sample standard deviation, as the paper's LLR-BC column has it."""
    table = tables.normalised_table(made(), rounded=True).shown
    assert table[1:4] == [["a", "0.00", "90.91"], ["b", "47.62", "0.00"], ["c", "0.00", "200.00"]]
    expected = statistics.stdev([0, 1000 * 10 / 210, 0])
    assert table[4][1] == f"{1000 * 10 / 210 / 3:.2f} ({expected:.2f})"
    unrounded = tables.normalised_table(made(), rounded=False).shown
    assert unrounded[1] == ["a", "0.00", f"{1000 * (119.5 / 109.5 - 1):.2f}"]
    papers = [8.93, 23.72, 0, 1.47, 0, 0, 0, 20.85, 20.08, 4.33, 0, 0.77, 13.01, 7.94, 14.34, 0]
    papers += [21, 0, 13.28]
    assert f"{statistics.fmean(papers):.2f} ({statistics.stdev(papers):.2f})" == "7.88 (8.75)"


def test_instances_that_a_solver_has_not_solved_are_not_compared():
    """An interrupted benchmark shows what can be compared."""
    assert [row[0] for row in tables.cost_table(made()[:5]).shown] == ["instance", "a", "b", "mean"]


def test_forms():
    """Text, Markdown and CSV hold the same numbers."""
    text, markdown = (form(made(), rounded=True) for form in (tables.as_text, tables.as_markdown))
    assert "| a | 9 | 100 | 110 | 10.00% | 120 | 20.00% |" in markdown
    assert "Normalised as in the paper" in text
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(made()))))
    assert len(rows) == 6
    assert (rows[0]["cost"], rows[0]["gap_fraction"]) == ("110", "0.100000")
    assert (rows[4]["best_known"], rows[4]["gap_fraction"]) == ("", "")
    assert (rows[0]["batch"], rows[0]["seconds_per_instance"]) == ("1", "1.0")


def test_results_are_kept_and_only_of_one_benchmark(tmp_path):
    """What was saved is read back; other settings or another file are refused."""
    assert results.load(tmp_path, {"paper": True}) == []
    noted = [attrs.evolve(one, weights="w", instance_key="k", batch=2) for one in made()]
    results.save(tmp_path, {"paper": True}, noted)
    assert results.load(tmp_path, {"paper": True}) == noted
    with pytest.raises(ConfigError, match="was made with paper=True, not False"):
        results.load(tmp_path, {"paper": False})
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(FileFormatError, match="expected the results of a benchmark"):
        results.load(tmp_path, {})


def test_results_of_older_versions_are_read_but_not_continued(tmp_path):
    """They do not say which weights they are of."""
    rows = [attrs.asdict(one) for one in made()]
    for row in rows:
        del row["weights"], row["instance_key"], row["batch"]
    (tmp_path / "results.json").write_text(json.dumps({"settings": {}, "results": rows}))
    assert results.read(tmp_path).results == made()
    with pytest.raises(ConfigError, match="an older version, which did not store the hashes"):
        results.load(tmp_path, {})
