"""Instances from .npz files and folders, and the pool that draws them."""

import io
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from file_strategies import file_instances, file_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from library_texts import EXPLICIT
from paths import FIXTURES, ROOT

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.instance_files.file_instance import to_instances
from lifelong_co.instance_files.pool import InstancePool, load_instances
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.tsp import TSP

OFFICIAL = ROOT.parent / "shared" / "official"


def arrays(batch: int = 3, size: int = 5, **changes: Any) -> dict[str, Any]:
    """Return the arrays of a valid CVRP file; a change to None removes an array."""
    rng = np.random.default_rng(0)
    good = {
        "depot": rng.random((batch, 1, 2)),
        "nodes": rng.random((batch, size, 2)),
        "demand": rng.integers(1, 10, (batch, size)),
        "capacity": np.array(20),
    }
    return {key: value for key, value in (good | changes).items() if value is not None}


def saved(folder: Path, **fields: Any) -> Path:
    """Write an .npz file."""
    path = folder / "given.npz"
    np.savez(path, **fields)
    return path


def test_suffixes_in_capital_letters_are_known(tmp_path: Path) -> None:
    """As some exporters write them: no file of a folder is passed over in silence."""
    saved(tmp_path, **arrays()).rename(tmp_path / "a.NPZ")
    shutil.copy(FIXTURES / "four.vrp", tmp_path / "B.VRP")
    assert sum(len(batch.nodes) for batch in load_instances(tmp_path, CVRP())) == 4
    for name, count in (("a.NPZ", 3), ("B.VRP", 1)):
        (batch,) = load_instances(tmp_path / name, CVRP())
        assert len(batch.nodes) == count


def test_npz_cvrp_becomes_float32_fractions(tmp_path: Path) -> None:
    """Arrays are returned in float32, integer demand in fractions of the capacity."""
    fields = arrays(reference_cost=np.zeros(3))
    (batch,) = load_instances(saved(tmp_path, **fields), CVRP())
    assert batch.nodes.dtype == batch.depot.dtype == batch.demand.dtype == torch.float32
    np.testing.assert_array_equal(batch.nodes.numpy(), fields["nodes"].astype(np.float32))
    np.testing.assert_array_equal(batch.depot.numpy(), fields["depot"].astype(np.float32))
    np.testing.assert_allclose(batch.demand.numpy(), fields["demand"] / 20, rtol=1e-6)


def test_npz_demand_in_fractions_is_not_divided(tmp_path: Path) -> None:
    """Fractions stay unchanged, even if the file has a capacity, as the official files do."""
    fractions = np.arange(15).reshape(3, 5) / 20
    (batch,) = load_instances(saved(tmp_path, **arrays(demand=fractions)), CVRP())
    np.testing.assert_array_equal(batch.demand.numpy(), fractions.astype(np.float32))


def test_npz_tsp_needs_only_nodes(tmp_path: Path) -> None:
    """A TSP file with the array ``nodes`` alone is complete."""
    (batch,) = load_instances(saved(tmp_path, nodes=np.full((2, 4, 2), 0.5)), TSP())
    assert batch.nodes.shape == (2, 4, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": None}, "nodes: expected an array of this name, got depot, demand, capacity"),
        ({"depot": None}, "depot: expected an array of this name"),
        ({"demand": None}, "demand: expected an array of this name"),
        ({"capacity": None}, "demand: expected fractions, or integers and a scalar 'capacity'"),
        ({"capacity": np.array(0)}, "capacity: expected one integer of at least 1, got 0"),
        ({"capacity": np.array([20, 30])}, r"capacity: expected one integer .* got \[20, 30\]"),
        ({"capacity": np.array(2.5)}, r"capacity: expected one integer .* got 2\.5"),
        (
            {"capacity": np.array(5)},
            r"demand: .* above the capacity\), got 1\.4 .*; in the file: 7",
        ),
        (
            {"demand": np.full((3, 5), -1)},
            r"demand: expected at least 0, got -0.05 \(instance 1, customer 1\); in the file: -1",
        ),
        ({"demand": np.full((3, 4), 1)}, r"demand: expected shape \[3, 5\], got \[3, 4\]"),
        ({"depot": np.zeros((3, 2))}, r"depot: expected shape \[3, 1, 2\], got \[3, 2\]"),
        ({"nodes": np.zeros((3, 5, 2), dtype=int)}, r"nodes: expected floating-.* torch\.int64"),
        ({"nodes": np.full((3, 5, 2), np.nan)}, "nodes: expected finite numbers"),
        ({"nodes": np.full((3, 5, 2), 1e300)}, "nodes: expected coordinates in the unit square"),
        ({"nodes": np.full((3, 5, 2), 7.0)}, "nodes: .* unit square, got 7 to 7"),
        (
            {"nodes": np.zeros((0, 5, 2))},
            r"nodes: expected at least one instance, got none \(\[0, 5, 2\]\)",
        ),
        ({"nodes": np.zeros((3, 1, 2))}, "nodes: expected at least two nodes, got 1"),
        ({"nodes": np.array([["a"]])}, "nodes: "),
    ],
)
def test_bad_arrays_name_file_and_field(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """For every fault of a field, the error names the file and the field."""
    path = saved(tmp_path, **arrays(**changes))
    with pytest.raises(FileFormatError, match=rf"given\.npz: {message}"):
        load_instances(path, CVRP())


@pytest.mark.parametrize(
    ("distance", "message"),
    [
        (np.array("manhatan"), "Unknown distance 'manhatan'.* Did you mean 'manhattan'"),
        (np.array(b"manhattan"), r"distance: expected a name \(euclidean, .*\), got array\(b'"),
        (np.array(["manhattan"]), r"distance: expected a name .* got array\(\['manhattan'\]"),
        (np.ones(2), r"distance: expected a name .* got array"),
        (np.ones((2, 4, 4)), "distance: expected a name"),
    ],
)
def test_bad_distance_names_file_and_field(
    tmp_path: Path, distance: np.ndarray, message: str
) -> None:
    """Only the name of a distance is read, not its exponents and no matrix."""
    path = saved(tmp_path, nodes=np.full((2, 4, 2), 0.5), distance=distance)
    with pytest.raises(FileFormatError, match=rf"given\.npz: {message}"):
        load_instances(path, TSP())


def test_pickles_are_not_loaded(tmp_path: Path) -> None:
    """An array of objects, which would need pickle, is refused."""
    path = saved(tmp_path, nodes=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileFormatError, match=r"given\.npz: nodes: .*allow_pickle=False"):
        load_instances(path, TSP())


@settings(deadline=None)
@given(st.data())
def test_damaged_archives_are_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A truncated or altered archive is read correctly or refused by name."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays())
    content = bytearray(stream.getvalue())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    refusal = None
    try:
        load_instances(path, CVRP())
    except FileFormatError as error:
        refusal = str(error)
    assert refusal is None or "damaged.npz: " in refusal


def test_single_array_is_refused(tmp_path: Path) -> None:
    """An .npy file with the suffix .npz is refused."""
    path = tmp_path / "given.npz"
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(FileFormatError, match=r"given\.npz: expected an archive of named arrays"):
        load_instances(path, TSP())


@settings(deadline=None, max_examples=30)
@given(st.lists(file_instances("cvrp"), min_size=1, max_size=5), st.data())
def test_folders_are_grouped_by_size(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Any], data: st.DataObject
) -> None:
    """Each size gives one record, smallest first, with rows in the order of the file names."""
    folder = tmp_path_factory.mktemp("folder")
    for number, instance in enumerate(drawn):
        text = data.draw(file_texts(instance))
        (folder / f"{number}.vrp").write_bytes(text.encode())
    (folder / "0.sol").write_text("Cost 1\n")
    groups = load_instances(folder, CVRP())
    assert [g.nodes.shape[1] for g in groups] == sorted({i.size for i in drawn})
    for group in groups:
        same = [i for i in drawn if i.size == group.nodes.shape[1]]
        assert group.nodes.shape[0] == len(same)
        for row, instance in enumerate(same):
            alone = to_instances(instance, CVRP())
            assert torch.equal(group.nodes[row], alone.nodes[0])
            assert torch.equal(group.demand[row], alone.demand[0])


def test_single_file_is_a_pool_of_one_instance() -> None:
    """One TSPLIB file gives one instance."""
    (batch,) = load_instances(FIXTURES / "five.tsp", TSP())
    assert batch.nodes.shape == (1, 5, 2)


def test_bad_file_in_a_folder_is_named(tmp_path: Path) -> None:
    """The error names the one bad file among good ones."""
    shutil.copy(FIXTURES / "four.vrp", tmp_path / "a.vrp")
    (tmp_path / "b.vrp").write_text("NAME : b\n")
    with pytest.raises(FileFormatError, match=r"b\.vrp: expected a line 'TYPE"):
        load_instances(tmp_path, CVRP())


def test_file_of_the_other_problem_is_refused(tmp_path: Path) -> None:
    """A TSP in a file with the suffix of a CVRP is refused, and the message names the file."""
    shutil.copy(FIXTURES / "five.tsp", tmp_path / "five.vrp")
    with pytest.raises(FileFormatError, match=r"five\.vrp: .*expected an instance of cvrp"):
        load_instances(tmp_path, CVRP())


def test_listed_distances_that_are_not_used_are_warned_of(tmp_path: Path) -> None:
    """Networks see straight lines, and a run's costs are their lengths."""
    text = EXPLICIT.replace("FORMAT: FORMAT", "FORMAT: FULL_MATRIX")
    (tmp_path / "m.tsp").write_text(text.replace("WEIGHTS\n", "0 1 99\n1 0 1\n99 1 0\n"))
    with pytest.warns(UserWarning, match=r"m\.tsp: the listed distances are not used"):
        load_instances(tmp_path, TSP())


def test_paths_without_instances_are_refused(tmp_path: Path) -> None:
    """An empty folder, a missing path and a file of another kind: the error has what it expects."""
    with pytest.raises(FileFormatError, match=r"problem tsp: .* one \.npz or \.tsp file in this"):
        load_instances(tmp_path, TSP())
    with pytest.raises(FileFormatError, match=r"nowhere: problem tsp: .* does not exist"):
        load_instances(tmp_path / "nowhere", TSP())
    with pytest.raises(FileFormatError, match=r"nowhere\.npz: cannot be read"):
        load_instances(tmp_path / "nowhere.npz", TSP())
    (tmp_path / "table.csv").touch()
    with pytest.raises(FileFormatError, match=r"table\.csv: .* a file of another kind"):
        load_instances(tmp_path / "table.csv", TSP())


def test_folder_of_arrays_and_files_is_read_whole(tmp_path: Path) -> None:
    """No instance of a folder is left out, whatever the kind of its file."""
    shutil.copy(FIXTURES / "five.tsp", tmp_path / "b.tsp")
    for name, size in (("a", 5), ("c", 4)):
        saved(tmp_path, nodes=np.full((2, size, 2), 0.5)).rename(tmp_path / f"{name}.npz")
    four, five = load_instances(tmp_path, TSP())
    assert four.nodes.shape == (2, 4, 2)
    assert five.nodes.shape == (3, 5, 2)
    assert torch.equal(five.nodes[2:], load_instances(FIXTURES / "five.tsp", TSP())[0].nodes)


def test_problem_without_a_file_format_has_arrays_only(tmp_path: Path) -> None:
    """A folder of those is read, too; the error says what it expects."""

    class Other(TSP):
        name = "orienteering"  # type: ignore[misc]

    with pytest.raises(FileFormatError, match=r"expected at least one \.npz file in this folder"):
        load_instances(tmp_path, Other())
    with pytest.raises(FileFormatError, match=r"expected an \.npz file or a folder of those, got"):
        load_instances(FIXTURES / "five.tsp", Other())
    saved(tmp_path, nodes=np.full((2, 4, 2), 0.5))
    (batch,) = load_instances(tmp_path, Other())
    assert batch.nodes.shape == (2, 4, 2)


def pool(*counts: tuple[int, int]) -> InstancePool:
    """Return a pool of ``(size, count)`` groups; the nodes identify their row."""
    groups = [
        TSP().instances(nodes=torch.arange(count).float()[:, None, None].expand(-1, size, 2) / 1e3)
        for size, count in counts
    ]
    return InstancePool(TSP(), groups)


def seeded(seed: int = 0) -> torch.Generator:
    """Return a generator."""
    return torch.Generator().manual_seed(seed)


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_draws_are_of_one_size_and_repeatable(seed: int, batch: int) -> None:
    """A draw is a batch of stored instances of one size, and the same for the same seed."""
    stored = pool((3, 4), (5, 2))
    drawn = stored.sample(batch, generator=seeded(seed))
    assert drawn.nodes.shape[0] == batch
    size = drawn.nodes.shape[1]
    assert size in stored.sizes
    rows = {round(row * 1e3) for row in drawn.nodes[:, 0, 0].tolist()}
    assert rows <= set(range({3: 4, 5: 2}[size]))
    again = stored.sample(batch, generator=seeded(seed))
    assert torch.equal(drawn.nodes, again.nodes)


def test_sizes_are_drawn_as_often_as_they_are_stored() -> None:
    """With 3 of 4 instances of size 2, size 2 occurs in 3 of 4 draws (within 4 sigma)."""
    stored, generator = pool((2, 3), (4, 1)), seeded()
    count = Counter(stored.sample(1, generator=generator).nodes.shape[1] for _ in range(1000))
    assert abs(count[2] - 750) < 4 * (1000 * 0.75 * 0.25) ** 0.5


def test_rows_are_drawn_uniformly_with_replacement() -> None:
    """A batch larger than the pool has every instance about equally often (within 4 sigma)."""
    drawn = pool((2, 5)).sample(5000, 2, generator=seeded())
    count = Counter(round(row * 1e3) for row in drawn.nodes[:, 0, 0].tolist())
    assert sorted(count) == [0, 1, 2, 3, 4]
    assert all(abs(times - 1000) < 4 * (5000 * 0.2 * 0.8) ** 0.5 for times in count.values())


def test_only_the_chosen_size_is_drawn() -> None:
    """A size that the pool does not have is refused."""
    stored = pool((2, 3), (4, 1))
    assert stored.sizes == (2, 4)
    for _ in range(10):
        assert stored.sample(2, 4, generator=seeded()).nodes.shape == (2, 4, 2)
    with pytest.raises(ConfigError, match="expected one of the sizes 2, 4, got 3"):
        stored.sample(1, 3)


def test_empty_pool_is_refused() -> None:
    """A pool without instances raises an error when it is made."""
    with pytest.raises(FileFormatError, match="expected at least one instance"):
        InstancePool(TSP(), [])


@pytest.mark.skipif(not OFFICIAL.exists(), reason="needs ../shared/official")
def test_published_instances_can_be_drawn() -> None:
    """The paper's test sets and the published files work as pools."""
    (batch,) = load_instances(OFFICIAL / "testsets" / "cvrp-U20.npz", CVRP())
    assert batch.nodes.shape == (1000, 20, 2)
    groups = load_instances(OFFICIAL / "instances", TSP())
    assert [tuple(group.nodes.shape) for group in groups] == [(1, 100, 2), (1, 280, 2)]
