"""Simulated coverage of both intervals on fixed corpora whose cases differ in difficulty.

Prints, for each corpus, how often each lower end lay above the true mean difference and how often the claim was
supported where it is false; must never be taken for the proof, which is in the method's source.

Run: python benchmarks/coverage_simulation.py [--runs 4000] [--seed 1]
"""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np

from eval_tasks import intervals

ALPHA = 0.0125
MARGIN = 0.05

Chances = tuple[float, float]
"""A case's chances of a loss and of a win."""

CORPORA: dict[str, list[Chances]] = {
    "30 equal cases, at the margin": [(0.05, 0.0)] * 30,
    "100 equal cases, at the margin": [(0.075, 0.025)] * 100,
    "180 calm cases, 20 always lost": [(0.0, 0.0)] * 180 + [(1.0, 0.0)] * 20,
    "150 calm, 60 coin flips, 16 lost": [(0.0, 0.0)] * 150 + [(0.5, 0.5)] * 60 + [(1.0, 0.0)] * 16,
    "300 cases from easy to hard, at the margin": [(0.1 * i / 299, 0.0) for i in range(300)],
    "600 noisy cases without a difference": [(0.05, 0.05)] * 600,
    "86 calm cases without a difference": [(0.0, 0.0)] * 86,
}


@cache
def lower_ends(losses: int, wins: int, n: int) -> tuple[float, float]:
    values = [-1.0] * losses + [1.0] * wins + [0.0] * (n - losses - wins)
    return intervals.hoeffding(values, ALPHA).low, intervals.optimized_betting(values, ALPHA).low


def simulate(corpus: list[Chances], runs: int, generator: np.random.Generator) -> list[tuple[float, float]]:
    """Return for each method how often its lower end lay above the truth, and how often it supported the claim."""
    chances = np.array(corpus)
    truth = float(np.mean(chances[:, 1] - chances[:, 0]))
    draws = generator.random((runs, len(corpus)))
    losses = (draws < chances[:, 0]).sum(axis=1)
    wins = (draws >= 1 - chances[:, 1]).sum(axis=1)
    ends = np.array([lower_ends(int(a), int(b), len(corpus)) for a, b in zip(losses, wins, strict=True)])
    # An end that equals the truth but for rounding has not missed it.
    return [(float(np.mean(low > truth + 1e-12)), float(np.mean(low > -MARGIN))) for low in ends.T]


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulated coverage of both intervals.")
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    print(f"Error probability {ALPHA} a side, {options.runs} runs a corpus; missed: lower end above the true mean.")
    print(f"{'corpus':44} {'truth':>7}  {'Hoeffding':^19}  {'optimized betting':^19}")
    print(f"{'':44} {'':>7}  {'missed':>9} {'support':>9}  {'missed':>9} {'support':>9}")
    most = 0.0
    for name, corpus in CORPORA.items():
        truth = sum(win - loss for loss, win in corpus) / len(corpus)
        found = simulate(corpus, options.runs, generator)
        cells = "  ".join(f"{missed:9.4f} {support:9.4f}" for missed, support in found)
        print(f"{name:44} {truth:7.3f}  {cells}")
        most = max(most, *(missed for missed, _ in found))
    print(f"Most missed: {most:.4f} (allowed {ALPHA})")


if __name__ == "__main__":
    main()
