"""A wrong name, value or file gives one line with its name and status 2; no file changes."""

import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest
from command_line import Outcome, call, contents, run_options
from paths import FIXTURES

BUDGET = "epochs = 1\nbatches = 1\nbatch_size = 2\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Work in a folder with a task file and a folder with notes."""
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("tasks.toml").write_text(BUDGET + '[[tasks]]\ndistribution = "U"\nsize = 5\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    return tmp_path


def refusal(outcome: Outcome) -> str:
    """Return the line of an error, without the name of the program."""
    assert outcome.status == 2, outcome
    assert "Traceback" not in outcome.out + outcome.err
    [line] = outcome.err.splitlines()
    assert line.startswith("lifelong-co: ")
    return line.removeprefix("lifelong-co: ")


def run(*arguments: object, method: str = "llr-bc") -> Outcome:
    """Run `lifelong-co run` on the task file with the arguments added, into a new folder."""
    tasks = Path("tasks.toml")
    plain = run_options(tasks, "fine-tuning", "cvrp")  # no option of llr-bc is given yet
    given = {str(argument).rpartition("=")[0] for argument in arguments} - {""}
    kept = [word for word in plain if word.rpartition("=")[0] not in given]
    return call(*kept, f"--method={method}", "--out", "new", *arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--solver=pmo"], "Unknown solver 'pmo'; expected one of: .*pomo.* Did you mean 'pomo'?"),
        (["--problem=vrp"], "Unknown problem 'vrp'; expected one of: tsp, cvrp."),
        (["--method=llrbc"], "Unknown method 'llrbc'; .* Did you mean 'llr-bc'?"),
        (
            ["--preset=tiny"],
            "Unknown preset 'tiny'; expected one of: paper, paper-economy, small, demo.",
        ),
        (["--weighting=var"], "Unknown weighting 'var'; .* Did you mean 'variance'?"),
        (["--divergence=jsd"], "Unknown divergence 'jsd'; expected one of: .*kl.*rkl"),
        (["--behavior=probs"], "Unknown behavior 'probs'; .* Did you mean 'probabilities'?"),
        (["--alpha=-1"], "method 'llr-bc': alpha: expected at least 0.*, got -1.0"),
        (["--alpha=nan"], "method 'llr-bc': alpha: expected at least 0.*, got nan"),
        (["--buffer-size=-2"], "method 'llr-bc': buffer_size: expected at least 0.*, got -2"),
        (["--replay-rows=1.5"], r"replay_rows: expected a fraction in \(0, 1\], got 1.5"),
        (["--method-option=alpha"], "--method-option: expected NAME=VALUE, got 'alpha'"),
        (["--solver-option==3"], "--solver-option: expected NAME=VALUE, got '=3'"),
        (["--method-option=alpha=x"], "'llr-bc': alpha: expected a number, got 'x'"),
        (["--method-option=alpha=true"], "'llr-bc': alpha: expected a number, got True"),
        (["--method-option=replay_size=2.5"], "replay_size: expected a whole number, got 2.5"),
        (["--method-option=behavior=3"], "'llr-bc': behavior: expected a string, got 3"),
        (["--method-option=alfa=3"], "Unknown option 'alfa'; .* Did you mean 'alpha'?"),
        (["--solver-option=head_num=0"], "'pomo': head_num: expected more than 0, got 0"),
        (["--solver-option=head_num=two"], "'pomo': head_num: expected a whole number, got 'two'"),
        (["--solver-option=heads=8"], "solver 'pomo': Unknown option 'heads'; expected one of"),
        (["--device=gpu"], "--device: expected auto, cpu, cuda or cuda:1, …, got 'gpu'"),
        (["--device=cuda:99"], "--device: .* got 'cuda:99', which is not here"),
        (["--device=meta"], "--device: expected auto, cpu, cuda or cuda:1, …, got 'meta'"),
        (["--setting=optimizer=sgd"], "Unknown optimizer 'sgd'; expected one of: adam, adamw"),
        (["--setting=optimiser=adamw"], "setting 'optimiser'; .* Did you mean 'optimizer'?"),
        (["--setting=tests=9"], "tests: expected one value, got 8 and 9"),
        (
            ["--preset=paper", "--solver=omni"],
            "omni.*: expected start_from, a folder made by `pretrain` or `import-checkpoint`",
        ),
        (["--precision=half"], "Unknown precision 'half'; expected one of: float32, bfloat16"),
        (["--order=1"], "tasks: expected an order or a task file, got both"),
        (["--out=mine"], "mine: expected a new or empty folder, got something else; choose"),
        (["--out=tasks.toml"], "tasks.toml: expected a new or empty folder, got something else"),
        (["--out=tasks.toml/new"], "tasks.toml/new: cannot be written"),
        (["--tasks=absent.toml"], "task file absent.toml: cannot be read"),
        (["--tasks=mine"], "task file mine: cannot be read"),
    ],
)
def test_wrong_option_of_run_is_refused(arguments, expected, place):
    """The error names the option and what was expected; no file is made or changed."""
    before = contents(place)
    assert re.search(expected, refusal(run(*arguments)))
    assert contents(place) == before
    assert not (place / "new").exists()


def test_unknown_order_is_refused(place):
    """The error names the five orders of the paper."""
    shown = refusal(call("run", "--order", 7))
    assert shown == "Unknown task order '7'; expected one of: 1, 2, 3, 4, 5."
    assert not (place / "runs").exists()


@pytest.mark.parametrize("method", ["fine-tuning", "restart"])
def test_option_of_another_method_is_refused(method, place):
    """`--alpha` is an option of llr-bc; a method without options says so."""
    assert refusal(run("--alpha=3", method=method)) == (
        f"method '{method}': takes no options, got 'alpha'"
    )
    assert not (place / "new").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[tasks]]\ndistribution = "X"\nsize = 5', r"Unknown distribution 'X'; .*\(task X5\)"),
        ('[[tasks]]\ndistribution = "u"\nsize = 5', "Unknown distribution 'u'; .* mean 'U'?"),
        ('[[tasks]]\ndistribution = "U"\nbatchs = 3', "task 1: Unknown key 'batchs'; .* 'batches'"),
        ('[[tasks]]\ndistribution = "U"\nsize = 1', "task 1: .*at least 2 nodes, got 1"),
        (
            '[[tasks]]\ndistribution = "U"\nsize = "5"',
            "task 1: size: expected a whole number, got '5'",
        ),
        ('[[tasks]]\ndistribution = "U"\nsize = 5\nepochs = 0', "epochs: expected .* 1, got 0"),
        ('[[tasks]]\ndistribution = "U"\nsize = 5\nvariant = "x"', "Unknown variant 'x'"),
        ('[[tasks]]\ndistribution = "U"\nsize = 5\ncapacity = 3', "capacity: .* 10, .* got 3"),
        ("[[tasks]]\nsize = 5", "task 1: .*expected either a distribution or files"),
        ("tasks = [1]", r"expected \[\[tasks\]\] tables?, got 1"),
        ("", r"expected at least one \[\[tasks\]\] table, got none"),
        ("size 5", "not valid TOML"),
        ('[[tasks]]\nfiles = "absent.npz"', "absent.npz: cannot be read"),
        ('[[tasks]]\nfiles = "mine"', "mine: problem cvrp: expected at least one .npz or"),
        ('[[tasks]]\nfiles = "nan.npz"', "nan.npz: nodes: expected finite numbers, got nan"),
        ('[[tasks]]\nfiles = "good.npz"\nsize = 9', "good.npz: .*size 9, got 5"),
        (
            '[[tasks]]\nfiles = "good.npz"\ntest_files = "six.npz"\nsize = 6',
            "good.npz: .*size 6, got 5",
        ),
    ],
)
def test_wrong_task_file_is_refused(text, expected, place):
    """The error names the file or the task, and what was expected; nothing is trained."""
    for name, n, value in (("nan", 5, np.nan), ("good", 5, 0.5), ("six", 6, 0.5)):
        fields = {"depot": np.full((2, 1, 2), 0.5), "demand": np.full((2, n), 0.3)}
        np.savez(place / f"{name}.npz", nodes=np.full((2, n, 2), value), **fields)
    (place / "wrong.toml").write_text(BUDGET + text)
    before = contents(place)
    assert re.search(expected, refusal(run("--tasks=wrong.toml")))
    assert contents(place) == before
    assert not (place / "new").exists()


@pytest.mark.usefixtures("place")
def test_run_folder_is_not_overwritten(finished):
    """The error shows the command that resumes the run in the folder."""
    folder = finished().folder
    before = contents(folder)
    shown = refusal(run("--out", folder))
    assert shown.endswith(f"or continue it with: lifelong-co run --resume '{folder}'")
    assert contents(folder) == before


@pytest.mark.usefixtures("place")
def test_resume_refuses_other_options():
    """The stored configuration decides; the error names the options."""
    said = refusal(call("run", "--resume", "mine", "--alpha", 3, "--seed", 0))
    assert "--resume takes the configuration of the run; leave out" in said
    assert "--alpha" in said
    assert "--seed" in said
    assert "--method" not in said


@pytest.mark.parametrize("folder", ["mine", "absent", "tasks.toml"])
@pytest.mark.parametrize("command", ["resume", "evaluate", "solve"])
def test_folder_without_run_is_refused(command, folder, place):
    """The error of each command says what a run folder holds."""
    arguments = {
        "resume": ["run", "--resume", folder],
        "evaluate": ["evaluate", folder],
        "solve": ["solve", FIXTURES / "four.vrp", "--checkpoint", folder],
    }[command]
    before = contents(place)
    shown = refusal(call(*arguments))
    assert shown.startswith(f"{folder}: expected a run folder with config.toml")
    assert contents(place) == before


@pytest.mark.parametrize("many", [".", "runs"])
def test_folder_of_runs_names_one(many, place):
    """A sweep has its runs in ``runs/``."""
    run = place / "sweep" / many / "one"
    run.mkdir(parents=True)
    (run / "config.toml").touch()
    for command in ("evaluate", "compare"):
        shown = refusal(call(command, place / "sweep"))
        assert shown.endswith(f"; it has runs, e.g. {run})")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("seed = 0", "seed = -1", "seed: expected .* at least 0, got -1"),
        ("tests = 8", "tests = 0", "tests: expected .* at least 1, got 0"),
        ("seed = 0", "sed = 0", "Unknown key 'sed'.* Did you mean 'seed'?"),
        ('device = "cpu"', 'device = "cuda:99"', "got 'cuda:99', which is not here"),
        ("seed = 0", "seed =", "config.toml: not valid TOML"),
    ],
)
def test_wrong_stored_configuration_is_refused(old, new, expected, place, finished):
    """The error names the wrong key or value."""
    text = (finished().folder / "config.toml").read_text()
    assert old in text
    (place / "mine" / "config.toml").write_text(text.replace(old, new))
    before = contents(place)
    assert re.search(expected, refusal(call("run", "--resume", "mine")))
    assert contents(place) == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "--alpha=much"], "Invalid value for '--alpha': expected a number, got 'much'"),
        (["run", "--seed=-1"], "Invalid value for '--seed': expected at least 0, got '-1'"),
        (["run", "--tests=x"], "Invalid value for '--tests': expected a whole number, got 'x'"),
        (["compare", "x", "--format=latex"], "'latex' is not one of 'text', 'csv', 'json'."),
        (["run", "--curve-every=0"], "Invalid value for '--curve-every'"),
        (["run", "--tests=0"], "Invalid value for '--tests'"),
        (["run", "--aplha=1"], "No such option: --aplha"),
        (
            ["run", "--alpha=1", "--method-option=alpha=2"],
            "expected --alpha or --method-option alpha",
        ),
        (["evaluate"], "Missing argument 'DIR'"),
        (["solve", "--no-augment"], "Missing argument 'FILE"),
        (["train"], "No such command 'train'"),
    ],
)
def test_wrong_command_line_is_refused(arguments, expected, place):
    """The error is one line with the option, argument or command."""
    before = contents(place)
    assert expected in refusal(call(*arguments))
    assert contents(place) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_write_permission_is_refused(place):
    """The error names the folder and the reason."""
    (place / "mine").chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert "mine/new: cannot be written (Permission denied)" in refusal(run("--out=mine/new"))
