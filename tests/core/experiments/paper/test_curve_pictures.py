"""The curves of each order as pictures."""

from pathlib import Path
from typing import Any

import pytest
import synthetic_runs

from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.comparison.comparison import Group
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.curve_pictures import SEEDS, curve_pictures, forgetting
from lifelong_co.experiments.paper.studies import chapters

PNG = b"\x89PNG\r\n\x1a\n"


def test_a_run_has_three_pictures(tmp_path: Path) -> None:
    """Costs, gaps and plasticity of the only order; one seed has no band."""
    synthetic_runs.write(tmp_path / "run", synthetic_runs.config("fine-tuning", ("E", "U")))
    (chapter,) = chapters(collect([tmp_path]).runs)
    drawn = curve_pictures(chapter)
    names = ("forgetting", "forgetting-gap", "plasticity")
    assert [picture.key for picture in drawn] == [f"{name}-cvrp-pomo-order 1" for name in names]
    assert all(picture.png.startswith(PNG) for picture in drawn)
    assert len({picture.png for picture in drawn}) == 3
    assert drawn[0].caption == "Forgetting, mean cost: CVRP, order 1 (E20 → U10), pomo."


def test_runs_with_other_numbers_of_epochs_have_a_panel_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the axis of the first run the curve of the other one would be cut."""
    for method, epochs in (("fine-tuning", 3), ("llr-bc", 8)):
        task = {"epochs": epochs}
        of = synthetic_runs.config(method, ("E", "U"), epochs=epochs, task=task)
        synthetic_runs.write(tmp_path / method, of)
    (chapter,) = chapters(collect([tmp_path]).runs)
    drawn: list[list[str]] = []

    def noted(axes: object, comparison: object, groups: list[Group], best: object) -> None:  # noqa: ARG001
        drawn.append([group.label for group in groups])

    monkeypatch.setattr(figures, "draw_learned", noted)
    (study,) = chapter.studies
    forgetting(study.comparison(chapter.tasks))
    assert drawn == [["fine-tuning"], ["llr-bc"]]


def test_a_caption_explains_the_bands_of_several_seeds(tmp_path: Path) -> None:
    """Two seeds of one method share a picture; multi-task learning has no curves."""
    for seed in (0, 1):
        of = synthetic_runs.config("fine-tuning", ("E", "U"), seed=seed)
        synthetic_runs.write(tmp_path / f"seeds/{seed}", of)
    (chapter,) = chapters(collect([tmp_path / "seeds"]).runs)
    drawn = curve_pictures(chapter)
    assert len(drawn) == 3
    assert all(picture.caption.endswith(f"pomo{SEEDS}.") for picture in drawn)
    at_once = synthetic_runs.config("multi-task-epoch", ("E", "U"))
    synthetic_runs.write(tmp_path / "at-once", at_once)
    (chapter,) = chapters(collect([tmp_path / "at-once"]).runs)
    assert curve_pictures(chapter) == []


def test_one_run_of_one_task_has_no_gap(tmp_path: Path) -> None:
    """Its cost is its own d*."""
    synthetic_runs.write(tmp_path / "run", synthetic_runs.config("fine-tuning", ("E",)))
    (chapter,) = chapters(collect([tmp_path]).runs)
    keys = [picture.key for picture in curve_pictures(chapter)]
    assert keys == ["forgetting-cvrp-pomo-order 1", "plasticity-cvrp-pomo-order 1"]


def test_methods_keep_their_colors_in_an_order_that_lacks_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second order has no run of the first method."""
    for method, order in (("fine-tuning", "EU"), ("llr-bc", "EU"), ("llr-bc", "UE")):
        of = synthetic_runs.config(method, tuple(order), order={"EU": "1", "UE": "2"}[order])
        synthetic_runs.write(tmp_path / f"{method}-{order}", of)
    (chapter,) = chapters(collect([tmp_path]).runs)
    places: list[list[tuple[str, int]]] = []
    drawn = figures.plasticity

    def noted(comparison: Any, *given: Any, **named: Any) -> bytes:
        places.append([(group.label, comparison.style(group)) for group in comparison.groups])
        return drawn(comparison, *given, **named)

    monkeypatch.setattr(figures, "plasticity", noted)
    curve_pictures(chapter)
    first, second = places
    assert len(first) == 2
    assert len(second) == 1
    assert second[0] in first
