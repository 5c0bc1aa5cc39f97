"""Results of a benchmark stored and read back."""

import json

import attrs
import pytest
from synthetic_benchmarks import made

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.benchmark import results


def test_results_are_kept_and_only_of_one_benchmark(tmp_path):
    """What was saved is read back; other settings or another file are refused."""
    assert results.load(tmp_path, {"paper": True}) == []
    noted = [attrs.evolve(one, weights="w", instance_key="k", batch=2) for one in made()]
    results.save(tmp_path, {"paper": True}, noted, ["a", "c"])
    again = results.load(tmp_path, {"paper": True})
    assert sorted(again, key=lambda one: one.instance) == noted
    found = results.read(tmp_path)
    assert [one.instance for one in found.results] == ["a", "a", "c", "c"]
    assert [one.instance for one in found.others] == ["b", "b"]
    with pytest.raises(ConfigError, match="was made with paper=True, not False"):
        results.load(tmp_path, {"paper": False})
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(FileFormatError, match="expected the results of a benchmark"):
        results.load(tmp_path, {})


@pytest.mark.parametrize("field", results.NUMBERS)
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0])
def test_numbers_that_are_none_are_refused(tmp_path, field, wrong):
    """They would be shown in tables."""
    results.save(tmp_path, {}, [attrs.evolve(made()[0], **{field: wrong})], ["a"])
    with pytest.raises(FileFormatError, match=f"{field}: expected numbers of at least 0"):
        results.read(tmp_path)


def test_results_of_older_versions_are_read_but_not_continued(tmp_path):
    """They do not say which weights they are of."""
    rows = [attrs.asdict(one) for one in made()]
    for row in rows:
        del row["weights"], row["instance_key"], row["batch"]
    (tmp_path / "results.json").write_text(json.dumps({"settings": {}, "results": rows}))
    assert results.read(tmp_path).results == made()
    with pytest.raises(ConfigError, match="an older version, which did not store the hashes"):
        results.load(tmp_path, {})
