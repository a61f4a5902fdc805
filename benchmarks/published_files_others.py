"""The side of anonymeter and SDMetrics in `published_files.py`; runs in their own environment.

python published_files_others.py anonymeter|sdmetrics REAL FILE

Each takes its defaults; a line for each measure: its numbers, or its error, and its seconds.
"""

import contextlib
import io
import sys
import time
import warnings

import numpy as np
import pandas as pd


def anonymeter(real, made):
    """Yield anonymeter's evaluators, without a control."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    secret = real.columns[-1]
    known = [c for c in real if c != secret]
    half = len(real.columns) // 2
    parts = list(real.columns[:half]), list(real.columns[half:])
    files = {"ori": real, "syn": made}

    def risk(evaluator, **how):
        evaluator.evaluate(**how)
        found = evaluator.risk()
        return f"risk {found.value:.3f}, {found.ci[0]:.3f} to {found.ci[1]:.3f}"

    yield (
        "singling out by one column",
        lambda: risk(SinglingOutEvaluator(**files), mode="univariate"),
    )
    yield "singling out by three", lambda: risk(SinglingOutEvaluator(**files), mode="multivariate")
    yield "linkability", lambda: risk(LinkabilityEvaluator(**files, aux_cols=parts), n_jobs=1)
    yield (
        "inference",
        lambda: risk(InferenceEvaluator(**files, aux_cols=known, secret=secret), n_jobs=1),
    )


def sdmetrics(real, made):
    """Yield the measures of SDMetrics that are about privacy."""
    from sdmetrics.single_table import DCRBaselineProtection, DisclosureProtection, NewRowSynthesis

    kinds = {
        c: {"sdtype": "numerical" if pd.api.types.is_numeric_dtype(real[c]) else "categorical"}
        for c in real
    }
    meta = {"columns": kinds}
    secret = real.columns[-1]
    yield (
        "distance to the closest record",
        lambda: DCRBaselineProtection.compute_breakdown(real, made, {"tables": {"t": meta}}, "t"),
    )
    yield (
        "disclosure",
        lambda: DisclosureProtection.compute_breakdown(
            real, made, [c for c in real if c != secret][:5], [secret]
        ),
    )
    yield "new rows", lambda: NewRowSynthesis.compute_breakdown(real, made, meta)


def main():
    tool, *paths = sys.argv[1:]
    warnings.simplefilter("ignore")
    np.random.seed(1)  # noqa: NPY002 (their own randomness)
    real, made = (pd.read_csv(path) for path in paths)
    for name, measure in {"anonymeter": anonymeter, "sdmetrics": sdmetrics}[tool](real, made):
        began = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                said = measure()
            except Exception as error:  # it is reported
                said = f"{type(error).__name__}: {str(error)[:80]}"
        print(f"{name}: {said} ({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
