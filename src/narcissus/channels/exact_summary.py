"""What a channel of fractions leaks, in fractions: what ``narcissus channel --exact`` prints."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from narcissus.channels.rational import rational_channel
from narcissus.results import Grade, Result


@dataclass(frozen=True)
class ExactSummary(Result):
    """Bayes security, risk and capacity without any rounding.

    Attributes
    ----------
    secrets
        How many.
    beta_star, pair
        Bayes security, and two secrets that reach it; none if there is one secret.
    bayes_risk, guessing_error, beta
        For the prior; ``beta`` is None where nothing is left to guess.
    capacity, leakage
        Multiplicative capacity, and multiplicative leakage for the prior.
    """

    secrets: int
    beta_star: Fraction
    pair: tuple[str, ...]
    bayes_risk: Fraction
    guessing_error: Fraction
    beta: Fraction | None
    capacity: Fraction
    leakage: Fraction

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"

    def to_dict(self) -> dict[str, Any]:
        """Return fractions as texts such as "3/5"."""
        told = {key: getattr(self, key) for key in self.__dataclass_fields__}
        return {k: str(v) if isinstance(v, Fraction) else v for k, v in told.items()}

    def __str__(self) -> str:
        at = f" at the secrets {self.pair[0]!r} and {self.pair[1]!r}" if self.pair else ""
        beta = "" if self.beta is None else f", beta {_both(self.beta)}"
        return (
            f"EXACT, in fractions: Bayes security {_both(self.beta_star)}{at}\n"
            f"  Bayes risk {_both(self.bayes_risk)}, guessing error {_both(self.guessing_error)}"
            f"{beta}\n  capacity {_both(self.capacity)}, leakage {_both(self.leakage)}"
        )


def exact_summary(matrix: Any, prior: Any = None) -> ExactSummary:
    """Compute what a channel of fractions leaks.

    Parameters
    ----------
    matrix
        What `rational_channel` takes.
    prior
        Fractions; uniform if left out.

    Examples
    --------
    >>> print(exact_summary([["1/3", "2/3"], ["1/2", "1/2"]]))
    EXACT, in fractions: Bayes security 5/6 (0.833333) at the secrets 's1' and 's2'
      Bayes risk 5/12 (0.416667), guessing error 1/2 (0.5), beta 5/6 (0.833333)
      capacity 7/6 (1.16667), leakage 7/6 (1.16667)
    """
    c = rational_channel(matrix)
    weights = c.prior(prior)
    security, pair = c.beta_star()
    right, guess = c.bayes_vulnerability(weights), max(weights)
    beta = (1 - right) / (1 - guess) if guess < 1 else None
    return ExactSummary(
        len(c.secrets), security, pair, 1 - right, 1 - guess, beta, c.capacity(), right / guess
    )


def _both(value: Fraction) -> str:
    return f"{value} ({float(value):.6g})" if value.denominator > 1 else str(value)
