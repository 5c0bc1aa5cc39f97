"""The installed plugin adds its weighting to lifelong-co."""

import torch

import lifelong_co as lco


def test_max_prob_is_found_by_name():
    """The installed entry point makes the name known, and the weights are 1 - max P."""
    weights = lco.weighting("max-prob")(torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]))
    assert weights.tolist() == [0.5, 0.0]


def test_max_prob_works_in_the_consolidation_loss():
    """The loss accepts the plugin's name and is zero when the learner equals the teacher."""
    loss = lco.consolidation_loss("max-prob", "rkl", behavior="probabilities")
    behavior = torch.tensor([[[0.5, 0.25, 0.25]]]).log()
    assert loss([behavior], [behavior]).item() == 0.0
