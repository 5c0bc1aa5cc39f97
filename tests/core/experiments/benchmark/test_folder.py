"""Folders of instances: files that cannot be used are named."""

import pytest
from paths import FIXTURES, ROOT

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.experiments.benchmark.folder import read_folder
from lifelong_co.experiments.benchmark.published import CVRPLIB, LIBRARIES, TSPLIB
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
    with pytest.raises(ConfigError, match="none of at most 3 nodes or customers; the smallest has"):
        read_folder("tsplib", tmp_path, largest=3)
    with pytest.raises(ConfigError, match="expected a folder"):
        read_folder("tsplib", tmp_path / "none")
    with pytest.raises(UnknownNameError, match="'cvrplib'"):
        read_folder("cvrp", tmp_path)
    with pytest.raises(ConfigError, match="paper: expected tsplib or cvrplib, got mtvrp"):
        read_folder("mtvrp", tmp_path, paper=True)


def test_two_files_of_one_name_are_refused(tmp_path):
    """Results are kept by the name, so one file would get the result of the other."""
    seven = (FIXTURES / "seven.txt").read_text()
    (tmp_path / "seven.txt").write_text(seven)
    (tmp_path / "seven.vrp").write_text((FIXTURES / "four.vrp").read_text())
    found = read_folder("mtvrp", tmp_path)  # the CVRP is left out, so nothing is wrong
    assert (len(found.instances), len(found.refused)) == (1, 1)
    (tmp_path / "seven.TXT").write_text(seven)
    with pytest.raises(ConfigError, match=r"for the name seven, got seven\.TXT and seven\.txt"):
        read_folder("mtvrp", tmp_path)


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
    assert found.faults[0].startswith(f"no reference of {tmp_path / 'five.tsp'}: ")


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
