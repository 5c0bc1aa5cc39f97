"""Where official code is found."""

import pytest
from invented_codebases import write
from lifelong_co_adapters.official import locate
from paths import ROOT

from lifelong_co.errors import ConfigError, UnknownNameError


def test_official_code_is_found_by_variable_or_in_the_checkout(tmp_path, monkeypatch):
    """Without it, the error has the folder and the command that fetches it."""
    monkeypatch.setenv(locate.VARIABLE, str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        locate.upstream("POMO")
    assert str(caught.value) == (
        f"official code of POMO: expected in {tmp_path / 'POMO'} (LIFELONG_CO_UPSTREAM), "
        f"got an empty or missing folder; run `lifelong-co upstream fetch POMO --into {tmp_path}`"
    )
    (tmp_path / "POMO").mkdir()
    with pytest.raises(ConfigError, match="got an empty or missing folder"):
        locate.upstream("POMO")
    write(tmp_path / "POMO", {"README": "there"})
    assert locate.upstream("POMO") == tmp_path / "POMO"
    monkeypatch.delenv(locate.VARIABLE)
    assert locate.place("POMO") == ROOT / "adapters" / "upstream" / "POMO"
    monkeypatch.setattr(locate, "checkout", lambda: tmp_path)
    with pytest.raises(ConfigError, match=r"run `lifelong-co upstream fetch POMO`$"):
        locate.upstream("POMO")
    monkeypatch.setattr(locate, "checkout", lambda: None)
    with pytest.raises(ConfigError, match=r"in a git checkout.* --into DIR` and set LIFELONG_CO_"):
        locate.upstream("POMO")
    with pytest.raises(UnknownNameError, match="expected one of: POMO, Omni-VRP, INViT, LLR-BC"):
        locate.upstream("Pomo")
