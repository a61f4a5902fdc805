"""Membership by shadow models beside other people's code, on the same scores.

    pip download --no-deps jax-privacy==2.0.0 privacy_meter==1.0.1     # in a folder of its own
    python benchmarks/membership.py [--others FOLDER]

FOLDER holds the unpacked wheels; of each one file is loaded, which needs neither JAX nor
TensorFlow (jax_privacy/auditing.py needs dp-accounting). What is not there is skipped and said.
LeakPro is on the package index by name only (0.0.1 is empty), so nothing of it is compared; RMIA
is compared with its formula by the tests. LiRA's published code is in the paper's repository; the
lines that score are written out here, medians and all.

What should agree does, to rounding: rates at a threshold, the published p-value of one run. What
differs is said: ours for limits that hold at all rates at once, theirs by bootstrap of records.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats

from narcissus.bounds import one_run_p_value
from narcissus.evidence import refute_scores
from narcissus.evidence.roc import roc_band
from narcissus.membership import audit_membership, lira, read_shadow_scores

SCORES = Path(__file__).parents[1] / "examples" / "membership" / "shadows.npz"
DELTA = 1e-5


def loaded(folder: Path | None, file: str):
    """Load one file of a package that need not be installed, or give None."""
    places = [] if folder is None else [folder / file, *folder.glob(f"*/{file}")]
    package = file.split("/", maxsplit=1)[0]
    found = importlib.util.find_spec(package)
    if found is not None and found.origin is not None:
        places.append(Path(found.origin).parent.parent / file)
    place = next((p for p in places if p.is_file()), None)
    if place is None:
        print(f"{file}: not there, skipped")
        return None
    spec = importlib.util.spec_from_file_location(f"other_{Path(file).stem}", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def published_lira(target, shadows, *, fixed):
    """Score as the published code does, record by record."""
    kept = [
        [shadows.scores[shadows.members[:, i] == one, i] for i in range(target.size)]
        for one in (True, False)
    ]
    least = [min(map(len, group)) for group in kept]
    both = [
        np.array([g[:n] for g in group]) for group, n in zip(kept, least, strict=True)
    ]  # it cuts to the fewest
    deviations = [np.std(g) if fixed else np.std(g, axis=1) for g in both]
    with_it, without = (
        stats.norm.logpdf(target, np.median(g, axis=1), s + 1e-30)
        for g, s in zip(both, deviations, strict=True)
    )
    return with_it - without


def compare_lira(data):
    """Say how much the choices of the published code matter."""
    shadows, targets = data.of(range(48)), data.scores[48:]
    coined = ~data.outsiders
    for fixed in (False, True):
        ours = lira(targets, shadows, variance="fixed" if fixed else "per-record")[:, coined]
        of_coined = shadows.scores[:, coined], shadows.members[:, coined]
        small = type(shadows)(*of_coined, shadows.priors[coined])
        theirs = np.stack([published_lira(t, small, fixed=fixed) for t in targets[:, coined]])
        inside = data.members[48:, coined]
        at = [
            roc_band(s[inside], s[~inside], taken_independent=True).tpr_at(0.01).value
            for s in (ours, theirs)
        ]
        print(
            f"LiRA, {'fixed' if fixed else 'per-record'} variance: rank correlation with the "
            f"published code {stats.spearmanr(ours.ravel(), theirs.ravel())[0]:.4f}; members told "
            f"at 1% false positives {at[0]:.4f} and {at[1]:.4f}"
        )


def compare_jax_privacy(auditing, canaries):
    """Compare rates and the published test; the rest stands beside."""
    inside, outside = canaries.scores[canaries.members], canaries.scores[~canaries.members]
    theirs = auditing.CanaryScoreAuditor(inside, outside)
    band = roc_band(inside, outside, taken_independent=True)
    # between two corners of the convex hull theirs flips a coin, ours does not
    corners = dict(zip(theirs._get_fp_counts(), theirs._get_tp_counts(), strict=True))
    apart = max(
        abs(band.tpr_at(min(1.0, fp / outside.size + 1e-12)).value - tp / inside.size)
        for fp, tp in corners.items()  # of two with as many false positives the last, higher one
    )
    print(f"jax_privacy: largest difference of true-positive rates at its corners {apart:.2e}")
    apart = max(
        abs(one_run_p_value(m, r, v, e, d) - auditing._one_run_p_value(m, r, v, e, d))
        for m, r, v, e, d in [
            (1000, 100, 75, 0.673, 1e-4),
            (4000, 500, 480, 2.0, 1e-5),
            (200, 200, 150, 0.5, 0.0),
        ]
    )
    print(f"jax_privacy: largest difference of the published p-value {apart:.2e}")
    start = time.process_time()
    ours = refute_scores(canaries.scores, canaries.members, delta=DELTA, coins=True)
    middle = time.process_time()
    one_run = theirs.epsilon_one_run(
        0.05, DELTA, threshold_strategy=auditing.Split(threshold_estimation_frac=1 / 3, seed=1)
    )
    every = theirs.epsilon_one_run(0.05, DELTA)
    end = time.process_time()
    print(
        f"epsilon refuted at delta {DELTA:g}: ours {ours.epsilon:.3f} ({middle - start:.2f} s); "
        f"jax_privacy, thresholds on a third {one_run:.3f}, over all thresholds {every:.3f} "
        f"({end - middle:.2f} s both)"
    )


def compare_privacy_meter(tests, data):
    """Its Gaussian threshold for a reference attack, on losses, against LiRA offline."""
    shadows, targets = data.of(range(48)), data.scores[48:]
    z = lira(targets, shadows, offline=True)
    rates, different, pairs = np.array([0.01, 0.1, 0.3]), 0, 0
    for i in np.flatnonzero(~data.outsiders):
        without = -shadows.scores[~shadows.members[:, i], i]
        scale = np.sqrt((without.size - 1) / without.size)  # it divides by n, we by n - 1
        for rate in rates:
            theirs = -targets[:, i] < tests.gaussian_threshold_func(without, rate)
            different += int((theirs != (z[:, i] / scale > stats.norm.isf(rate))).sum())
            pairs += theirs.size
    print(f"privacy_meter: {different} of {pairs:,} decisions of the Gaussian threshold differ")


def main() -> None:
    """Compare with what is there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--others", type=Path)
    folder = parser.parse_args().others
    data = read_shadow_scores(SCORES, scale="probability", wanted="logit")
    start = time.process_time()
    found = audit_membership(data, delta=DELTA, rng=1)
    print(f"one audit of 64 models and 400 records: {time.process_time() - start:.2f} s")
    compare_lira(data)
    if (auditing := loaded(folder, "jax_privacy/auditing.py")) is not None:
        compare_jax_privacy(auditing, found.canaries)
    if (tests := loaded(folder, "privacy_meter/hypothesis_test.py")) is not None:
        compare_privacy_meter(tests, data)


if __name__ == "__main__":
    main()
