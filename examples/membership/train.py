"""Train shadow models on the survey of the examples, and write what they say of its people.

Small networks predict who is employed. 400 people are audited: each is in each model's training
data by a fair coin. 400 others are in no model. A network that so few people train learns some of
them by heart, which is what the audit then finds.

    python examples/membership/train.py [FILE.npz] [--models N]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent
SURVEY = FOLDER.parent / "data" / "acs_employment_ny2018_20k.csv.gz"
AUDITED, OUTSIDERS = 400, 400
HIDDEN, STEPS, RATE = 64, 150, 0.01


def people(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw people: their attributes, one-hot, and whether they are employed."""
    survey = pd.read_csv(SURVEY).sample(AUDITED + OUTSIDERS, random_state=rng)
    age = pd.cut(survey["AGEP"], [0, 20, 25, 30, 40, 50, 60, 65, 70, 80, 99], labels=False)
    columns = ["MAR", "MIG", "NATIVITY", "DIS", "SEX", "RAC1P", "RELP", "CIT", "SCHL"]
    frame = survey[columns].assign(AGEP=age).astype(str)
    features = pd.get_dummies(frame).to_numpy(dtype=np.float64)
    return features, (survey["ESR"] == 1).to_numpy()


def trained(
    features: np.ndarray, labels: np.ndarray, members: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Train a network on its members; give the probability of everybody's own label."""
    x = np.hstack([features, np.ones((len(features), 1))])
    mine, target = x[members], labels[members].astype(np.float64)
    weights = [
        rng.normal(size=(x.shape[1], HIDDEN)) / np.sqrt(10),
        rng.normal(size=HIDDEN) / np.sqrt(HIDDEN),
    ]
    means = [np.zeros_like(w) for w in weights]
    squares = [np.zeros_like(w) for w in weights]
    for step in range(1, STEPS + 1):
        hidden = np.maximum(mine @ weights[0], 0)
        error = (1 / (1 + np.exp(-hidden @ weights[1])) - target) / len(target)
        back = np.outer(error, weights[1]) * (hidden > 0)
        for i, slope in enumerate((mine.T @ back, hidden.T @ error)):  # Adam
            means[i] = 0.9 * means[i] + 0.1 * slope
            squares[i] = 0.999 * squares[i] + 0.001 * slope**2
            size = np.sqrt(squares[i] / (1 - 0.999**step)) + 1e-8
            weights[i] = weights[i] - RATE * means[i] / (1 - 0.9**step) / size
    logit = np.maximum(x @ weights[0], 0) @ weights[1]
    return 1 / (1 + np.exp(np.where(labels, -logit, logit).clip(-30, 30)))


def main(path: Path, models: int) -> None:
    """Train the models and write scores, members and priors."""
    features, labels = people(np.random.default_rng(2022))
    priors = np.repeat([0.5, 0.0], [AUDITED, OUTSIDERS])
    each = [np.random.default_rng((2022, model)) for model in range(models)]
    members = np.stack([rng.random(priors.size) < priors for rng in each])
    scores = np.stack(
        [trained(features, labels, row, rng) for row, rng in zip(members, each, strict=True)]
    )
    np.savez_compressed(
        path,
        scores=scores.clip(1e-6, 1 - 1e-6).astype(np.float32),
        members=members,
        priors=priors,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train shadow models on the survey.")
    parser.add_argument("path", nargs="?", type=Path, default=FOLDER / "shadows.npz")
    parser.add_argument("--models", type=int, default=64)
    asked = parser.parse_args()
    main(asked.path, asked.models)
