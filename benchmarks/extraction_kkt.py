"""Training digits out of a classifier, at the documented size: 40 digits, 400 neurons, 8 starts.

The claim is 10 minutes on a CPU. Give a folder to keep finished starts; the same command goes on.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from narcissus.cli.progress import progress
from narcissus.extraction import Close, kkt_reconstruct, lead_over_shadows, train_classifier

COUNT = 40


def main(folder: str | None = None) -> None:
    data = load_digits()
    rows, labels = data.data / 8 - 1, np.where(data.target % 2 == 0, 1.0, -1.0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    half = COUNT // 2
    chosen = np.concatenate([order[labels[order] > 0][:half], order[labels[order] < 0][:half]])
    rest, mean = np.setdiff1d(order, chosen), rows.mean(axis=0)
    real, y = rows[chosen] - mean, labels[chosen]
    shadows = [rows[rng.choice(rest, COUNT, replace=False)] - mean for _ in range(19)]
    with progress() as observer:
        for noise, steps in ((0.0, 20_000), (20.0, 200)):
            before = time.perf_counter()
            net = train_classifier(real, y, noise=noise, steps=steps, rng=1, observer=observer)
            place = None if folder is None else Path(folder) / f"noise-{noise:g}"
            found = kkt_reconstruct(
                net, box=2, points=2 * COUNT, starts=8, folder=place, rng=2, observer=observer
            )
            took = time.perf_counter() - before
            for level in (0.8, 0.85, 0.9):
                relation = Close(1, correlation=level)
                hits = int(relation.reconstructed(real, found.points).sum())
                fresh = [int(relation.reconstructed(s, found.points).sum()) for s in shadows]
                print(
                    f"noise {noise:g}: {hits} of {COUNT} digits at a correlation of {level}; "
                    f"fresh digits {np.mean(fresh):.2f} on average, {max(fresh)} at most; "
                    f"p-value {lead_over_shadows(hits, fresh):.3g}; {took:.0f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
