"""Refinement: whether one channel can be made from another by post-processing, with a witness.

``B`` refines ``A`` if ``A R = B`` for some channel ``R``; then no attacker, for any prior and any
gain, does better with ``B``. If it does not, some gain says so (Alvim et al. 2020, chapter 9: the
coriaceous theorem), and the multipliers of the linear program are that gain.

Source: Narcissus theory 6.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from narcissus.channels.channel import Channel, channel, same_secrets
from narcissus.channels.gain import g_vulnerability
from narcissus.errors import NarcissusError, TooLargeError
from narcissus.results import Grade, Result

Floats = NDArray[np.float64]

CLOSE = 1e-9
"""Sum of differences below which two channels are alike but for the solver's tolerance."""
MOST_VARIABLES = 400_000
PRECISE = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
"""The solver's own 1e-7 would take what is off by that much for post-processing."""


@dataclass(frozen=True)
class Refinement(Result):
    """Whether a second channel refines a first one.

    Attributes
    ----------
    holds
        Whether it does, within 1e-9 in sum.
    gap
        ``min over R of sum |A R - B|``.
    by
        The channel ``R`` that comes nearest.
    gain
        Where it does not hold: a gain in [0, 1], shape (guesses, secrets), with which the uniform
        prior's g-vulnerability is larger with the second channel.
    first, second
        These two g-vulnerabilities; 0 where it holds.
    """

    holds: bool
    gap: float
    by: Channel
    gain: Floats | None
    first: float
    second: float

    @property
    def grade(self) -> Grade:
        """Proved by the witness; approximate where the two agree but for the solver's tolerance."""
        return "approximate" if self.holds else "proved"

    def to_dict(self) -> dict[str, Any]:
        """Return whether it holds, and the witness as rows of numbers."""
        return {
            "holds": self.holds,
            "grade": self.grade,
            "gap": self.gap,
            "by": self.by.dense.tolist() if self.holds else None,
            "gain": None if self.gain is None else self.gain.tolist(),
            "first": self.first,
            "second": self.second,
        }

    def __str__(self) -> str:
        if self.holds:
            return f"REFINES: the first, post-processed, is the second within {self.gap:.1g} in sum"
        return (
            f"DOES NOT REFINE: with some gain the second tells {self.second:.6g}, the first "
            f"{self.first:.6g} (gap {self.gap:.6g})"
        )


def refines(first: Any, second: Any) -> Refinement:
    """Check whether the second channel is the first one, post-processed.

    Parameters
    ----------
    first, second
        Channels over the same secrets.

    Raises
    ------
    InputError
        Other secrets.
    TooLargeError
        More than 400,000 variables.

    Notes
    -----
    Source: Narcissus theory 6.6.

    Examples
    --------
    >>> a, b = [[0.9, 0.1], [0.2, 0.8]], [[0.55, 0.45], [0.2, 0.8]]
    >>> refines(a, b).holds, refines(b, a).holds
    (True, False)
    """
    a, b = channel(first), channel(second)
    same_secrets("that are compared", a.secrets, b.secrets)
    (n, outputs), answers = a.shape, b.shape[1]
    if outputs * answers + n * answers > MOST_VARIABLES:
        raise TooLargeError(
            f"{outputs} and {answers} outputs of {n} secrets make a program of "
            f"{outputs * answers + n * answers:,} variables, at most {MOST_VARIABLES:,} are solved"
        )
    solve: Any = optimize.linprog
    # The solver drops coefficients below 1e-9: R's rows weigh what A's outputs do, so that those
    # of rare outputs are no smaller.
    weight = a.dense.sum(axis=0)
    shares = a.dense / np.where(weight > 0, weight, 1.0)
    product = sparse.kron(shares, sparse.eye_array(answers), format="csr")
    far = sparse.eye_array(n * answers)
    target = b.dense.ravel()
    sums = sparse.kron(sparse.eye_array(outputs), np.ones((1, answers)), format="csr")
    found = solve(
        np.concatenate([np.zeros(outputs * answers), np.ones(n * answers)]),
        A_ub=sparse.block_array([[product, -far], [-product, -far]], format="csr"),
        b_ub=np.concatenate([target, -target]),
        A_eq=sparse.hstack([sums, sparse.csr_array((outputs, n * answers))], format="csr"),
        b_eq=weight,
        bounds=(0, None),
        method="highs",
        options=PRECISE,
    )
    if not found.success:
        raise NarcissusError(f"the linear program was not solved: {found.message}")
    by = np.maximum(found.x[: outputs * answers].reshape(outputs, answers), 0.0)
    total = by.sum(axis=1, keepdims=True)
    by = np.where(total > 0, by, 1.0) / np.where(total > 0, total, answers)
    made = channel(by, secrets=a.outputs, outputs=b.outputs)
    gap = float(np.abs(a.dense @ by - b.dense).sum())
    if gap <= CLOSE:
        return Refinement(True, gap, made, None, 0.0, 0.0)
    prices = np.asarray(found.ineqlin.marginals).reshape(2, n, answers)
    gain = (1 + np.clip(prices[0] - prices[1], -1.0, 1.0).T) / 2
    told = [g_vulnerability(c, gain) for c in (a, b)]
    if told[1] <= told[0]:
        raise NarcissusError(
            f"not decided: the nearest post-processing is off by {gap:.1g} in sum, more than the "
            f"{CLOSE:g} of one that agrees, and no gain was found that separates the channels"
        )
    return Refinement(False, gap, made, gain, *told)
