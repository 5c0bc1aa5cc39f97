"""Best known costs: stated in a file, or found since as a reference."""

import shutil
from collections.abc import Sequence

import attrs
import numpy as np
import pytest
from paths import FIXTURES
from synthetic_benchmarks import INSTANCES, entrant, go

from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.benchmark.conduct import How, conduct
from lifelong_co.experiments.benchmark.known import as_now, beside, known_of, with_references
from lifelong_co.experiments.benchmark.results import Benchmark, Result
from lifelong_co.experiments.references.cache import Cache, Reference
from lifelong_co.experiments.references.subject import of_file
from lifelong_co.instance_files.vrplib_instances import read_instance


def reference(cost):
    """Return a reference of that cost."""
    return Reference(
        name="x",
        size=5,
        cost=cost,
        actions=[],
        proven=False,
        solver="x",
        version="1",
        settings={},
        seconds=1.0,
    )


def test_the_best_known_cost_is_looked_up_each_time(tmp_path):
    """A later file or reference shows without solving, and is stored; so is that there is none."""
    old, _, _ = go(INSTANCES, [entrant()])
    assert old[0].best_known is None
    known = [attrs.evolve(one, best_known=12.0) for one in INSTANCES]
    new, solved, _ = go(known, [entrant()], old)
    assert solved == []
    assert {one.best_known for one in new} == {12.0}
    kept: list[Sequence[Result]] = []
    conduct(known, [entrant()], old, How(), keep=kept.append, log=str)
    assert {one.best_known for one in kept[-1]} == {12.0}  # the table of the report has it, too
    assert {one.best_known for one in as_now(new, INSTANCES)} == {None}
    assert as_now(new, INSTANCES[:0]) == new
    benchmark = Benchmark(tmp_path, {"library": "tsplib"}, new)
    cache = Cache(tmp_path)
    for name, cost in (("a", 11.0), ("b", 13.0)):
        subject = of_file({one.name: one for one in INSTANCES}[name])
        cache.put(subject, reference(cost))
    found = with_references(benchmark, tmp_path).results
    assert [one.best_known for one in found] == [11.0, 12.0, 12.0, 12.0]
    older = attrs.evolve(benchmark, results=[attrs.evolve(new[0], instance_key="")])
    assert with_references(older, tmp_path) == older
    cache.place("tsp", of_file(INSTANCES[0]).key).write_text("[]")
    with pytest.raises(FileFormatError, match="expected a reference as JSON"):
        with_references(benchmark, tmp_path)


def test_a_reference_counts_where_it_is_lower(tmp_path):
    """Than what the file states, here 24."""
    text = (
        "NAME: x\nTYPE: TSP\nCOMMENT: optimal value: 24\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\n"
    )
    file = tmp_path / "x.tsp"
    file.write_text(text + "NODE_COORD_SECTION\n1 0 0\n2 6 8\n3 0 8\nEOF\n")
    one = read_instance(file)
    assert known_of(file, one, None) == 24
    for cost, expected in ((25.0, 24), (23.0, 23)):
        Cache(tmp_path).put(of_file(one), reference(cost))
        assert known_of(file, one, tmp_path) == expected


def test_a_solution_that_does_not_fit_is_left_out(tmp_path):
    """It may be of last month's orders; the other costs still count, and a line says why."""
    file = shutil.copy(FIXTURES / "four.vrp", tmp_path / "day.vrp")
    file.with_suffix(".sol").write_text("Route #1: 1 2\nCost 10\n")
    one, said = read_instance(file), []
    assert known_of(file, one, None, said.append) == 43  # of the comment
    assert "day.sol: does not solve" in said[0]
    assert said[0].endswith("; its cost is left out")
    Cache(tmp_path / "references").put(of_file(one), reference(40.0))
    assert known_of(file, one, tmp_path / "references", said.append) == 40
    Cache(tmp_path / "references").place("cvrp", of_file(one).key).write_text("{")
    assert known_of(file, one, tmp_path / "references", said.append) == 43
    assert said[-1].startswith(f"no reference of {file}: ")


@pytest.mark.parametrize(
    ("rule", "cost", "expected"),
    [("EUC_2D", 40, 40), ("EUC_2D", 40.27, 43), ("EXACT_2D", 40, None), ("EXACT_2D", 40.27, None)],
)
def test_cost_without_a_solution_must_be_of_the_rule(rule, cost, expected, tmp_path):
    """With EXACT_2D costs here are in thousandths of what a library states."""
    file = tmp_path / "day.vrp"
    file.write_text((FIXTURES / "four.vrp").read_text().replace("EUC_2D", rule))
    file.with_suffix(".sol").write_text(f"Cost {cost}\n")
    said = []
    assert known_of(file, read_instance(file), None, said.append) == expected
    assert bool(said) == (expected != 40)


@pytest.mark.parametrize(("nodes", "expected"), [(100, 21282), (3, 30000)])
def test_the_published_cost_counts_where_it_is_lower(tmp_path, nodes, expected):
    """A solution beside the instance may be any; a file of another size only has the name."""
    file = tmp_path / "kroA100.tsp"
    text = f"NAME: kroA100\nTYPE: TSP\nCOMMENT: optimal value: 30000\nDIMENSION: {nodes}\n"
    places = "".join(f"{i} {i} {i * i % 97}\n" for i in range(1, nodes + 1))
    file.write_text(f"{text}EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{places}EOF\n")
    one = read_instance(file)
    assert known_of(file, one, None) == expected
    other = attrs.evolve(one, problem="cvrp", demand=np.ones(nodes - 1, np.int64), capacity=nodes)
    assert known_of(file, other, None) == 30000  # a depot makes it another problem


def test_the_solution_lies_beside_the_name_of_a_linked_file(tmp_path):
    """Stores of large files have links to contents with other names."""
    for kept, name in (("a1", "four.vrp"), ("b2", "four.sol")):
        (tmp_path / kept).write_text((FIXTURES / "four.vrp").read_text())
        (tmp_path / name).symlink_to(tmp_path / kept)
    file = tmp_path / "four.vrp"
    assert beside(file, read_instance(file)) == tmp_path.resolve() / "four.sol"
