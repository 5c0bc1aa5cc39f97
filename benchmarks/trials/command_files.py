"""The files and run folders that the wrong command lines refer to."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

BUDGET = "epochs = 1\nbatches = 1\nbatch_size = 2\n"
TASK = '[[tasks]]\ndistribution = "U"\nsize = 5\n'
MODEL = (
    *("--solver-option=embedding_dim=16", "--solver-option=head_num=2"),
    *("--solver-option=qkv_dim=8", "--solver-option=encoder_layer_num=1"),
    *("--solver-option=ff_hidden_dim=16", "--tests=4", "--device=cpu", "--method=fine-tuning"),
)
RUN = ("run", "--tasks=tasks.toml", *MODEL, "--setting=learning_rate=0.0003", "--out=run")
"""The command line that makes the finished run, in the folder of `lay_out`."""

FILES = {
    "tasks.toml": BUDGET + TASK,
    "none.toml": "",
    "nan.toml": BUDGET + TASK.replace("5", "nan"),
    "key.toml": BUDGET + TASK + "batchs = 3\n",
    "type.toml": BUDGET.replace("2", '"2"') + TASK,
    "null.toml": BUDGET + '[[tasks]]\nfiles = "a\\u0000b.npz"\n',
    "control.toml": BUDGET + TASK + 'name = "a\\u001b[31m"\n',
    "not.toml": "epochs is one",
    "latin.toml": "# caf\u00e9",  # written as latin-1
    "grid-key.toml": 'methods = ["llr-bc"]\nsed = "1"\n',
    "grid-text.toml": 'methods = "llr-bc"\n',
    "grid-empty.toml": 'methods = [""]\n',
    "grid-problem.toml": 'methods = ["llr-bc"]\nproblems = [""]\n',
    "grid-preset.toml": 'methods = ["llr-bc"]\npreset = ""\n',
    "grid-start.toml": 'methods = ["llr-bc"]\nstart_from = ""\n',
    "grid-null.toml": 'methods = ["llr-bc"]\ntasks = ["a\\u0000b"]\n',
    "grid-nan.toml": '[[variants]]\nname = "x"\n[variants.options]\nalpha = nan\n',
    "grid-rate.toml": 'methods = ["llr-bc"]\nlearning_rate = -1.0\n',
    "grid-device.toml": 'methods = ["llr-bc"]\ndevice = "gpu"\n',
    "notes.txt": "precious",
    "torn.npz": "PK",
    "torn.tsp": "NAME: torn\nDIMENSION: 3\n",
    "four.tsp": "NAME: four\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\n"
    "NODE_COORD_SECTION\n1 0 0\n2 0 9\n3 9 9\n4 9 0\nEOF\n",
    "four.vrp": "NAME: four\nTYPE: CVRP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nCAPACITY: 9\n"
    "NODE_COORD_SECTION\n1 0 0\n2 0 9\n3 9 9\n4 9 0\n"
    "DEMAND_SECTION\n1 0\n2 3\n3 3\n4 3\nDEPOT_SECTION\n1\n-1\nEOF\n",
}

CONFIGS = {
    "rate-nan": ("learning_rate = 0.0003", "learning_rate = nan"),
    "rate-negative": ("learning_rate = 0.0003", "learning_rate = -1.0"),
    "rate-inf": ("learning_rate = 0.0003", "learning_rate = inf"),
    "decay-nan": ("weight_decay = 1e-06", "weight_decay = nan"),
    "decay-negative": ("weight_decay = 1e-06", "weight_decay = -1.0"),
    "solver-empty": ('solver = "pomo"', 'solver = ""'),
    "method-unknown": ('method = "fine-tuning"', 'method = "llrbc"'),
    "distance-unknown": ("size = 5", 'size = 5, distance = "miles"'),
    "no-tests": ("tests = 4", "tests = 0"),
    "seed-text": ("seed = 0", 'seed = "0"'),
    "torn": ("seed = 0", "seed ="),
}
"""Run folder to the text of ``config.toml`` that is replaced there, and the new text."""


def lay_out(folder: Path, run: Callable[[list[str]], object]) -> None:
    """Write the files of the command lines; ``run`` carries out `RUN` in this folder."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content.encode("latin-1"))
    np.savez(folder / "five.npz", nodes=np.full((2, 5, 2), 0.5))
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("precious")
    run(list(RUN))
    text = (folder / "run" / "config.toml").read_text()
    for name, (old, new) in CONFIGS.items():
        changed = text.replace(old, new)
        assert changed != text, f"{name}: expected {old!r} in config.toml"
        shutil.copytree(folder / "run", folder / name)
        (folder / name / "config.toml").write_text(changed)
