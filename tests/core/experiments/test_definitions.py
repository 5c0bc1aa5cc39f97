"""The words of each definition of the metrics."""

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.definitions import WORDS


def test_every_definition_has_words_for_every_metric():
    """The two differ in the words for all that they compute differently."""
    assert tuple(WORDS) == metrics.DEFINITIONS
    text, published = WORDS.values()
    for name, value in attrs.asdict(text).items():
        assert value != getattr(published, name)
    for said in (text, published):
        assert tuple(said.meanings) == metrics.NAMES
    differ = {name for name in metrics.NAMES if text.meanings[name] != published.meanings[name]}
    assert differ == {"AF", "AMF"}
