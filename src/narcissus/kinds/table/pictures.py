"""The pictures of a table's audit, each with the table behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from narcissus.kinds.layout import dots, table
from narcissus.kinds.table.found import (
    GroupAttack,
    GroupFound,
    HitCounts,
    Limited,
    PlayedAttack,
    TableBound,
    known,
)
from narcissus.kinds.table.judgement import JudgedSetting
from narcissus.kinds.table.words import above_guess, attack_name, best_name, label_of, share_allowed
from narcissus.report.format import MISSING, between_points, limits, number, percent
from narcissus.report.page import Cell, Figure, Grid, Range, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


def as_range(value: Limited | None) -> Range | None:
    """Return a share with its limits as a chart takes it."""
    return None if value is None else Range(value.share, value.low, value.high)


def share_of(value: Limited | None) -> float | None:
    return None if value is None else value.share


def limits_of(value: Limited | None) -> str:
    return "" if value is None else limits(value.low, value.high)


@dataclass(frozen=True)
class _Axis:
    places: list[float]
    ticks: list[str]
    title: str
    apart: int | None


def _levels(setting: JudgedSetting) -> list[tuple[str, int, float | None]]:
    """Return the keys that order settings: a level grows with less noise, a scale with more."""
    result = setting.result
    scale = None if result.noise is None else result.noise.scale
    return [("epsilon", 1, result.epsilon), ("mu", 1, result.mu), ("noise scale", -1, scale)]


def _axis(settings: Sequence[JudgedSetting]) -> _Axis:
    apart = next((i for i, s in enumerate(settings) if s.result.noiseless), None)
    noisy = [i for i, s in enumerate(settings) if not s.result.noiseless]
    places = [float(i) for i in range(len(settings))]
    ticks = ["no\nnoise" if s.result.noiseless else label_of(s) for s in settings]
    title = "setting"
    for kind, (words, sign, _) in enumerate(_levels(settings[0])):
        values = {i: value for i in noisy if (value := _levels(settings[i])[kind][2])}
        if noisy and len(values) == len(noisy):
            less = "protection" if settings[0].result.noise is None else "noise"
            title = f"{words} (log scale); less {less} to the right"
            places = [sign * math.log10(values.get(i, 1.0)) for i in range(len(settings))]
            ticks = [number(values[i]) if i in values else t for i, t in enumerate(ticks)]
            break
    if apart is not None:
        others = [p for i, p in enumerate(places) if i != apart]
        span = max(others) - min(others) if others else 0.0
        places[apart] = (max(others) if others else 0.0) + max(0.22 * span, 0.3)
    return _Axis(places, ticks, title, apart)


def curves_picture(settings: Sequence[JudgedSetting]) -> Figure:
    """Draw the best attack, its baseline, the ceiling and what is proved, over the settings."""
    axis, called = _axis(settings), _quoted(settings)
    heading = f"{called[0].upper()}{called[1:]}"
    bounds = [(s, s.result.share_bound) for s in settings]
    proved = [b.at_most if b is not None and s.is_edge(b) else None for s, b in bounds]
    bests = [(s, best) for s in settings if (best := s.result.best_attack) is not None]
    # here and not where they are drawn: a record that lacks one is refused when it is read
    baselines = [
        None
        if (b := s.result.best_attack) is None
        else Range(b.baseline, known(b.without.low), known(b.without.high))
        for s in settings
    ]
    ceilings = [as_range(s.result.ceiling) for s in settings]
    best_attacks = [as_range(s.result.best_attack) for s in settings]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import CEILING, WITH, WITHOUT, Curve, curves

        curves(
            figure,
            [
                Curve("ceiling", ceilings, CEILING, "-."),
                Curve(called, best_attacks, WITH),
                Curve("its own baseline", baselines, WITHOUT, "--"),
            ],
            places=axis.places,
            labels=axis.ticks,
            apart=axis.apart,
            axis=axis.title,
            proved=proved,
            threshold=share_allowed(settings[0]),
        )

    headline = "What is recovered at each setting, and what limits it"
    if len(bests) > 1:
        (first, a), (last, z) = bests[0], bests[-1]
        headline = (
            f"The {called} recovers {percent(a.share)} at {label_of(first)} and "
            f"{percent(z.share)} at {label_of(last)}"
        )
    return Figure(
        headline,
        _in_words(settings, is_proved=any(p is not None for p in proved)),
        draw,
        table(
            "What is recovered at each setting, and what limits it",
            list(zip(settings, proved, strict=True)),
            {
                "Setting": lambda pair: label_of(pair[0]),
                heading: lambda pair: share_of(pair[0].result.best_attack),
                "Its limits": lambda pair: limits_of(pair[0].result.best_attack),
                "Its own baseline": lambda pair: (
                    pair[0].result.best_attack and pair[0].result.best_attack.baseline
                ),
                "Ceiling": lambda pair: share_of(pair[0].result.ceiling),
                "Limits of the ceiling": lambda pair: limits_of(pair[0].result.ceiling),
                "Proved at most": lambda pair: "" if pair[1] is None else percent(pair[1], "up"),
                "Threshold": lambda pair: pair[0].status,
            },
            graded=False,
            percent=(heading, "Its own baseline", "Ceiling"),
        ).where_known("Ceiling", "Limits of the ceiling", "Proved at most"),
        (7.4, 4.3),
        "settings",
    )


def _quoted(settings: Sequence[JudgedSetting]) -> str:
    """Name the attacks whose numbers stand for a setting: one with less evidence may have more."""
    are_best = all(best_name(setting) == "the best attack" for setting in settings)
    return "best attack" if are_best else "attack with most evidence"


def _in_words(settings: Sequence[JudgedSetting], *, is_proved: bool) -> str:
    triangles = (
        ", a line with triangles the ceiling" if any(s.result.ceiling for s in settings) else ""
    )
    edge = " The hatched area above the heavy line is where it is proved that no attacker is, on "
    return (
        "Share of secrets recovered against the setting of the release. A line with circles is the "
        f"{_quoted(settings)} with its confidence band, a dashed line with squares the same "
        f"guesses on people who had no part in the release{triangles}."
    ) + (f"{edge}average." if is_proved else "")


def attacks_picture(setting: JudgedSetting, *, is_sweep: bool) -> Figure:
    attacks = sorted(setting.result.attacks.items(), key=lambda pair: -pair[1].share)
    ceiling, bound, best = (
        setting.result.ceiling,
        setting.result.share_bound,
        setting.result.best_attack,
    )
    guess = setting.result.guess
    edge = bound.at_most if bound is not None and setting.is_edge(bound) else None
    where = f"At {label_of(setting)}" if is_sweep else "In this release"

    dotted = [] if ceiling is None else [Row("ceiling", None, None, as_range(ceiling))]
    dotted += [
        Row(attack_name(name), a.baseline, as_range(a), bold=name == setting.result.best)
        for name, a in attacks
    ]
    draw = dots(
        dotted,
        without="the same guesses on fresh people",
        edge=edge,
        threshold=share_allowed(setting),
    )
    listed = [] if ceiling is None else [("ceiling", ceiling)]
    gain = "More than its baseline, points"
    headline = f"{where}, the attacks compared with the ceiling and what is proved"
    named = best_name(setting)
    if setting.result.best is not None and "(" not in named:
        named += f" ({attack_name(setting.result.best)})"
    if best is not None and setting.result.best is not None:
        headline = (
            f"{where}, {named} recovers "
            f"{percent(best.share)}; {percent(guess.share)} is guessed without the release"
        )
    return Figure(
        headline,
        "One row for each attack: a circle is the share recovered with its confidence limits, an "
        "open square the attack's own baseline on fresh people"
        + ("." if ceiling is None else ", a triangle the ceiling.")
        + (
            " The heavy line with hatching to its right is proved: no attacker is beyond it, on "
            "average."
            if edge is not None
            else ""
        ),
        draw,
        table(
            f"The best guess without the release, the attacks{' and the ceiling' * bool(ceiling)}",
            [("best guess", guess), *listed, *attacks],
            {
                "Attack": lambda pair: attack_name(pair[0]),
                "Share recovered": lambda pair: pair[1].share,
                "Limits": lambda pair: limits_of(pair[1]),
                "Approximately": lambda pair: limits(
                    *(pair[1].quantity.approximate or (None,) * 2)
                ),
                "Own baseline": lambda pair: getattr(pair[1], "baseline", None),
                gain: lambda pair: _gain(pair[1]),
                "Trials": lambda pair: pair[1].quantity.trials,
            },
            graded=[guess.quantity.grade, *("sampled" for _ in [*listed, *attacks])],
            percent=("Share recovered", "Own baseline"),
        ).where_known("Approximately", gain),
        (7.4, 1.4 + 0.36 * (len(attacks) + 1)),
        "attacks",
    )


def _gain(attack: Limited) -> str:
    """Return the limits of what an attack gains over the same attempts on others."""
    if not isinstance(attack, PlayedAttack) or attack.uses == "prior":  # it does not look
        return MISSING
    high = attack.gain.high
    return between_points(attack.sure_gain, 1.0 if high is None else high)


def distribution_picture(setting: JudgedSetting) -> Figure:
    """Draw how many targets each attack recovered from trial to trial."""
    answers = sorted(setting.result.attacks.items(), key=lambda pair: -pair[1].share)
    if setting.result.ceiling is not None:
        answers.insert(0, ("ceiling", setting.result.ceiling))
    counted = [(n, d) for n, a in answers if (d := a.distribution) is not None]
    maximum = max(max(distribution.targets) for name, distribution in counted if name != "ceiling")
    count, people = setting.result.count_bound, setting.result.people
    bound = count if count is not None and setting.is_edge(count) else None

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import histograms

        histograms(
            figure,
            [
                (attack_name(name), distribution.targets, distribution.trials, name == "ceiling")
                for name, distribution in counted
            ],
            people=people,
            edge=None if bound is None else int(bound.at_most),
            edge_words=""
            if bound is None
            else f"proved: beyond in at most {_rest(bound)} of releases",
            threshold=None if setting.threshold is None else setting.threshold.targets,
        )

    heads = ("Least", "A quarter below", "Middle", "A quarter above", "Most")
    columns: dict[str, Callable[[tuple[str, HitCounts]], Cell]] = {
        "Attack": lambda pair: attack_name(pair[0])
    }
    for place, head in enumerate(heads):
        columns[head] = lambda pair, place=place: _quantiles(pair[1])[place]
    tail = ""
    if bound is not None:
        tail = (
            f"; no attacker gets more than {number(bound.at_most)} in more than "
            f"{_rest(bound)} of releases"
        )
    return Figure(
        f"In its luckiest trial an attack recovered {number(maximum)} of {number(people)} targets"
        + tail,
        "One row for each attack: the height of a bar is the number of trials in which so many "
        "targets were recovered."
        + (
            " The heavy line with hatching to its right is proved: by any attack, at most the "
            "part of releases written there goes beyond it."
            if bound is not None
            else ""
        ),
        draw,
        table("Targets recovered in one release", counted, columns, graded=False),
        (7.4, 1.2 + 0.5 * len(counted)),
        "targets",
    )


def _rest(bound: TableBound) -> str:
    return f"{100 * (1 - bound.confidence):.4g}%"


def _quantiles(distribution: HitCounts) -> list[int]:
    pairs = sorted(zip(distribution.targets, distribution.trials, strict=True))
    total = sum(count for _, count in pairs)
    quantiles: list[int] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        seen = 0
        for value, count in pairs:
            seen += count
            if seen >= share * total:
                quantiles.append(value)
                break
    return quantiles


def columns_picture(setting: JudgedSetting) -> Figure:
    """Draw each unknown column: the best attack and the ceiling."""
    best, ceiling = setting.result.best_attack, setting.result.ceiling
    shares = {} if best is None else best.columns
    columns = sorted(shares.items(), key=lambda pair: -pair[1].share)
    above = {} if ceiling is None else ceiling.columns
    alone = setting.result.guess.columns
    guess = "Best guess of this column alone"
    called = _quoted([setting])
    heading = f"{called[0].upper()}{called[1:]}"
    draw = dots([Row(n, c.baseline, as_range(c), as_range(above.get(n))) for n, c in columns])
    return Figure(
        f"What the {called} recovers of each unknown column",
        "One row for each unknown column: an open square is the baseline, a circle what the "
        f"{called} recovers{', a triangle the ceiling' if above else ''}.",
        draw,
        table(
            "Each unknown column",
            columns,
            {
                "Column": itemgetter(0),
                "Baseline": lambda pair: pair[1].baseline,
                heading: lambda pair: pair[1].share,
                "Limits": lambda pair: limits_of(pair[1]),
                "Ceiling": lambda pair: share_of(above.get(pair[0])),
                guess: lambda pair: alone.get(pair[0]),
            },
            graded=False,
            percent=("Baseline", heading, "Ceiling", guess),
        ).where_known("Ceiling", guess),
        (7.4, 1.2 + 0.36 * len(columns)),
        "columns",
    )


@dataclass(frozen=True)
class _Line:
    by: str
    group: str
    label: str
    people: float
    guess: Limited
    best: Limited | None
    ceiling: Limited | None

    @property
    def sure_gain(self) -> float:
        """What the release adds, at the low limit: few people must not look worst by luck."""
        # of the same people, so tighter than a difference of limits
        return self.best.sure_gain if isinstance(self.best, GroupAttack) else -1.0


def groups_picture(setting: JudgedSetting) -> Figure:
    """Draw the groups compared with the average; the one that the release costs most stands out."""
    name = setting.result.best or ""
    groups = [
        _Line(
            group.by,
            group.group,
            f"{group.group} ({number(float(f'{100 * group.share_of_people:.2g}'))}%)",
            group.share_of_people,
            group.guess,
            group.attacks.get(name),
            group.ceiling,
        )
        for group in setting.result.groups
    ]
    everyone = ("everyone", "average", "everyone (100% of people)", 1.0)
    average = _Line(
        *everyone, setting.result.guess, setting.result.best_attack, setting.result.ceiling
    )
    lines = [average, *groups]
    worst = max(groups, key=lambda line: line.sure_gain)
    draw = dots(
        [
            Row(
                line.label,
                line.guess.share,
                as_range(line.best),
                as_range(line.ceiling),
                bold=line is worst,
                heading=line.by if line.by != before.by else "",
            )
            for before, line in pairwise([average, *lines])
        ]
    )
    triangle = ", a triangle the ceiling" if any(line.ceiling for line in lines) else ""
    return Figure(
        _of_groups(setting, worst),
        "One row for each group, the average first: an open square is what is guessed without the "
        "release, a circle what the best attack recovers with its limits"
        f"{triangle}. The group for which the release adds most is in bold.",
        draw,
        _group_table(setting),
        (7.4, 1.2 + 0.34 * len(lines) + 0.32 * len({line.by for line in groups})),
        "groups",
    )


def _group_table(setting: JudgedSetting) -> Grid:
    """Return a row for each group, with a share and its limits for each attack."""
    names = list(setting.result.attacks)
    columns: dict[str, str | Callable[[GroupFound], Cell]] = {
        "By": "by",
        "Group": "group",
        "Of people": "share_of_people",
        "Without": lambda group: group.guess.share,
    }
    for name in names:
        shown = attack_name(name)
        columns[shown] = lambda group, name=name: share_of(group.attacks.get(name))
        columns[f"Limits, {shown}"] = lambda group, name=name: limits_of(group.attacks.get(name))
    columns["Ceiling"] = lambda group: share_of(group.ceiling)
    columns["Limits, ceiling"] = lambda group: limits_of(group.ceiling)
    shares = ("Of people", "Without", *map(attack_name, names), "Ceiling")
    caption = "Each group: what is guessed without the release, and what attacks recover"
    grid = table(caption, setting.result.groups, columns, graded=False, percent=shares)
    return grid.where_known("Ceiling", "Limits, ceiling")


def _of_groups(setting: JudgedSetting, worst: _Line) -> str:
    best, guess = setting.result.best_attack, setting.result.guess
    if worst.best is None or best is None:
        return "The groups compared with the average"
    if worst.best.share <= worst.guess.share:
        return "No group clearly loses more than the average"
    change = (
        f"“{worst.by}: {worst.group}”: from {percent(worst.guess.share)} to "
        f"{percent(worst.best.share)}, where the average goes from {percent(guess.share)} "
        f"to {percent(best.share)}"
    )
    if worst.sure_gain > (above_guess(setting) or 0.0):
        return f"The release adds most for {change}"
    return f"No group clearly loses more than the average; most is added for {change}"
