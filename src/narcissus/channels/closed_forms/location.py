"""Additive noise on a line: what Laplace and Gaussian noise share."""

from __future__ import annotations

from narcissus._validation import integer, positive
from narcissus.channels.closed_forms.base import ClosedForm


class LocationFamily(ClosedForm):
    """Noise added to evenly spaced numbers: secrets ``0, span/(points-1), ..., span``.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    span: float
    points: int

    def _check(self) -> None:
        object.__setattr__(self, "span", positive("span", self.span))
        object.__setattr__(self, "points", integer("points", self.points, low=2))

    @property
    def secrets(self) -> int:
        """Number of points."""
        return self.points

    def _overlap(self, distance: float) -> float:
        """Give the overlap of two secrets this far apart."""
        raise NotImplementedError

    @property
    def beta_star(self) -> float:
        """The overlap of the two ends."""
        return self._overlap(self.span)

    @property
    def capacity(self) -> float:
        """One plus the total variation between neighbours, summed.

        The upper envelope of shifted copies of a log-concave density changes hands once between
        neighbours, so each adds its distance to the one before.
        """
        gap = self.span / (self.points - 1)
        return 1 + (self.points - 1) * (1 - self._overlap(gap))

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior."""
        if self.points == 2:
            return self.beta_star / 2
        gap = self.span / (self.points - 1)
        return (self.points - 1) * self._overlap(gap) / self.points
