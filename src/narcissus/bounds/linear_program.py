"""Linear programs whose value is a valid bound whatever the solver's tolerance.

A solver stops within a tolerance of the optimum, on either side. By weak duality *any* non-negative
multipliers of the constraints yield an upper bound; the solver's are within rounding of the
optimum, so its tolerance costs sharpness, never validity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

FloatArray = NDArray[np.float64]
Sparse = Any  # the stubs have no type that covers every sparse array and its product


@dataclass(frozen=True)
class Maximum:
    """Largest value of a linear program."""

    bound: float  # proved upper bound, from the multipliers
    value: float  # value of the solver's point
    x: FloatArray  # the solver's point; it may violate the constraints by the solver's tolerance
    # prices: raising a limit by ``t`` raises the maximum by at most ``t`` times
    upper_multipliers: FloatArray
    equal_multipliers: FloatArray  # prices of the equalities


def maximise(
    gain: FloatArray,
    upper: Sparse,
    limits: FloatArray,
    equal: Sparse,
    sums: FloatArray,
) -> Maximum | None:
    """Maximise ``gain @ x`` over ``0 <= x <= 1``, ``upper @ x <= limits``, ``equal @ x = sums``.

    None if the solver fails.
    """
    # The stubs know dense matrices only, the function takes sparse ones as documented.
    solve: Any = optimize.linprog
    found = solve(
        -gain,
        A_ub=sparse.csr_array(upper),
        b_ub=limits,
        A_eq=sparse.csr_array(equal),
        b_eq=sums,
        bounds=(0.0, 1.0),
        method="highs",
    )
    if not found.success:
        return None
    y = np.maximum(-np.asarray(found.ineqlin.marginals, dtype=np.float64), 0.0)
    z = -np.asarray(found.eqlin.marginals, dtype=np.float64)
    left = gain - upper.T @ y - equal.T @ z
    bound = float(y @ limits + z @ sums + np.maximum(left, 0.0).sum())
    return Maximum(bound, -float(found.fun), np.asarray(found.x, dtype=np.float64), y, z)
