"""Wrong command lines, each with what the refusal must name; `command_files` has their files."""

import attrs
from commands_that_learn import OF_PRETRAIN, OF_RUN, OF_SWEEP


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


OF_TYPER = (
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
    ("solve four.vrp --after=1", "--checkpoint"),
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

EMPTY = (
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

OF_RESULTS = (
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

OF_FILES = (
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
            ("four.vrp --checkpoint=run --out=run/config.toml", "run/config.toml"),
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
            ("--testset=U --size=50 --seed=7", "--size: expected --distribution"),
            ("--run=run --seed=0", "--seed: expected --distribution"),
            ("--check --size=20", "--size: expected --distribution"),
            ("--run=run --scaled", "--scaled: expected FILE"),
            ("--run=run --problem=tsp", "expected instances of --problem tsp, got cvrp"),
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
    ("tasks --preset=small --plot=a.png", "--preset"),
    ("tasks --seed=3", "--seed"),
    ("tasks --plot=notes.txt", "notes.txt"),
    ("tasks --plot=mine/absent/a.png", "mine/absent"),
    ("tasks --plot=a.xyz", "a.xyz"),
    ("demo --problem=vrp", "vrp"),
    ("demo --out=notes.txt/new", "notes.txt"),
    ("upstream fetch pomo", "'pomo'"),
    ("upstream fetch POMO --into=notes.txt", "notes.txt"),
)
"""Of the commands that read or write instance files, checkpoints and pictures."""

WRONG = tuple(
    Case(words, named)
    for table in (OF_TYPER, EMPTY, OF_RUN, OF_PRETRAIN, OF_SWEEP, OF_RESULTS, OF_FILES)
    for words, named in table
)
"""All wrong command lines: each has status 2, one line on stderr, and changes no file."""
