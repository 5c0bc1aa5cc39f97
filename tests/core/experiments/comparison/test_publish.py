"""Reports of runs as files: escaped, made again, never overwritten by default."""

import sys
from pathlib import Path

import attrs
import pages
import pytest
import synthetic_runs
from synthetic_references import FOUND, lay

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import publish, tables
from lifelong_co.experiments.comparison.comparison import compare_folders
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page
from lifelong_co.experiments.references import gaps
from lifelong_co.experiments.references.places import Places
from lifelong_co.tasks import instances as streams


def test_names_are_escaped_on_the_page(tmp_path: Path) -> None:
    """A task's or folder's name can bring no markup with it, and a dollar sign no mathematics."""
    evil = '<b>&"$\\frac$'
    of = synthetic_runs.config(task={"name": evil})
    folder = synthetic_runs.write(tmp_path / "<i>run", of)
    text = publish.write_run_report(folder).read_text(encoding="utf-8")
    assert not {"b", "i"} & set(pages.parse(text).tags)
    assert "&lt;b&gt;&amp;&quot;$\\frac$" in text


def test_without_matplotlib_tables_and_page_still_come(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page then says how to get the figures."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    *_, report = publish.write_report(compare_folders(folders), tmp_path / "out")
    assert sorted(path.name for path in report.parent.iterdir()) == [
        "report.html",
        "table.csv",
        "table.txt",
    ]
    assert "pip install &#x27;lifelong-co[plot]&#x27;" in report.read_text(encoding="utf-8")


def test_a_run_report_can_be_made_again(tmp_path: Path) -> None:
    """The report of a run lies in its folder and is replaced, not refused, when made again."""
    folder = synthetic_runs.write(tmp_path / "run", synthetic_runs.config())
    before = {path.name for path in folder.iterdir()}
    assert publish.write_run_report(folder) == folder / "report.html"
    first = (folder / "report.html").read_bytes()
    publish.write_run_report(folder)
    assert (folder / "report.html").read_bytes() == first
    assert {path.name for path in folder.iterdir()} == before | {"figures", "report.html"}
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        "forgetting.png",
        "plasticity.png",
    ]


def test_existing_reports_are_not_overwritten_by_default(
    folders: list[Path], tmp_path: Path
) -> None:
    """One file of an earlier report is enough to refuse, and then nothing is written at all."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "table.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"holds table.txt already.*pass overwrite"):
        publish.write_report(compare_folders(folders), out)
    assert [path.name for path in out.iterdir()] == ["table.txt"]
    assert (out / "table.txt").read_text() == "mine"
    publish.write_report(compare_folders(folders[:1]), out, overwrite=True)
    assert {path.name for path in out.iterdir()} == {*publish.FILES} - {"costs.png"}
    with pytest.raises(ConfigError, match="expected a folder, got a file"):
        publish.write_report(compare_folders(folders), out / "table.txt")


def test_picture_of_the_user_is_not_replaced(folders: list[Path], tmp_path: Path) -> None:
    """A comparison of many tasks writes a picture of this name, another one would remove it."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "costs.png").write_bytes(b"mine")
    with pytest.raises(ConfigError, match=r"holds costs\.png already"):
        publish.write_report(compare_folders(folders), tmp_path / "out")
    assert (tmp_path / "out" / "costs.png").read_bytes() == b"mine"


def test_matrices_are_those_of_lifelong_runs(tmp_path: Path) -> None:
    """The picture is there with many tasks only; a multi-task run has no matrix to show."""
    made = []
    for method in ("multi-task-epoch", "fine-tuning"):
        config = synthetic_runs.config(method, epochs=1)
        tasks = [attrs.evolve(config.tasks[i % 3], name=f"T{i + 1}") for i in range(30)]
        config = attrs.evolve(config, tasks=tuple(tasks))
        made.append(synthetic_runs.write(tmp_path / method, config))
    both, alone = compare_folders(made), compare_folders(made[:1])
    images = publish.draw(both)
    assert set(images) == {"forgetting", "plasticity", "costs"}
    assert "Cost matrices of fine-tuning<" in page(make_report(both, images))
    assert publish.draw(alone) == {}
    assert "Shaded" not in page(make_report(alone, {}))


def test_figures_of_a_former_report_do_not_stay(folders: list[Path], tmp_path: Path) -> None:
    """The new page says that there are none; a figure of the user stays."""
    config = synthetic_runs.config("multi-task-epoch")
    alone = compare_folders([synthetic_runs.write(tmp_path / "multi", config)])
    for folder, written in ((tmp_path / "out", False), (tmp_path / "multi", True)):
        pictures = folder / "figures" if written else folder
        publish.write_report(compare_folders(folders), pictures)
        (pictures / "mine.png").write_bytes(b"")
        if written:
            publish.write_run_report(folder)
        else:
            publish.write_report(alone, folder, overwrite=True)
        assert [path.name for path in pictures.glob("*.png")] == ["mine.png"]


def test_written_comparison_has_gaps(comparison, tmp_path):
    """Text, CSV and page in the folder; they say which references were used."""
    publish.write_report(comparison, tmp_path / "out", references=FOUND)
    for name in ("table.txt", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert f"{tables.GAPS} in own and theirs (published)" in text
    assert "E20_gap" in (tmp_path / "out" / "table.csv").read_text()


def test_report_of_a_run_has_gaps(tmp_path):
    """On the tasks whose test instances all have a reference; one that is damaged is named."""
    of = synthetic_runs.config()
    folder = synthetic_runs.write(tmp_path / "run", of)
    before = publish.write_run_report(folder).read_text(encoding="utf-8")
    lay(tmp_path / "references", of.tasks[2], of.tests, 6.0)
    (tmp_path / "references" / "cvrp-C40.npz").write_text("torn")
    found = gaps.mean_references(of, Places(tmp_path / "references"))
    assert found.means == {"U10": pytest.approx(6.0)}
    text = publish.write_run_report(folder, references=found).read_text(encoding="utf-8")
    cost = compare_folders([folder]).runs[0].costs[-1][2]
    assert f"{cost:.4f} ({cost / 6 - 1:.2%})" in text
    assert f"{tables.GAPS} in {tmp_path / 'references'}." in text
    assert "no gap on C40: " in text
    assert tables.GAPS not in before
    drawn = [streams.testing(task, registry.problem("cvrp"), of.tests) for task in of.tasks]
    assert gaps.mean_references(of, Places(tmp_path / "references"), drawn).means == found.means
    absent = gaps.mean_references(of, Places(tmp_path / "absent"))
    unchanged = publish.write_run_report(folder, references=absent).read_text(encoding="utf-8")
    assert unchanged == before


def test_failed_report_leaves_no_empty_folder(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is found with the first file, after the folder was made."""

    def full(path: Path, content: object) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publish, "write_whole", full)
    with pytest.raises(ConfigError, match=r"table\.txt: cannot be written: No space left"):
        publish.write_report(compare_folders(folders), tmp_path / "new" / "out")
    assert not (tmp_path / "new").exists()
