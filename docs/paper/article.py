"""The numbers of the article, each computed by the package when the article is made."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from narcissus import bounds
from narcissus.evidence import refute_scores
from narcissus.guarantees import GaussianDP, PureDP, dp_sgd

CERTIFICATES = Path(__file__).resolve().parents[1] / "certificates"
APPENDIX = (
    *("one_target", "domination", "interpolation", "swap", "strengths", "sweep", "exact_profile"),
    *("bayes_delta", "bayes_records", "from_samples", "most_secure", "averages"),
)
DELTA, LEVEL = 1e-5, 0.95


def one_target() -> list[list[str]]:
    """Rows: prior, epsilon, the optimum, the odds times e^epsilon (Theorem 3.2 of 001)."""
    rows = []
    for prior, epsilon in (
        ([0.7, 0.2, 0.1], 1.0),
        ([0.7, 0.2, 0.1], 3.0),
        ([0.3, 0.25, 0.2, 0.15, 0.1], 2.0),
    ):
        best = float(bounds.optimum([prior], PureDP(epsilon))[0])
        odds = math.exp(epsilon) * prior[0] / (1 + prior[0] * math.expm1(epsilon))
        rows.append(
            [" ".join(f"{p:g}" for p in prior), f"{epsilon:g}", f"{best:.4f}", f"{odds:.4f}"]
        )
    return rows


def counts() -> list[list[str]]:
    """Rows: epsilon at DELTA, prior, people; reached by |Lambda|, by the best law; the bound."""
    rows = []
    for epsilon in (1.0, 3.0):
        gaussian = GaussianDP.from_epsilon_delta(epsilon, DELTA)
        for prior, sizes in (([0.5, 0.5], (100, 1000)), ([0.7, 0.3], (100,))):
            for people in sizes:
                tails = bounds.reached_tails([prior], gaussian, repeats=[people])
                own = int(np.argmax(np.asarray(tails)[1:] <= 1 - LEVEL))
                best = bounds.reached_number(prior, gaussian, LEVEL, repeats=[people])
                danger = bounds.threat(values=prior, targets=people)
                most = int(bounds.at_most(danger, gaussian, LEVEL).value)
                rows.append([f"{epsilon:g}", " ".join(map(str, prior)), f"{people:,}",
                             str(own), str(best), str(most)])  # fmt: skip
    return rows


def audits() -> list[list[str]]:
    """Rows: mu, the epsilon at delta that the scores of 1,000 canaries refute, and the true one."""
    rng, rows = np.random.default_rng(36), []
    for mu in (1.0, 2.0, 4.0):
        inside = rng.random(1000) < 0.5
        scores = rng.normal(size=1000) + mu * (inside - 0.5)
        found = refute_scores(scores, inside, delta=DELTA)
        true = GaussianDP(mu).epsilon_beyond(DELTA)
        rows.append([f"{mu:g}", f"{found.epsilon:.2f}", f"{true:.2f}"])
    return rows


def computed() -> dict[str, Any]:
    """Return all numbers, and what the certificates print."""
    sgd, hundred = dp_sgd(1.0, 0.01, 1000), bounds.threat(values=[0.5, 0.5], targets=100)
    printed = {
        name: subprocess.run(
            [sys.executable, str(CERTIFICATES / f"{name}.py")],
            check=True, capture_output=True, encoding="utf-8",
        ).stdout
        for name in APPENDIX
    }  # fmt: skip
    return {
        "one": one_target(),
        "counts": counts(),
        "audits": audits(),
        "delta": f"{DELTA:g}",
        "level": f"{LEVEL:.0%}",
        "sgd": str(bounds.reached_number([0.5, 0.5], sgd, LEVEL, repeats=[100])),
        "sgd_most": f"{bounds.at_most(hundred, sgd, LEVEL).value:g}",
        "certificates": printed,
    }
