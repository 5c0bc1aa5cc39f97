"""Two processes at work on one folder."""

import random
import shutil

import attrs
from ends import End, Failed, finished, refused, require
from forks import call, fork_runs, start
from kills import STARTS, Healthy, again, prepare
from tiny import same

__all__ = ["prepare", "trial"]


def trial(healthy: Healthy, draw: random.Random, number: int) -> tuple[End, str]:  # noqa: ARG001
    """Start a command, then a second one in the same folder; the first must end right."""
    command = draw.choice(("run", "run", "pretrain", "sweep"))
    target = healthy.place / f"killed-{command}"
    shutil.rmtree(target, ignore_errors=True)
    fresh = [*STARTS[command], f"--out={target.name}"]
    seconds = draw.uniform(0, 1.2 * healthy.seconds(command))
    first = start(fresh, healthy.place, fork_runs)
    first.sleep(seconds)
    others = [fresh, again(command, target)]
    if command == "run":
        others += [["compare", target.name], ["evaluate", target.name, "--device=cpu"]]
        others += [["report", target.name, "--out=page"]]
    words = draw.choice(others)
    second = call(words, healthy.place, fork_runs)
    shutil.rmtree(healthy.place / "page", ignore_errors=True)
    ended = first.wait()
    what = f"{command}, after {seconds:.2f} s also {' '.join(words[:2])}"
    outcomes = [attrs.evolve(each, out=each.out[-400:]) for each in (ended, second)]
    for outcome in outcomes:
        if not finished(outcome):
            refused(outcome, [target.name])
    if all(outcome.status != 0 for outcome in outcomes):
        raise Failed(f"{what}: both were refused\n{ended}\n{second}")
    if same(command, target) != healthy.results(command):
        raise Failed(f"{what}: other bytes than one process alone\n{ended}\n{second}")
    left = [path.name for path in target.rglob(".*.tmp")]
    require(not left, f"{what}: temporary files stay: {left}")
    return End.RIGHT if all(outcome.status == 0 for outcome in outcomes) else End.REFUSED, what
