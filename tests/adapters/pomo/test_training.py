"""POMO learns: REINFORCE on a tiny TSP."""

import torch

import lifelong_co as lco
from lifelong_co.evaluation import best_costs

STEPS = 100


def test_a_short_training_shortens_the_tours() -> None:
    """A hundred steps on six nodes bring the mean cost most of the way to the best."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver = lco.solver(
            "pomo",
            problem="tsp",
            embedding_dim=32,
            head_num=4,
            qkv_dim=8,
            encoder_layer_num=1,
            ff_hidden_dim=64,
        )
    distribution = lco.distribution("U", "tsp")
    tests = distribution.sample(64, 6, generator=generator)
    optimizer = torch.optim.Adam(solver.module.parameters(), lr=2e-3)

    def sampled_cost() -> float:
        with torch.no_grad():
            return float(solver.rollout(tests, "sample", generator=generator).cost.mean())

    before, best_before = sampled_cost(), best_costs(solver, tests).mean()
    objective = solver.objective()
    for _ in range(STEPS):
        instances = distribution.sample(32, 6, generator=generator)
        loss = objective.loss(instances, solver.rollout(instances, "sample", generator=generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after, best_after = sampled_cost(), best_costs(solver, tests).mean()
    assert after < 0.85 * before
    assert best_after < best_before
