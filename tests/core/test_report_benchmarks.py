"""The benchmark tables of a report: names of their own, units in CSV, references found since."""

from lifelong_co.benchmarking.results import Benchmark, Result
from lifelong_co.reference.cache import Cache
from lifelong_co.report.book.assemble import make_book
from lifelong_co.report.book.collect import Found


def solved(best=100.0, **more):
    """Return results of two checkpoints on one instance."""
    return [
        Result("a", 9, best, "one", 110, 109.5, 1.0, **more),
        Result("a", 9, best, "two", 120, 119.5, 1.0, **more),
    ]


def test_a_reference_found_since_shows(tmp_path):
    """Without solving; one that cannot be read is named and costs nothing else."""
    place = Cache(tmp_path / "references").place("cvrp", "ab12")
    place.parent.mkdir(parents=True)
    place.write_text(
        '{"name": "a", "size": 9, "cost": 80, "actions": [], "proven": false, "solver": "x",'
        ' "version": "1", "settings": {}, "seconds": 1}'
    )
    found = Found(
        (), (Benchmark(tmp_path, {"library": "cvrplib"}, solved(instance_key="ab12")),), ()
    )

    def known():
        book = make_book(found, tmp_path / "references", str)
        (sheet,) = (sheet for sheet in book.sheets if sheet.key == "benchmark-cvrplib-costs")
        return sheet.rows[0][2].shown, book.left_out

    assert known() == ("80", ())
    place.write_text("{}")
    best, (left_out,) = known()
    assert best == "100"
    assert left_out.startswith(f"references of {tmp_path}: {place}: expected a reference as JSON")
