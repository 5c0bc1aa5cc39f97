"""The table of paired tests."""

import csv
import io
from pathlib import Path

import attrs
import pytest
import synthetic_runs

from lifelong_co.experiments import formats
from lifelong_co.experiments.comparison import paired_table, tables
from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page
from lifelong_co.experiments.paired import difference, holm
from lifelong_co.runs import provenance


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Three seeds of three methods, two of another one, and one in another order."""
    root = tmp_path_factory.mktemp("runs")
    methods = {"llr-bc": 3, "fine-tuning": 3, "ewc": 3, "restart": 2, "multi-task-epoch": 3}
    folders = [
        synthetic_runs.write(root / f"{method}-{seed}", synthetic_runs.config(method, seed=seed))
        for method, seeds in methods.items()
        for seed in range(seeds)
    ]
    for method in ("llr-bc", "fine-tuning"):
        for seed in range(3):
            of = synthetic_runs.config(method, ("U", "E", "C"), order="2", seed=seed)
            folders.append(synthetic_runs.write(root / f"{method}-2-{seed}", of))
    return compare_folders(folders)


def test_each_method_is_compared_with_the_first_of_its_order(tested: Comparison) -> None:
    """Runs in different orders are no pairs."""
    shown = [(pair.label, pair.baseline) for pair in paired_table.pairs_of(tested)]
    first = "llr-bc (order=1)"
    assert shown == [
        ("fine-tuning (order=1)", first),
        ("ewc (order=1)", first),
        ("restart (order=1)", first),
        ("multi-task-epoch (order=1)", first),
        ("fine-tuning (order=2)", "llr-bc (order=2)"),
    ]


def test_other_epochs_are_no_other_order(tmp_path: Path) -> None:
    """A run with twice the epochs is compared with the first one, too."""
    folders = [
        synthetic_runs.write(
            tmp_path / f"{epochs}-{seed}", synthetic_runs.config(epochs=epochs, seed=seed)
        )
        for epochs in (4, 8)
        for seed in range(3)
    ]
    assert len(paired_table.pairs_of(compare_folders(folders))) == 1


def test_rows_have_the_numbers_of_the_tests(tested: Comparison) -> None:
    """The p-values of a metric are corrected for the number of its tests."""
    pairs = paired_table.pairs_of(tested)
    sheet = paired_table.paired_table(pairs)
    by_method = [block[0][0].shown for block in sheet.blocks]
    assert by_method == [pairs[i].label for i in (0, 1, 3, 4)]
    assert [row[2].shown for row in sheet.blocks[0]] == ["AP", "AF", "AMF", "APl", "AG"]
    assert [row[2].shown for row in sheet.blocks[2]] == ["AP"], "multi-task has only AP"
    wanted = []
    for pair in (pairs[i] for i in (0, 1, 3, 4)):
        values = ({k: m.AP for k, m in each.items()} for each in (pair.first, pair.second))
        wanted.append(difference(*values))
    corrected = holm([each.p for each in wanted])
    for block, want, p in zip(sheet.blocks, wanted, corrected, strict=True):
        cells = block[0]
        assert cells[3].shown == "3"
        assert cells[4].shown == f"{want.mean * 1e3:+.1f} ± {want.interval * 1e3:.1f}"
        assert float(cells[5].parts[""]) == pytest.approx(want.p, rel=1e-5)
        assert float(cells[6].parts[""]) == pytest.approx(p, rel=1e-5)
        assert cells[5].shown == ("<0.001" if want.p < 0.001 else f"{want.p:.3f}")
    assert "corrected for the tests of the same metric" in sheet.note
    few = "number of processes: restart (order=1) and llr-bc (order=1) (2)."
    assert few in sheet.note


def test_tests_are_in_text_json_csv_and_page(tested: Comparison) -> None:
    """All forms have the same numbers."""
    sheet = paired_table.paired_table(paired_table.pairs_of(tested))
    text = tables.as_text(tested)
    assert formats.text(sheet) in text
    assert max(map(len, text.splitlines())) <= 120
    values = tables.as_json(tested)["paired"]
    assert len(values) == 5 * 5
    first = values[0]
    assert first["p"] <= first["p_holm"]
    assert f"{first['difference'] * 1e3:+.1f}" in sheet.rows[0][4].shown
    assert values[10]["method"].startswith("restart")
    assert (values[10]["seeds"], values[10]["p"]) == (2, None)
    header = formats.as_csv(sheet).splitlines()[0]
    assert header.endswith("seeds,difference_1e-3,difference_ci95_1e-3,p,p (Holm)")
    assert "p (Holm)" in page(make_report(tested, {}))


def test_runs_of_a_gpu_are_no_pairs_of_runs_of_a_cpu(tmp_path: Path) -> None:
    """Their seeds draw other instances; which GPU it was does not count."""
    devices = {
        "llr-bc": ("cuda", "cuda:1", "cuda"),
        "fine-tuning": ("cuda",) * 3,
        "ewc": ("cpu",) * 3,
    }
    folders = []
    for method, each in devices.items():
        for seed, device in enumerate(each):
            config = attrs.evolve(synthetic_runs.config(method, seed=seed), device=device)
            folders.append(synthetic_runs.write(tmp_path / f"{method}-{seed}", config))
    sheet = paired_table.paired_table(paired_table.pairs_of(compare_folders(folders)))
    assert [block[0][0].shown for block in sheet.blocks] == ["fine-tuning"]
    assert "with one kind of device and number of processes: ewc and llr-bc (0)." in sheet.note


def test_runs_of_several_processes_are_no_pairs_of_runs_of_one(tmp_path: Path) -> None:
    """Each process draws its share, so the batches of a seed are others."""
    folders = []
    for method, processes in (("llr-bc", 2), ("fine-tuning", 2), ("ewc", 1)):
        for seed in range(3):
            config = synthetic_runs.config(method, seed=seed)
            folders.append(synthetic_runs.write(tmp_path / f"{method}-{seed}", config))
            provenance.note(folders[-1], 0, provenance.Maker(processes=processes))
    sheet = paired_table.paired_table(paired_table.pairs_of(compare_folders(folders)))
    assert [block[0][0].shown for block in sheet.blocks] == ["fine-tuning"]
    assert "number of processes: ewc and llr-bc (0)." in sheet.note


def test_seed_of_both_kinds_of_device_is_no_repetition(tmp_path: Path) -> None:
    """The runs of a method stay one group, and those of the GPU are pairs."""
    devices = {"llr-bc": ("cpu", *["cuda"] * 3), "ewc": ("cuda",) * 3}
    folders = []
    for method, each in devices.items():
        for number, device in enumerate(each):
            seed = max(0, number - (len(each) - 3))
            config = attrs.evolve(synthetic_runs.config(method, seed=seed), device=device)
            folders.append(synthetic_runs.write(tmp_path / f"{method}-{number}", config))
    (pair,) = paired_table.pairs_of(compare_folders(folders))
    assert (pair.label, pair.baseline) == ("ewc", "llr-bc")
    assert pair.differences()["AP"].seeds == 3


def test_too_few_seeds_are_said(comparison: Comparison, tmp_path: Path) -> None:
    """There is no empty table. Runs with one seed each are no experiment with seeds."""
    said = "expected at least 3 common seeds with one kind of device and number of processes"
    text = tables.as_text(comparison)
    assert said + ": fine-tuning and llr-bc (2)." in text
    assert "p (Holm)" not in text
    shown = page(make_report(comparison, {}))
    assert said in shown
    folders = [
        synthetic_runs.write(tmp_path / method, synthetic_runs.config(method))
        for method in ("llr-bc", "fine-tuning")
    ]
    for single in (compare_folders(folders[:1]), compare_folders(folders)):
        assert "Paired tests" not in tables.as_text(single)
        assert "Paired tests" not in page(make_report(single, {}))
        assert "paired" not in tables.as_csv(single)


def test_csv_of_the_metrics_has_the_tests_and_the_parts_of_ap(tested: Comparison) -> None:
    """They stand in the row of their method; what a row lacks is empty."""
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(tested, split=True))))
    by_label = {row["method"]: row for row in rows}
    assert len(by_label) == len(tested.groups)
    first, *_ = tables.as_json(tested)["paired"]
    row = by_label[first["method"]]
    assert (row["paired_against"], row["paired_seeds"]) == (first["against"], "3")
    names = {
        "difference_1e-3": 1e3 * first["difference"],
        "difference_ci95_1e-3": 1e3 * first["interval"],
        "p": first["p"],
        "p_holm": first["p_holm"],
    }
    for name, value in names.items():
        assert float(row[f"AP_{name}"]) == pytest.approx(value, rel=1e-5)
    learned, forgotten, regained = (
        float(row[f"{part}_1e-3"]) for part in ("never learned", "forgotten", "gained back")
    )
    assert learned + forgotten - regained == pytest.approx(float(row["AP_1e-3"]), abs=1e-3)
    baseline, few, at_once = (
        by_label[f"{method} (order=1)"] for method in ("llr-bc", "restart", "multi-task-epoch")
    )
    for untested in (baseline, few):
        assert {untested["paired_against"], untested["AP_p"], untested["AG_p_holm"]} == {""}
    assert at_once["never learned_1e-3"] == at_once["AF_p"] == ""
    assert at_once["AP_p"] != ""


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0009, "<0.001"), (0.001, "0.001"), (0.004, "0.004"), (1.0, "1.000")]
)
def test_small_probabilities_have_three_digits(p: float, shown: str) -> None:
    """Only below one thousandth a bound is shown."""
    assert paired_table._probability(p) == shown
