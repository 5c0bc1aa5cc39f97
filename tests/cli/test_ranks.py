"""`lifelong-co run` under torchrun."""

from pathlib import Path

from command_line import SMALL
from ranked_runs import two


def test_one_process_prints_and_reports(tmp_path: Path) -> None:
    """`torchrun … lifelong-co run` learns with two processes."""
    tasks = tmp_path / "tasks.toml"
    tasks.write_text(
        'epochs = 1\nbatches = 2\nbatch_size = 4\ntasks = [{distribution = "U", size = 5}]\n'
    )
    arguments = ["run", "--tasks", tasks, "--out", tmp_path / "run", *SMALL]
    printed = two("-m", "lifelong_co_cli.main", *arguments)
    assert printed.count("report: ") == 1
    assert (tmp_path / "run" / "report.html").is_file()
