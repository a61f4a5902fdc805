"""All bounds for one threat, as a table and as a picture.

Source: Narcissus theory 4.7; the picture is in the style of Swanberg et al. 2025, Figure 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from narcissus._outwards import lower, upper
from narcissus._pandas import pd
from narcissus.bounds.at_most import reached_of_threat
from narcissus.bounds.theorem import About, Question
from narcissus.bounds.theorems import THEOREMS, best, bounds_on
from narcissus.bounds.threat import Threat, threat
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP, ZeroConcentratedDP
from narcissus.results import Bound, Grade, NotAssessed, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 41


@dataclass(frozen=True)
class Comparison(Result):
    """All bounds for one threat."""

    # ours and the published ones; invalid ones are marked by `Bound.valid`
    bounds: tuple[Bound, ...]
    threat: Threat  # `threat`, `guarantee`: Their subject
    guarantee: Guarantee = field(repr=False)
    at_least: int | None  # the count, or None for the success on one target
    # with a count: success attained by some mechanism with the guarantee; None if none is
    # known
    reached: float | None = None

    @property
    def grade(self) -> Grade:
        return "proved"

    @property
    def best(self) -> Bound:
        return best(list(self.bounds))

    def to_dict(self) -> dict[str, Any]:
        fields = {
            "bounds": [b.to_dict() for b in self.bounds],
            "guarantee": self.guarantee.describe(),
            "at_least": self.at_least,
        }
        return fields if self.reached is None else {**fields, "reached": self.reached}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per bound, tightest first, the invalid ones last."""
        rows = [{"bound": b.theorem, "value": b.value, "valid": b.valid} for b in self.bounds]
        frame = pd.DataFrame(rows)
        return frame.sort_values(["valid", "value"], ascending=[False, True], ignore_index=True)

    def __str__(self) -> str:
        lines = [f"{self.bounds[0].quantity}, {self.guarantee.describe()}"]
        for _, row in self.to_frame().iterrows():
            mark = "" if row["valid"] else "   (not a bound: known not to hold)"
            lines.append(f"  {upper(row['value']):<12} {row['bound']}{mark}")
        if self.reached is not None:
            lines.append(f"  {lower(self.reached):<12} is reached by some mechanism with it")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None, *, against: str = "prior") -> Axes:
        """Draw every bound ``against`` the ``"prior"``, or the guarantee's ``"parameter"``."""
        axes = _figure(1).axes[0] if ax is None else ax
        if against == "prior":
            _draw(
                axes,
                *self._against_prior(),
                self._about,
                label="success without the release (prior)",
            )
            if self.at_least is None:
                axes.plot([0, 1], [0, 1], color="0.75", linewidth=1, zorder=0)
        else:
            family = _family(self.guarantee)
            if family is None:
                axes.set_axis_off()
                axes.text(0.5, 0.5, "this guarantee has no single parameter", ha="center")
                return axes
            make, name, here = family
            grid = np.linspace(0.0, max(2 * here, 1e-3), _POINTS)
            lines = [self._bounds(self.threat, make(float(x))) for x in grid]
            _draw(axes, grid, lines, self._about, label=name)
            axes.axvline(here, color="0.75", linewidth=1, zorder=0)
        axes.set_ylabel(self.bounds[0].quantity if self.at_least else "success with the release")
        return axes

    def save(self, path: Path | str) -> None:
        """Write both pictures, side by side, to a file; the suffix chooses the format."""
        path = Path(path)
        import matplotlib as mpl

        figure = _figure(2)
        self.plot(figure.axes[0])
        self.plot(figure.axes[1], against="parameter")
        figure.suptitle(f"{self.bounds[0].quantity}\n{self.guarantee.describe()}", fontsize=10)
        shown: dict[str, Any] = {}
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                shown.setdefault(label, handle)
        figure.legend(
            list(shown.values()),
            list(shown),
            loc="outside lower center",
            ncols=2,
            fontsize=8,
            frameon=False,
        )
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "narcissus"}):
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)

    @property
    def _about(self) -> About:
        return Question(self.threat, self.guarantee, self.at_least).about

    def _bounds(self, danger: Threat, guarantee: Guarantee) -> list[Bound]:
        return bounds_on(danger, guarantee, self.at_least, expensive=False)

    def _against_prior(self) -> tuple[np.ndarray, list[list[Bound]]]:
        """Compute bounds for equal priors on a grid; a full prior of values has no such axis."""
        # Of in and out the best guess is right half of the time at least.
        lowest_prior = 0.5 if self.guarantee.secret == "membership" else 0.01
        grid = np.linspace(lowest_prior, 0.99, _POINTS)
        here = self.threat
        # Overlapping guesses of a whole prior have no inseparability that goes with another prior.
        kappa = None if here.exact_match or here.values is not None else here.inseparable
        threats = [
            threat(
                prior=float(p),
                targets=here.targets,
                guesses=here.guesses,
                inseparable=kappa,
                exact_match=here.exact_match,
            )
            for p in grid
        ]
        lines = [self._bounds(danger, self.guarantee) for danger in threats]
        return grid, lines


def compare(danger: Threat, guarantee: Guarantee, at_least: int | None = None) -> Comparison:
    """Compute all bounds for one threat.

    ``guarantee`` must be for the question asked (see `narcissus.guarantees.as_asked`); without
    ``at_least`` the bounds are on the success on one target.

    >>> from narcissus.guarantees import ApproximateDP
    >>> compare(threat(prior=0.5, targets=3), ApproximateDP(0.1, 0.01), 1).best.theorem
    'Narcissus theory 4.3 (swap bound)'
    """
    bounds = bounds_on(danger, guarantee, at_least)
    lower_bound = None if at_least is None else reached_of_threat(danger, guarantee, at_least)
    lower_bound = None if isinstance(lower_bound, NotAssessed) else lower_bound
    return Comparison(tuple(bounds), danger, guarantee, at_least, lower_bound)


def _family(guarantee: Guarantee) -> tuple[Callable[[float], Guarantee], str, float] | None:
    """Return how to vary a guarantee's one parameter, the parameter's name and its value."""
    if isinstance(guarantee, PureDP):
        return PureDP, "epsilon", guarantee.epsilon
    if isinstance(guarantee, ApproximateDP):
        delta = guarantee.delta
        return (lambda e: ApproximateDP(e, delta), f"epsilon (delta {delta:g})", guarantee.epsilon)
    if isinstance(guarantee, GaussianDP):
        return GaussianDP, "mu", guarantee.mu
    if isinstance(guarantee, ZeroConcentratedDP):
        return ZeroConcentratedDP, "rho", guarantee.rho
    return None


def _figure(panels: int) -> Figure:
    """Create a figure outside pyplot's global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * panels, 4.6), layout="constrained")
    figure.subplots(1, panels)
    return figure


def _draw(
    axes: Axes, grid: np.ndarray, lines: list[list[Bound]], about: About, *, label: str
) -> None:
    curves: dict[str, list[tuple[float, Bound]]] = {}
    for x, bounds in zip(grid, lines, strict=True):
        for bound in bounds:
            curves.setdefault(bound.id, []).append((float(x), bound))
    drawn = [t.id for t in THEOREMS.values() if about in t.about and t.id in curves]
    for name, points in curves.items():
        theorem, good = THEOREMS[name], points[0][1].valid
        axes.plot(
            [x for x, _ in points],
            [bound.value for _, bound in points],
            color=f"C{drawn.index(name) % 10}",
            linestyle="-" if good else "--",
            linewidth=2.2 if theorem.own else 1.2,
            label=theorem.statement if good else f"{theorem.statement} (not a bound)",
        )
    axes.set_xlabel(label)
    axes.set_ylim(0, 1.02)
    axes.set_xlim(float(grid[0]), float(grid[-1]))
    axes.spines[["top", "right"]].set_visible(False)
