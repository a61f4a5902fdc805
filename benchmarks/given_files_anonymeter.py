"""The side of anonymeter in `given_files.py`; runs in anonymeter's own environment.

    python given_files_anonymeter.py FOLDER ATTACKS MODES < cases

MODES are those of singling out, with commas: "univariate,multivariate". Each line of the input
names a case: the files FOLDER/CASE-real.csv, -synthetic.csv, -control.csv. Each line of the output
is JSON: the case, seconds, and for each risk the rates on both sides and the risk with its limits.
"""

import contextlib
import io
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator


def evaluated(evaluator, **options):
    """Give rates and risk of an evaluator that has not been run."""
    evaluator.evaluate(**options)
    found = evaluator.results(confidence_level=0.95)
    risk = found.risk()
    return {
        "real": found.attack_rate.value,
        "control": found.control_rate.value,
        "guess": found.baseline_rate.value,
        "low": risk.ci[0],
        "high": risk.ci[1],
    }


def main():
    folder, most = Path(sys.argv[1]), int(sys.argv[2])
    modes = sys.argv[3].split(",")
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        case = line.strip()
        real, synthetic, control = (
            pd.read_csv(folder / f"{case}-{name}.csv") for name in ("real", "synthetic", "control")
        )
        secret = real.columns[-1]
        known = [c for c in real.columns if c != secret]
        half = len(real.columns) // 2
        parts = list(real.columns[:half]), list(real.columns[half:])
        files = {"ori": real, "syn": synthetic, "control": control}
        attacks = min(most, len(real), len(control))
        np.random.seed(1)  # noqa: NPY002 (its own randomness)
        began = time.perf_counter()
        said = {}
        with contextlib.redirect_stdout(io.StringIO()):
            evaluators = {
                "inference": InferenceEvaluator(
                    **files, aux_cols=known, secret=secret, n_attacks=attacks
                ),
                "linkability": LinkabilityEvaluator(
                    **files, aux_cols=parts, n_neighbors=1, n_attacks=attacks
                ),
            }
            for name, evaluator in evaluators.items():
                said[name] = evaluated(evaluator, n_jobs=1)
            for mode in modes:
                evaluator = SinglingOutEvaluator(**files, n_attacks=attacks, n_cols=3)
                try:
                    said[f"singling out, {mode}"] = evaluated(evaluator, mode=mode)
                except RuntimeError:  # it found no predicate
                    said[f"singling out, {mode}"] = None
        print(json.dumps({"case": case, "seconds": time.perf_counter() - began, **said}))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
