"""Wrong command lines, each with what the refusal must name, and the files they refer to."""

import shutil
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np

BUDGET = "epochs = 1\nbatches = 1\nbatch_size = 2\n"
TASK = '[[tasks]]\ndistribution = "U"\nsize = 5\n'
MODEL = (
    *("--solver-option=embedding_dim=16", "--solver-option=head_num=2"),
    *("--solver-option=qkv_dim=8", "--solver-option=encoder_layer_num=1"),
    *("--solver-option=ff_hidden_dim=16", "--tests=4", "--device=cpu", "--method=fine-tuning"),
)
RUN = ("run", "--tasks=tasks.toml", *MODEL, "--out=run")
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
    "rate-nan": ("learning_rate = 0.0001", "learning_rate = nan"),
    "rate-negative": ("learning_rate = 0.0001", "learning_rate = -1.0"),
    "rate-inf": ("learning_rate = 0.0001", "learning_rate = inf"),
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


@attrs.frozen
class Case:
    """A wrong command line."""

    words: str
    """The arguments, separated by spaces; ``''`` stands for an empty one."""
    named: str
    """A pattern that the refusal must contain."""

    @property
    def arguments(self) -> list[str]:
        """The arguments of ``lifelong-co``."""
        return [word.replace("''", "") for word in self.words.split()]


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


def _cases(*pairs: tuple[str, str]) -> tuple[Case, ...]:
    return tuple(Case(words, named) for words, named in pairs)


OF_TYPER = _cases(
    ("train", "No such command 'train'"),
    ("run extra", "extra"),
    ("run --aplha=1", "--aplha"),
    ("run --alpha=much", "--alpha"),
    ("run --alpha", "--alpha"),
    ("run --seed=-1", "--seed"),
    ("run --seed=1.5", "--seed"),
    ("run --tests=0", "--tests"),
    ("run --curve-every=0", "--curve-every"),
    ("run --order=one", "order of problem .cvrp. .one."),
    ("pretrain --meta-batch=0", "--meta-batch"),
    ("sweep --workers=0", "--workers"),
    ("sweep --retries=-1 --methods=llr-bc", "--retries"),
    ("evaluate", "DIR"),
    ("solve four.vrp", "--checkpoint"),
    ("compare", "DIR"),
    ("compare run --format=pdf", "--format"),
    ("report run --format=pdf", "--format"),
    ("benchmark tsp mine --checkpoint=run", "library 'tsp'"),
    ("reference --size=1 --distribution=U", "--size"),
    ("demo --seed=x", "--seed"),
    ("upstream get", "get"),
    ("import-checkpoint notes.txt --out=new", "--solver"),
)
"""Refused by the parser of the command line."""

EMPTY = _cases(
    *(
        (f"run --{name}= --tasks=tasks.toml --out=new", f"--{name}")
        for name in (
            *("problem", "solver", "method", "preset", "weighting", "divergence", "ablation"),
            *("behavior", "precision", "device", "start-from", "buffer-from", "solver-option"),
            *("method-option", "alpha", "order"),
        )
    ),
    ("run --tasks= --out=new", "--tasks"),
    ("run --tasks=tasks.toml --out=", "--out"),
    ("run --tasks=tasks.toml --out ''", "--out"),
    ("run --resume ''", "--resume"),
    ("pretrain --algorithm= --out=new", "--algorithm"),
    ("pretrain --inner-optimizer= --out=new", "--inner-optimizer"),
    ("pretrain --problem= --out=new", "--problem"),
    ("sweep --methods ''", "--methods"),
    ("sweep --methods=llr-bc --problems=", "--problems"),
    ("sweep --methods=llr-bc --seeds=", "--seeds"),
    ("sweep --methods=llr-bc --orders=", "--orders"),
    ("sweep --methods=llr-bc --ablations=", "--ablations"),
    ("sweep --methods=llr-bc --tasks=", "--tasks"),
    ("sweep --methods=llr-bc --engine=", "--engine"),
    ("sweep ''", "empty"),
    ("evaluate ''", "empty"),
    ("evaluate run --task=", "--task"),
    ("compare run --out=", "--out"),
    ("report run --out=", "--out"),
    ("reference --distribution=", "--distribution"),
    ("reference --testset=", "--testset"),
    ("tasks --preset=", "--preset"),
    ("tasks --plot=", "--plot"),
    ("demo --problem=", "--problem"),
    ("upstream fetch ''", "empty"),
)
"""With an empty value, which is not the same as a value that is not given."""

OF_RUN = _cases(
    *(
        (f"run --tasks=tasks.toml --out=new {words}", named)
        for words, named in (
            ("--solver=pmo", "Unknown solver 'pmo'.* Did you mean 'pomo'"),
            ("--problem=vrp", "Unknown problem 'vrp'"),
            ("--method=llrbc", "Unknown method 'llrbc'.* Did you mean 'llr-bc'"),
            ("--preset=tiny", "Unknown preset 'tiny'"),
            ("--weighting=var", "Unknown weighting 'var'"),
            ("--divergence=jsd", "Unknown divergence 'jsd'"),
            ("--method=ewc --weighting=variance", "'ewc'.*weighting.* llr-bc"),
            ("--method=restart --alpha=1", "'restart'.*alpha"),
            ("--ablation=nope", "nope"),
            ("--alpha=-1", "alpha"),
            ("--alpha=nan", "alpha"),
            ("--alpha=inf", "alpha"),
            ("--buffer-size=-2", "buffer_size"),
            ("--replay-size=-1", "replay_size"),
            ("--replay-rows=0", "replay_rows"),
            ("--replay-rows=nan", "replay_rows"),
            ("--method-option=alpha", "--method-option"),
            ("--method-option=alpha=x", "alpha"),
            ("--method-option=alfa=3", "alfa"),
            ("--method-option=alpha=", "alpha"),
            ("--alpha=1 --method-option=alpha=2", "--alpha"),
            ("--solver-option==3", "--solver-option"),
            ("--solver-option=head_num=0", "head_num"),
            ("--solver-option=head_num=two", "head_num"),
            ("--solver-option=embedding_dim=1.5", "embedding_dim"),
            ("--solver-option=logit_clipping=nan", "logit_clipping"),
            ("--solver-option=logit_clipping=inf", "logit_clipping"),
            ("--device=gpu", "--device"),
            ("--device=cuda:99", "--device"),
            ("--precision=half", "precision"),
            ("--order=1", "order"),
            ("--start-from=absent", "absent"),
            ("--start-from=mine", "mine"),
            ("--buffer-from=absent", "absent"),
            ("--buffer-from=run", "run"),
            ("--resume=run", "--resume"),
        )
    ),
    ("run --tasks=tasks.toml --dry-run --solver=pmo", "pmo"),
    ("run --tasks=tasks.toml --dry-run --method=ewc --alpha=1", "alpha"),
    ("run --order=7 --out=new", "task order '7'"),
    ("run --tasks=tasks.toml --out=mine", "mine"),
    ("run --tasks=tasks.toml --out=notes.txt", "notes.txt"),
    ("run --tasks=tasks.toml --out=notes.txt/new", "notes.txt/new"),
    ("run --tasks=tasks.toml --out=run", "run"),
    ("run --tasks=absent.toml --out=new", "absent.toml"),
    ("run --tasks=mine --out=new", "mine"),
    ("run --tasks=none.toml --out=new", "none.toml"),
    ("run --tasks=nan.toml --out=new", "nan.toml.*size"),
    ("run --tasks=key.toml --out=new", "key.toml.*batchs"),
    ("run --tasks=type.toml --out=new", "type.toml.*batch_size: expected"),
    ("run --tasks=null.toml --out=new", r"null.toml.*files"),
    ("run --tasks=control.toml --out=new", r"control.toml.*name"),
    ("run --tasks=not.toml --out=new", "not.toml"),
    ("run --tasks=latin.toml --out=new", "latin.toml"),
    ("run --resume=absent", "absent"),
    ("run --resume=mine", "mine"),
    *(
        (f"run --resume={name}", named)
        for name, named in (
            ("rate-nan", "rate-nan.*learning_rate"),
            ("rate-negative", "rate-negative.*learning_rate"),
            ("rate-inf", "rate-inf.*learning_rate"),
            ("decay-nan", "decay-nan.*weight_decay"),
            ("decay-negative", "decay-negative.*weight_decay"),
            ("solver-empty", "solver.*solver-empty.config.toml"),
            ("method-unknown", "llrbc.*method-unknown.config.toml"),
            ("distance-unknown", "distance-unknown.*miles"),
            ("no-tests", "no-tests.*tests"),
            ("seed-text", "seed-text.*seed"),
            ("torn", "torn.config.toml"),
        )
    ),
)
"""Of ``run``, with values and files that cannot be used."""

OF_PRETRAIN = _cases(
    *(
        (f"pretrain --tasks=tasks.toml --out=new {words}", named)
        for words, named in (
            ("--algorithm=mam", "mam"),
            ("--inner-learning-rate=inf", "inner_learning_rate"),
            ("--inner-learning-rate=nan", "inner_learning_rate"),
            ("--inner-learning-rate=0", "inner_learning_rate"),
            ("--meta-learning-rate=-1", "meta_learning_rate"),
            ("--meta-learning-rate=inf", "meta_learning_rate"),
            ("--inner-optimizer=lbfgs", "inner_optimizer"),
            ("--solver=pmo", "pmo"),
            ("--preset=huge", "huge"),
            ("--start-from=mine", "mine"),
            ("--device=tpu", "--device"),
        )
    ),
    ("pretrain --resume=absent", "absent"),
    ("pretrain --resume=run", "run"),
    ("pretrain --tasks=tasks.toml --out=mine", "mine"),
)
"""Of ``pretrain``."""

OF_SWEEP = _cases(
    *(
        (f"sweep --out=new {words}", named)
        for words, named in (
            ("", "FILE"),
            ("absent.toml", "absent.toml"),
            ("mine", "mine"),
            ("grid-key.toml", "grid-key.toml.*sed"),
            ("grid-text.toml", "grid-text.toml.*methods"),
            ("grid-empty.toml", "grid-empty.toml"),
            ("grid-problem.toml", "problem"),
            ("grid-preset.toml", "preset.*grid-preset.toml"),
            ("grid-start.toml", "grid-start.toml.*start_from"),
            ("grid-null.toml", "grid-null.toml.*tasks"),
            ("grid-nan.toml", "alpha.*grid-nan.toml"),
            ("grid-rate.toml", "grid-rate.toml.*learning_rate"),
            ("grid-device.toml", "grid-device.toml.*device"),
            ("grid-key.toml --methods=ewc", "FILE"),
            ("--methods=llr-bc,,ewc", "methods"),
            ("--methods=llr-bc,llr-bc", "llr-bc"),
            ("--methods=llrbc", "llrbc"),
            ("--methods=llr-bc --ablations=XX", "XX"),
            ("--methods=llr-bc --problems=vrp", "vrp"),
            ("--methods=llr-bc --problems=tsp,,cvrp", "problems"),
            ("--methods=llr-bc --solvers=pmo", "pmo"),
            ("--methods=llr-bc --solvers=pomo,", "solvers"),
            ("--methods=llr-bc --preset=tiny", "tiny"),
            ("--methods=llr-bc --orders=6", "6"),
            ("--methods=llr-bc --orders=3-1", "3-1"),
            ("--methods=llr-bc --seeds=a", "seeds"),
            ("--methods=llr-bc --seeds=0,0", "seeds"),
            ("--methods=llr-bc --seeds=0-99999999", "seeds"),
            ("--methods=llr-bc --tasks=absent.toml", "absent.toml"),
            ("--methods=llr-bc --device=gpu", "device"),
            ("--methods=llr-bc --engine=cloud", "cloud"),
            ("--methods=llr-bc --engine-option=timeout_min=3", "--engine-option"),
            ("--methods=ewc --engine=submitit-local --engine-option=timeout=3", "timeout"),
            ("--methods=ewc --engine=submitit-local --engine-option=cpus=x", "cpus"),
            ("--methods=ewc --engine=slurm", "slurm"),
        )
    ),
    ("sweep --resume=absent", "absent"),
    ("sweep --resume=mine", "mine"),
    ("sweep --methods=ewc --tasks=tasks.toml --out=notes.txt", "notes.txt"),
    ("sweep --methods=ewc --tasks=tasks.toml --out=run", "run"),
)
"""Of ``sweep``; names of all kinds are checked before the first run."""

OF_RESULTS = _cases(
    ("evaluate absent", "absent"),
    ("evaluate run --task=X5", "X5"),
    ("evaluate run --task=U:1", "2 nodes"),
    ("evaluate run --task=X:20", "Unknown distribution 'X'"),
    ("evaluate run --task=U:5:miles", "miles"),
    ("evaluate run --after=0", "--after|after"),
    ("evaluate run --after=9", "run: .*9"),
    ("evaluate run --references=absent", "--references.*absent"),
    ("evaluate run --references=notes.txt", "--references.*notes.txt"),
    ("compare absent", "absent"),
    ("compare mine", "mine"),
    ("compare run --references=absent", "--references.*absent"),
    ("compare run --out=notes.txt", "notes.txt"),
    ("compare run --out=notes.txt/new", "notes.txt"),
    ("compare run run", "run"),
    ("report absent", "absent"),
    ("report mine --out=new", "mine"),
    ("report run --out=run/config.toml", "config.toml"),
    ("report run --out=notes.txt", "notes.txt"),
    ("report run --out=notes.txt/new", "notes.txt"),
    ("report run --out=new --references=absent", "--references.*absent"),
    ("benchmark cvrplib absent --checkpoint=run", "absent"),
    ("benchmark cvrplib mine --checkpoint=run", "mine"),
    ("benchmark cvrplib . --checkpoint=absent", "absent"),
    ("benchmark tsplib . --checkpoint=run", "expected a solver of tsp"),
    ("benchmark cvrplib . --checkpoint=run --checkpoint=run", "--checkpoint"),
    ("benchmark cvrplib . --checkpoint=run --out=notes.txt", "notes.txt"),
    ("benchmark cvrplib . --checkpoint=run --references=absent", "--references.*absent"),
    ("benchmark cvrplib . --checkpoint=run --after=3", "3"),
)
"""Of the commands that read finished runs."""

OF_FILES = _cases(
    *(
        (f"solve {words}", named)
        for words, named in (
            ("absent.vrp --checkpoint=run", "absent.vrp"),
            ("notes.txt --checkpoint=run", "notes.txt"),
            ("torn.tsp --checkpoint=run", "torn.tsp"),
            ("mine --checkpoint=run", "mine"),
            ("four.tsp --checkpoint=run", "four.tsp"),
            ("four.vrp --checkpoint=absent", "absent"),
            ("four.vrp --checkpoint=run --best-known=0", "--best-known"),
            ("four.vrp --checkpoint=run --best-known=-3", "--best-known"),
            ("four.vrp --checkpoint=run --best-known=inf", "--best-known"),
            ("four.vrp --checkpoint=run --best-known=nan", "--best-known"),
            ("four.vrp --checkpoint=run --out=four.vrp", "four.vrp"),
            ("four.vrp --checkpoint=run --out=four.vrp --overwrite", "four.vrp"),
            ("four.vrp --checkpoint=run --out=./four.vrp --overwrite", "four.vrp"),
            ("four.vrp --checkpoint=run --plot=four.vrp --overwrite", "four.vrp"),
            ("four.vrp --checkpoint=run --out=notes.txt", "notes.txt"),
            ("four.vrp --checkpoint=run --out=mine --overwrite", "mine"),
            ("four.vrp --checkpoint=run --out=mine/absent/a.sol", "mine/absent"),
            ("four.vrp --checkpoint=run --plot=mine/absent/a.png", "mine/absent"),
            ("four.vrp --checkpoint=run --plot=a.xyz", "a.xyz"),
            ("four.vrp --checkpoint=run --out=a.png --plot=./a.png", "a.png"),
            ("four.vrp --checkpoint=run --after=7", "7"),
        )
    ),
    *(
        (f"reference {words}", named)
        for words, named in (
            ("", "FILE"),
            ("absent.npz", "absent.npz"),
            ("torn.npz", "torn.npz"),
            ("five.npz", "five.npz"),
            ("mine", "mine"),
            ("notes.txt", "notes.txt"),
            ("--problem=tsp four.vrp", "four.vrp"),
            ("--problem=vrp four.vrp", "vrp"),
            ("--distribution=X", "'X'"),
            ("--testset=X", "'X'"),
            ("--run=absent", "absent"),
            ("four.vrp --distribution=U", "FILE"),
            ("four.vrp absent.vrp", "absent.vrp"),
            ("--check --references=absent", "--references.*absent"),
            ("--check --stored=absent", "--stored.*absent"),
            ("four.vrp --stored=absent", "--stored.*absent"),
            ("four.vrp --references=notes.txt", "notes.txt"),
        )
    ),
    ("import-checkpoint absent.pt --solver=pomo --out=new", "absent.pt"),
    ("import-checkpoint notes.txt --solver=pomo --out=new", "notes.txt"),
    ("import-checkpoint notes.txt --solver=pmo --out=new", "pmo|notes.txt"),
    ("import-checkpoint notes.txt --solver=pomo --out=mine", "mine|notes.txt"),
    ("import-checkpoint mine --solver=pomo --out=new", "mine"),
    ("tasks --preset=tiny", "tiny"),
    ("tasks --plot=notes.txt", "notes.txt"),
    ("tasks --plot=mine/absent/a.png", "mine/absent"),
    ("tasks --plot=a.xyz", "a.xyz"),
    ("demo --problem=vrp", "vrp"),
    ("demo --out=notes.txt/new", "notes.txt"),
    ("upstream fetch pomo", "'pomo'"),
    ("upstream fetch POMO --into=notes.txt", "notes.txt"),
)
"""Of the commands that read or write instance files, checkpoints and pictures."""

WRONG = (*OF_TYPER, *EMPTY, *OF_RUN, *OF_PRETRAIN, *OF_SWEEP, *OF_RESULTS, *OF_FILES)
"""All wrong command lines: each has status 2, one line on stderr, and changes no file."""
