"""One run of a sweep: whether it is complete, its result, and the folder that it needs."""

from pathlib import Path

import attrs

from lifelong_co.config.run_config import Config, read_config
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.comparison.runs import FinishedRun, load_run
from lifelong_co.runs import data_files, starts
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.settings import differences
from lifelong_co.storage import checkpoint


@attrs.frozen
class Job:
    """One run."""

    name: str
    folder: Path
    config: Config

    @property
    def begun(self) -> bool:
        """Whether there is a checkpoint to continue from."""
        saved = checkpoint.checkpoints(RunFolder(self.folder).checkpoints)
        return bool(saved) and checkpoint.step_of(saved[-1]) > 0

    def result(self) -> FinishedRun | None:
        """Read the run; None unless it is complete, with the report, which is written last."""
        if not (self.folder / "report.html").is_file():
            return None
        try:
            return load_run(self.folder)
        except (ConfigError, FileFormatError):  # damaged costs: the run repairs them
            return None

    @property
    def finished(self) -> bool:
        """Whether the run is complete; this reads its folder."""
        return self.result() is not None

    def prepare(self, starts_known: dict[str, str] | None = None) -> None:
        """Create the run's folder, so that the run can be resumed.

        ``starts_known`` keeps the hash of each start, so that later runs begin from the same one.

        Raises
        ------
        ConfigError
            If the folder holds another run.
        """
        if (self.folder / "config.toml").exists():
            self._refuse_other(read_config(self.folder))
        else:
            RunFolder(self.folder).create(self.config)
            known = {} if starts_known is None else starts_known
            found = starts.present(self.config).items()
            taken = {name: known.setdefault(getattr(self.config, name), now) for name, now in found}
            starts.keep(self.folder, taken)

    def check(self, digests: dict[str, str]) -> None:
        """Raise an error if the folder holds another run, or one on other files.

        A folder that cannot be read is not checked. ``digests`` keeps those of files that were
        read.

        Raises
        ------
        ConfigError
            The message names the first setting or file that differs.
        """
        try:
            found = read_config(self.folder)
            held = data_files.read(self.folder)
            starts.read(self.folder)
        except (ConfigError, FileFormatError):  # `prepare` refuses it: then only this run fails
            return
        self._refuse_other(found)
        try:
            data_files.require_same(held, self.config, digests)
        except (ConfigError, FileFormatError) as error:
            raise ConfigError(
                f"{self.folder}: {error}; restore the file, or choose another folder for the whole"
                " sweep"
            ) from error

    def _refuse_other(self, found: Config) -> None:
        unlike = {**self._other_starts(found), **differences(self.config, found)}
        for name, (wanted, there) in unlike.items():
            raise ConfigError(
                f"{self.folder}: this sweep needs {name} = {wanted!r:.200}, but the run"
                f" in this folder has {there!r:.200}; give the row another name, remove this"
                " folder, or choose another folder for the whole sweep"
            )

    def _other_starts(self, found: Config) -> dict[str, tuple[str, str]]:
        """Return the starts that hold something else under another path, so none was moved."""
        held = {**starts.present(found), **starts.read(self.folder)}
        unlike = {}
        for name, now in starts.present(self.config).items():
            wanted, there = getattr(self.config, name), getattr(found, name)
            if wanted != there and now and held.get(name, now) != now:
                unlike[name] = (wanted, there)
        return unlike
