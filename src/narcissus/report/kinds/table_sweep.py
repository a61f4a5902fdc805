"""A table's audit over all settings of a sweep: the picture, and the numbers at a glance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narcissus.report.format import MISSING, limits, number, percent, points, with_limits
from narcissus.report.kinds.table_names import above_guess, label_of, share_allowed
from narcissus.report.kinds.table_pictures import as_range
from narcissus.report.page import Figure, Grid
from narcissus.study.results.table import SettingResult
from narcissus.study.results.table_attacks import LimitedMean

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


@dataclass(frozen=True)
class _Axis:
    """Where each setting stands, the ticks, the title, and the setting without noise."""

    places: list[float]
    ticks: list[str]
    title: str
    apart: int | None


def _epsilon(setting: SettingResult) -> float | None:
    return setting.epsilon


def _mu(setting: SettingResult) -> float | None:
    return setting.mu


def _scale(setting: SettingResult) -> float | None:
    return None if setting.noise is None else setting.noise.scale


# Privacy levels grow with less noise, a scale with more: sign, what is read, title.
_AXES: tuple[tuple[str, int, Callable[[SettingResult], float | None]], ...] = (
    ("epsilon", 1, _epsilon),
    ("mu", 1, _mu),
    ("noise scale", -1, _scale),
)


def _axis(settings: Sequence[SettingResult]) -> _Axis:
    apart = next((i for i, s in enumerate(settings) if s.noiseless), None)
    noisy = [i for i, s in enumerate(settings) if not s.noiseless]
    places = [float(i) for i in range(len(settings))]
    ticks = ["no\nnoise" if s.noiseless else label_of(s) for s in settings]
    title = "setting"
    for words, sign, value_of in _AXES:
        values = {i: value for i in noisy if (value := value_of(settings[i]))}
        if noisy and len(values) == len(noisy):
            less = "protection" if settings[0].noise is None else "noise"
            title = f"{words} (log scale); less {less} to the right"
            places = [sign * math.log10(values.get(i, 1.0)) for i in range(len(settings))]
            ticks = [number(values[i]) if i in values else t for i, t in enumerate(ticks)]
            break
    if apart is not None:
        others = [p for i, p in enumerate(places) if i != apart]
        span = max(others) - min(others) if others else 0.0
        places[apart] = (max(others) if others else 0.0) + max(0.22 * span, 0.3)
    return _Axis(places, ticks, title, apart)


def curves_picture(settings: Sequence[SettingResult]) -> Figure:
    """Draw the best attack, its baseline, the ceiling and what is proved, over the settings."""
    axis = _axis(settings)
    bounds = [(s, s.share_bound) for s in settings]
    proved = [b.share_at_most if b is not None and s.is_edge(b) else None for s, b in bounds]
    known = [(s, best) for s in settings if (best := s.best_attack) is not None]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import CEILING, WITH, WITHOUT, Range
        from narcissus.report.curves import Curve, curves

        own = [
            None
            if (b := s.best_attack) is None
            else Range(b.baseline, b.baseline_low, b.baseline_high)
            for s in settings
        ]
        curves(
            figure,
            [
                Curve("ceiling", [as_range(s.ceiling) for s in settings], CEILING, "-."),
                Curve("best attack", [as_range(s.best_attack) for s in settings], WITH),
                Curve("its own baseline", own, WITHOUT, "--"),
            ],
            places=axis.places,
            labels=axis.ticks,
            apart=axis.apart,
            axis=axis.title,
            proved=proved,
            threshold=share_allowed(settings[0]),
        )

    rows = [
        [
            label_of(s),
            None if (best := s.best_attack) is None else best.share,
            "" if best is None else limits(best.low, best.high),
            None if best is None else best.baseline,
            None if s.ceiling is None else s.ceiling.share,
            "" if s.ceiling is None else limits(s.ceiling.low, s.ceiling.high),
            "" if p is None else percent(p, "up"),
        ]
        for s, p in zip(settings, proved, strict=True)
    ]
    headline = "What is recovered at each setting, and what limits it"
    if len(known) > 1:
        (first, a), (last, z) = known[0], known[-1]
        headline = (
            f"The best attack recovers {percent(a.share)} at {label_of(first)} and "
            f"{percent(z.share)} at {label_of(last)}"
        )
    return Figure(
        headline,
        _in_words(settings, is_proved=any(p is not None for p in proved)),
        draw,
        Grid(
            "What is recovered, and what limits it, for each setting",
            (
                "Setting",
                "Best attack",
                "Its limits",
                "Its own baseline",
                "Ceiling",
                "Limits of the ceiling",
                "Proved at most",
            ),
            rows,
            percent=("Best attack", "Its own baseline", "Ceiling"),
        ).where_known("Ceiling", "Limits of the ceiling", "Proved at most"),
        (7.4, 4.3),
        "settings",
    )


def _in_words(settings: Sequence[SettingResult], *, is_proved: bool) -> str:
    """Say what is drawn over the settings."""
    triangles = ", a line with triangles the ceiling" if any(s.ceiling for s in settings) else ""
    edge = " The hatched area above the heavy line is where it is proved that no attacker is, on "
    return (
        "Share of secrets recovered against the setting of the release. A line with circles is the "
        "best attack with its confidence band, a dashed line with squares the same guesses on "
        f"people who had no part in the release{triangles}."
    ) + (f"{edge}average." if is_proved else "")


def glance(settings: Sequence[SettingResult]) -> Grid:
    """Give the headline numbers of every setting."""
    rows: list[list[str]] = []
    for s in settings:
        share, count = s.share_bound, s.count_bound
        rows.append(
            [
                label_of(s),
                percent(s.guess.share),
                _in_brief(s.best_attack),
                points(above_guess(s)),
                _in_brief(s.ceiling),
                MISSING if share is None else percent(share.share_at_most, "up"),
                MISSING if count is None else f"{number(count.at_most)} of {count.of}",
                s.status,
            ]
        )
    is_proved = any(s.share_bound or s.count_bound for s in settings)
    return Grid(
        "Every setting: shares are sampled (limits in brackets)"
        + (" but for the two proved columns" if is_proved else ""),
        (
            "Setting",
            "Without",
            "Best attack",
            "Above the guess, points",
            "Ceiling",
            "Proved on average",
            "Proved in one release",
            "Threshold",
        ),
        rows,
    ).where_known("Ceiling", "Proved on average", "Proved in one release")


def _in_brief(value: LimitedMean | None) -> str:
    return MISSING if value is None else with_limits(value.share, value.low, value.high)
