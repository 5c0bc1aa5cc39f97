"""The tables and figures of stored measurements."""

import importlib

import pytest


@pytest.fixture
def page(program):
    """Return the module."""
    return program("page")


@pytest.fixture
def stored(page, tmp_path, monkeypatch):  # noqa: ARG001
    """Return a function that stores figures as those of a program."""
    measurement = importlib.import_module("measurement")
    monkeypatch.setattr(measurement, "RESULTS", tmp_path)
    made = {"commit": "0123456", "threads": 2, "cpu": "a processor", "repeats": 3}

    def store(name, figures, **more):
        measurement.store(tmp_path / f"{name}.json", {**made, **more}, figures)

    return store


def shown(sheet):
    """Return the texts of all rows."""
    return [[cell.shown for cell in row] for row in sheet.rows]


def test_a_measurement_is_read_as_it_was_stored(stored, tmp_path):
    """With its machine; without a file nothing is written."""
    measurement = importlib.import_module("measurement")
    stored("where", [{"n": 20}])
    assert measurement.read("where")["figures"] == [{"n": 20}]
    assert measurement.read("where")["commit"] == "0123456"
    measurement.store(None, {}, [])
    assert [file.name for file in tmp_path.iterdir()] == ["where.json"]
    assert {"commit", "cpu", "threads", "torch"} <= measurement.about().keys()


def test_targets_are_those_of_the_stored_file(page, stored):
    """A ratio on the wrong side of its bound is marked."""

    def figure(problem, n, median):
        mark = {"what": "a step", "bounds": {"20": 2.0, "50": 1.5}, "upper": False}
        return {"mark": mark, "problem": problem, "n": n, "value": {"median": median}}

    sizes = ((20, 2.0), (50, 1.4), (100, 0.1))
    stored("against_official", [figure("cvrp", n, median) for n, median in sizes])
    made = page.speed_tables.targets()
    assert made.header == ("median", "target", "cvrp 20", "cvrp 50", "cvrp 100")
    assert shown(made) == [["a step", "≥ 2 / 1.5", "2.00", "1.40 ✗", "0.10"]]
    assert made.note.endswith("Commit 0123456, 2 threads of a processor.")
    text = '<!-- speed: "a step" cvrp -->?<!-- end -->'
    assert page.filled(text) == text.replace("?", "2.00, 1.40 and 0.10")


def test_solvers_show_the_ratio_without_the_search_only_where_there_is_one(page, stored):
    """The span is that of the medians of the chosen rows."""

    def figure(solver, what, median, knn):
        ratio = {"median": median, "low": median - 1, "high": median + 1}
        at = {"solver": solver, "problem": "tsp", "n": 20, "rows": 64, "what": what}
        return {**at, "ours": 0.5, "official": 1.0, "knn": knn, "ratio": ratio, "without": ratio}

    rows = [("pomo", "step", 2.0, 0.0), ("pomo", "rollout", 3.0, 0.0), ("invit", "step", 4.0, 0.1)]
    stored("solvers", [figure(*row) for row in rows])
    made = page.speed_tables.solvers("pomo")
    assert made.header[-1] == "ratio"
    at = ["pomo", "tsp", "20", "64", "step", "0.500", "1.000"]
    assert shown(made)[0] == [*at, "2.00 (1.00 to 3.00)"]
    assert page.speed_tables.solvers("invit").header[-1] == "without the search"
    text = "<!-- span: pomo tsp rollout,step -->?<!-- end -->"
    assert page.filled(text) == text.replace("?", "2.0 to 3.0")


def test_method_steps_have_a_row_for_each_method(page, stored):
    """Both problems stand beside each other."""
    ratios = {"cvrp": 1.5, "tsp": 1.25}
    methods = ("fine-tuning", "rehearsal, share=0.3")
    stored(
        "method_steps",
        [
            {"problem": problem, "method": method, "all tasks": ratio * ("share" in method)}
            for problem, ratio in ratios.items()
            for method in methods
        ],
    )
    made = page.speed_tables.method_steps()
    assert made.header == ("method", "CVRP, all tasks", "TSP, all tasks")
    assert shown(made)[1] == ["`rehearsal`, `share=0.3`", "1.50", "1.25"]
    text = '<!-- steps: "rehearsal, share=0.3" tsp -->?<!-- end -->'
    assert page.filled(text) == text.replace("?", "1.25")


def test_whole_runs_are_those_of_the_problem(page, stored):
    """The ratio in short."""
    rows = [("cvrp", 1.456), ("tsp", 1.4)]
    stored("whole_runs", [{"problem": of, "row": "rehearsal", "ratio": it} for of, it in rows])
    text = '<!-- whole: "rehearsal" cvrp -->?<!-- end -->'
    assert page.filled(text) == text.replace("?", "1.46")


def test_shares_are_those_of_the_problem(page, stored):
    """A column for each step and size."""
    sizes, problems = (20, 50, 100), (("cvrp", 0.1), ("tsp", 0.2))
    stored(
        "where",
        [
            {"problem": problem, "step": "test", "n": n, "shares": {"sums": share + n / 1000}}
            for problem, share in problems
            for n in sizes
        ],
    )
    made = page.speed_tables.where("tsp")
    assert made.header == ("", "test 20", "test 50", "test 100")
    assert shown(made) == [["sums", "22%", "25%", "30%"]]
    text = "<!-- share: sums test cvrp -->?<!-- end -->"
    assert page.filled(text) == text.replace("?", "12, 15 and 20")


def test_memory_has_peaks_and_bytes_of_a_state(page, stored):
    """Each with the commit of its measurement."""
    marks = importlib.import_module("marks")
    stored("memory", [{"method": "llr-bc", "problem": "cvrp", "n": 100, "mib": 1333}])
    mark = {"what": marks.BYTES.what}
    stored(
        "against_official",
        [
            {"mark": mark, "problem": "tsp", "n": n, "value": {"median": n / 10}, "note": f" {n} b"}
            for n in (20, 50, 100)
        ],
    )
    peak, state = shown(page.speed_tables.memory())
    assert peak[1:] == ["1,333 MiB", "0123456"]
    assert state[1].startswith("20, 50 and 100 (2.0, 5.0 and 10.0 times less")


def test_noise_has_a_column_for_each_run(page, stored):
    """A row for each way to replay."""
    stored(
        "replay_noise",
        [
            {"seed": seed, "way": way, "rows": 41.6, "noise": seed + 0.5}
            for seed in (0, 2)
            for way in ("few", "many")
        ],
    )
    made = page.speed_tables.noise()
    assert made.header == ("", "encoded", "seed 0", "seed 2")
    assert shown(made) == [["few", "42", "0.50", "2.50"], ["many", "42", "0.50", "2.50"]]


def test_norms_have_a_row_for_each_objective(page, stored):
    """And a column for each problem and task."""
    figures = [
        {"objective": objective, "problem": problem, "task": "E20", "norm": norm}
        for objective, norm in (("reinforce", 3.63), ("preference", 0.0923))
        for problem in ("cvrp", "tsp")
    ]
    stored("gradient_norms", figures, steps=100, last=20)
    made = page.speed_tables.gradient_norms()
    assert made.header == ("objective", "CVRP, E20", "TSP, E20")
    assert shown(made) == [["`reinforce`", "3.6", "3.6"], ["`preference`", "0.092", "0.092"]]
    assert made.note.startswith("Means of steps 81 to 100. ")


def test_a_long_run_shows_every_third_tenth_and_the_end(page, stored):
    """The tests of all tasks and the report are the last two figures."""
    sizes = {"memory_mib": 347.4, "costs_mib": 0.34, "other_mib": 18.1}
    whats = [*(f"{n},000" for n in range(1, 11)), "all tested", "report"]
    stored("soak", [{"what": what, **sizes} for what in whats], report_mib=0.75)
    rows = shown(page.speed_tables.soak())
    assert [row[0] for row in rows] == ["1,000", "4,000", "7,000", "10,000", "all tested", "report"]
    assert rows[0][1:] == ["347 MiB", "0.3 MiB", "18 MiB"]


def test_a_ratio_that_rounds_to_its_target_has_a_third_digit(program):
    """A missed target of 1.5 is not printed as 1.50."""
    tables, marks = program("speed_tables"), importlib.import_module("marks")
    least, most = marks.Mark("a", {20: 1.5}), marks.Mark("a", {20: 1.5}, True)
    values = (1.498, 1.5, 1.502, 1.2)
    assert [tables.beside(least, x, 20) for x in values] == ["1.498 ✗", "1.50", "1.50", "1.20 ✗"]
    assert [tables.beside(most, x, 20) for x in values] == ["1.50", "1.50", "1.502 ✗", "1.20"]
    assert tables.beside(least, 1.498, 50) == "1.50"
