"""Files of references: damaged ones and folders without access are named."""

import json
import os
from threading import Thread

import attrs
import pytest
from synthetic_references import find, squares

from lifelong_co import registry
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.references.cache import Cache, Reference, better
from lifelong_co.experiments.references.subject import of_instances

TSP = registry.problem("tsp")


@pytest.mark.usefixtures("solved")
def test_a_damaged_reference_is_named(tmp_path):
    """A file that holds something else is an error that says what to do."""
    cache = Cache(tmp_path)
    find(cache, 1)
    (file,) = tmp_path.rglob("*.json")
    content = json.loads(file.read_text())
    assert content["solver"] == "test"
    assert content["settings"]["iterations"] == 2000
    file.write_text("{")
    with pytest.raises(FileFormatError, match=r"\.json: expected a reference .*delete the file"):
        find(cache, 1)
    file.write_text("[" * 100_000)
    with pytest.raises(FileFormatError, match=r"\.json: expected a reference"):
        find(cache, 1)
    for cost in ("x", True, -1, 10**400, float("nan"), float("inf")):
        file.write_text(json.dumps({**content, "cost": cost}))
        with pytest.raises(FileFormatError, match="cost: expected a number"):
            find(cache, 1)
    for name, wrong in {"actions": None, "proven": "no"}.items():
        file.write_text(json.dumps({**content, name: wrong}))
        with pytest.raises(FileFormatError, match=rf"{name}: expected .* got"):
            find(cache, 1)
    file.write_text(json.dumps({**content, "actions": [0, 1.0, 2, 3]}))
    with pytest.raises(FileFormatError, match="actions: expected a list of whole numbers"):
        find(cache, 1)


def test_the_better_reference():
    """Lengths of 20 million may differ by 11; where only noise differs, a proof counts."""
    fields = {"name": "S", "size": 4, "actions": [], "solver": "t", "version": "1"}

    def found(cost, *, proven=False):
        return Reference(**fields, cost=cost, proven=proven, settings={}, seconds=0.0)

    assert better(found(19_982_859), found(19_982_870))
    assert not better(found(19_982_870), found(19_982_859))
    assert better(found(4.0 + 1e-7, proven=True), found(4.0))
    assert not better(found(4.0), found(4.0 + 1e-7, proven=True))
    assert not better(found(4.0 - 1e-12), found(4.0))


def test_a_better_reference_of_another_program_is_kept(tmp_path, monkeypatch):
    """It may be stored after this program looked, so look and store are one turn."""
    cache, (one,) = Cache(tmp_path), of_instances(squares(1), registry.problem("tsp"), "S")
    find(cache, 1)
    good = attrs.evolve(cache.get("tsp", one.key), cost=2.0)
    get, asked = Cache.get, []

    def slow(self, problem, key):
        found = get(self, problem, key)
        asked.append(Thread(target=cache.put, args=(one, attrs.evolve(good, cost=1.0))))
        if len(asked) == 1:
            asked[0].start()
            asked[0].join(0.2)
        return found

    monkeypatch.setattr(Cache, "get", slow)
    cache.put(one, good)
    asked[0].join()
    assert get(cache, "tsp", one.key).cost == 1.0


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    """The error names the file."""
    if os.geteuid() == 0:
        (tmp_path / "tsp").write_text("in the way")
    else:
        tmp_path.chmod(0o500)
    one = of_instances(squares(1), TSP, "S")[0]
    reference = Reference(
        **{"name": "S", "size": 4, "cost": 4.0, "actions": [0, 1, 2, 3], "proven": True},
        **{"solver": "t", "version": "1", "settings": {}, "seconds": 0.0},
    )
    with pytest.raises((ConfigError, FileFormatError), match=r"\.json: "):
        Cache(tmp_path).put(one, reference)
