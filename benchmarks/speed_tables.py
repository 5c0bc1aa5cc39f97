"""Tables and figures of the documentation that come from measurements (`results/NAME.json`)."""

from collections.abc import Iterable
from typing import Any

import marks
from measurement import read

from lifelong_co.experiments.sheet import Row, Sheet, words

SIZES = (20, 50, 100)


def sheet(key: str, header: Iterable[str], rows: Iterable[Row], note: str = "") -> Sheet:
    """Return a table of words, in which nothing is the best."""
    return Sheet(key=key, title="", header=tuple(header), blocks=(tuple(rows),), note=note)


def made(stored: dict[str, Any]) -> str:
    """Return the commit, the threads and the processor of a measurement."""
    count = stored["threads"]
    return f"Commit {stored['commit']}, {count} thread{'s' * (count > 1)} of {stored['cpu']}."


def rows_of(figures: list[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    """Return figures by one of their values, in order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for figure in figures:
        found.setdefault(figure[key], []).append(figure)
    return found


def by_mark(figures: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return figures by what they measure, in order."""
    return rows_of([{**one, "what": one["mark"]["what"]} for one in figures], "what")


def beside(mark: marks.Mark, value: float, n: int) -> str:
    """Return a ratio, marked if its target is not met; a third digit if it rounds to its target."""
    if mark.held(value, n):
        return f"{value:.2f}"
    digits = 3 if f"{value:.2f}" == f"{mark.bounds[n]:.2f}" else 2
    return f"{value:.{digits}f} ✗"


def targets(name: str = "against_official") -> Sheet:
    """Return the ratios of `against_official.py` with their targets, a row for each of both."""
    stored = read(name)
    found = by_mark(stored["figures"])
    rows = []
    for what, figures in found.items():
        bounds = {int(n): bound for n, bound in figures[0]["mark"]["bounds"].items()}
        mark = marks.Mark(what, bounds, figures[0]["mark"]["upper"])
        every = [f"{bound:g}" for bound in bounds.values()]
        wanted = " / ".join(every if len({*every}) > 1 else every[:1])
        target = f"{'≤' if mark.upper else '≥'} {wanted}" if bounds else ""
        shown = (beside(mark, each["value"]["median"], each["n"]) for each in figures)
        rows.append(words(what, target, *shown))
    header = ("median", "target", *(f"{each['problem']} {each['n']}" for each in figures))
    return sheet("targets", header, rows, f"✗: the target is not met. {made(stored)}")


def speed(what: str, problem: str) -> str:
    """Return the medians of `against_official.py` for 20, 50 and 100 nodes."""
    return by_size(
        {
            each["n"]: f"{each['value']['median']:.2f}"
            for each in read("against_official")["figures"]
            if (each["mark"]["what"], each["problem"]) == (what, problem)
        }
    )


def by_size(found: dict[int, str]) -> str:
    """Return the figures of 20, 50 and 100 nodes in words."""
    return "{}, {} and {}".format(*(found[n] for n in SIZES))


def solvers(*names: str) -> Sheet:
    """Return seconds and ratios of `solvers.py`."""
    stored = read("solvers")
    chosen = [one for one in stored["figures"] if one["solver"] in names]
    searched = any(one["knn"] for one in chosen)
    rows = []
    for one in chosen:
        at = (one["problem"], str(one["n"]), str(one["rows"]), one["what"])
        seconds = (f"{one[side]:.3f}" for side in ("ours", "official"))
        of = [one["ratio"], *[one["without"]] * searched]
        ratios = ("{median:.2f} ({low:.2f} to {high:.2f})".format(**each) for each in of)
        rows.append(words(one["solver"], *at, *seconds, *ratios))
    header = ["solver", "problem", "n", "rows", "what", "ours, s", "official, s", "ratio"]
    note = f"In brackets: quartiles of {stored['repeats']} turns. {made(stored)}"
    return sheet("solvers", [*header, *["without the search"] * searched], rows, note)


def span(names: str, problems: str, whats: str) -> str:
    """Return the smallest and the largest ratio of `solvers.py` among some: names with commas."""
    chosen = {*names.split(","), *problems.split(","), *whats.split(",")}
    found = [
        one["ratio"]["median"]
        for one in read("solvers")["figures"]
        if {one["solver"], one["problem"], one["what"]} <= chosen
    ]
    return f"{min(found):.1f} to {max(found):.1f}"


def method_steps() -> Sheet:
    """Return the ratios of `method_steps.py`: a row for each method."""
    stored = read("method_steps")
    rows, groups = [], [name for name in stored["figures"][0] if name not in ("problem", "method")]
    for name, of_problem in rows_of(stored["figures"], "method").items():
        method, _, options = name.partition(", ")
        label = f"`{method}`" + f", `{options}`" * bool(options)
        rows.append(words(label, *(f"{one[group]:.2f}" for one in of_problem for group in groups)))
    problems = [one["problem"].upper() for one in of_problem]
    header = (f"{problem}, {group}" for problem in problems for group in groups)
    return sheet("method_steps", ("method", *header), rows, made(stored))


def ratio_of_steps(method: str, problem: str) -> float:
    """Return the time of a method's steps in all tasks, in multiples of that of fine-tuning."""
    (found,) = (
        one["all tasks"]
        for one in read("method_steps")["figures"]
        if (one["method"], one["problem"]) == (method, problem)
    )
    return float(found)


def steps(method: str, problem: str) -> str:
    """Return this ratio in short."""
    return f"{ratio_of_steps(method, problem):.2f}"


def ratio_of_runs(row: str, problem: str) -> float:
    """Return the time of a whole run, in multiples of that of fine-tuning."""
    (found,) = (
        one["ratio"]
        for one in read("whole_runs")["figures"]
        if (one["row"], one["problem"]) == (row, problem)
    )
    return float(found)


def whole(row: str, problem: str) -> str:
    """Return this ratio in short."""
    return f"{ratio_of_runs(row, problem):.2f}"


def where(problem: str) -> Sheet:
    """Return the shares of `where.py`: a column for each step."""
    stored = read("where")
    figures = [one for one in stored["figures"] if one["problem"] == problem]
    rows = [
        words(kind, *(f"{one['shares'][kind]:.0%}" for one in figures))
        for kind in figures[0]["shares"]
    ]
    header = ("", *(f"{one['step']} {one['n']}" for one in figures))
    return sheet("where", header, rows, made(stored))


def share(kind: str, step: str, problem: str) -> str:
    """Return a row of `where` for one step: percents at 20, 50 and 100 nodes."""
    return by_size(
        {
            one["n"]: f"{100 * one['shares'][kind]:.0f}"
            for one in read("where")["figures"]
            if (one["step"], one["problem"]) == (step, problem)
        }
    )


def memory() -> Sheet:
    """Return the peaks of `memory.py`, and the bytes of states of `against_official.py`."""
    peaks, states = read("memory"), read("against_official")
    rows = [
        words(
            f"peak of a run of preset `paper`, {one['problem'].upper()}, {one['n']} nodes, "
            f"`{one['method']}`",
            f"{one['mib']:,} MiB",
            peaks["commit"],
        )
        for one in peaks["figures"]
    ]
    held = [one for one in states["figures"] if one["mark"]["what"] == marks.BYTES.what]
    for problem, each in rows_of(held, "problem").items():
        found = {one["n"]: one for one in each}
        taken = by_size({n: one["note"].split()[0] for n, one in found.items()})
        less = by_size({n: f"{one['value']['median']:.1f}" for n, one in found.items()})
        what = f"bytes of a buffered state at 20, 50 and 100 nodes, {problem.upper()}"
        shown = f"{taken} ({less} times less than the official code)"
        rows.append(words(what, shown, states["commit"]))
    return sheet("memory", ("what", "measured", "commit"), rows, "")


def noise() -> Sheet:
    """Return the noise of `replay_noise.py`: a row for each way, a column for each run."""
    stored = read("replay_noise")
    rows = [
        words(way, f"{each[0]['rows']:.0f}", *(f"{one['noise']:.2f}" for one in each))
        for way, each in rows_of(stored["figures"], "way").items()
    ]
    seeds = dict.fromkeys(f"seed {one['seed']}" for one in stored["figures"])
    return sheet("noise", ("", "encoded", *seeds), rows, made(stored))


def gradient_norms() -> Sheet:
    """Return the norms of `gradient_norms.py`: a row for each objective."""
    stored = read("gradient_norms")
    found = rows_of(stored["figures"], "objective")
    rows = [words(f"`{of}`", *(f"{one['norm']:.2g}" for one in each)) for of, each in found.items()]
    columns = (f"{one['problem'].upper()}, {one['task']}" for one in next(iter(found.values())))
    note = f"Means of steps {stored['steps'] - stored['last'] + 1} to {stored['steps']}."
    return sheet("norms", ("objective", *columns), rows, f"{note} {made(stored)}")


def soak() -> Sheet:
    """Return the growth of a long run (`soak.py`): every third tenth of the way, and the end."""
    stored = read("soak")
    *way, tested, reported = stored["figures"]
    rows = [
        words(
            one["what"],
            f"{one['memory_mib']:.0f} MiB",
            f"{one['costs_mib']:.1f} MiB",
            f"{one['other_mib']:.0f} MiB",
        )
        for one in (*way[::3], tested, reported)
    ]
    header = ("tasks learned", "memory", "files with costs", "all other files")
    note = f"The report has {stored['report_mib']:.1f} MiB. {made(stored)}"
    return sheet("soak", header, rows, note)
