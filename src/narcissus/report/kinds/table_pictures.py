"""The pictures of a table's audit at one setting, each with the table behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from narcissus.report.format import limits, number, percent
from narcissus.report.kinds.table_names import attack_name, best_name, label_of, share_allowed
from narcissus.report.page import Figure, Grid
from narcissus.results import Grade
from narcissus.study.results.table import CountBound, SettingResult
from narcissus.study.results.table_attacks import HitCounts, LimitedMean

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.report.charts import Range


def as_range(value: LimitedMean | None) -> Range | None:
    """Return a share with its limits as a chart takes it."""
    from narcissus.report.charts import Range

    return None if value is None else Range(value.share, value.low, value.high)


def attacks_picture(setting: SettingResult, *, is_sweep: bool) -> Figure:
    attacks = sorted(setting.attacks.items(), key=lambda pair: -pair[1].share)
    ceiling, bound, best = setting.ceiling, setting.share_bound, setting.best_attack
    edge = bound.share_at_most if bound is not None and setting.is_edge(bound) else None
    where = f"At {label_of(setting)}" if is_sweep else "In this release"

    def draw(figure: MplFigure) -> None:
        from narcissus.report.dot_plot import Row, dot_plot

        rows = [] if ceiling is None else [Row("ceiling", None, None, as_range(ceiling))]
        rows += [
            Row(attack_name(name), a.baseline, as_range(a), bold=name == setting.best)
            for name, a in attacks
        ]
        dot_plot(
            figure,
            rows,
            without="the same guesses on fresh people",
            edge=edge,
            threshold=share_allowed(setting),
        )

    rows: list[list[str | float | None]] = []
    grades: list[Grade] = []
    if bound is not None:
        rows.append(["no attacker, on average", bound.share_at_most, "at most", None, None])
        grades.append(setting.grade_of(bound))
    listed = [] if ceiling is None else [("ceiling", ceiling)]
    for name, a in [*listed, *attacks]:
        rows.append([attack_name(name), a.share, limits(a.low, a.high), a.baseline, a.trials])
        grades.append("sampled")
    headline = f"{where}, the attacks beside the ceiling and what is proved"
    named = best_name(setting)
    if setting.best is not None and "(" not in named:
        named += f" ({attack_name(setting.best)})"
    if best is not None and setting.best is not None:
        headline = (
            f"{where}, {named} recovers "
            f"{percent(best.share)}; {percent(setting.guess.share)} is guessed without the release"
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
        Grid(
            "Attacks beside the ceiling" if ceiling else "Attacks, each beside its own baseline",
            ("Attack", "Share recovered", "Limits", "Own baseline", "Trials"),
            rows,
            grades=grades,
            percent=("Share recovered", "Own baseline"),
        ),
        (7.4, 1.4 + 0.36 * (len(attacks) + 1)),
        "attacks",
    )


def distribution_picture(setting: SettingResult) -> Figure:
    """Draw how many targets each attack recovered from trial to trial."""
    answers = sorted(setting.attacks.items(), key=lambda pair: -pair[1].share)
    if setting.ceiling is not None:
        answers.insert(0, ("ceiling", setting.ceiling))
    counted = [(name, a.distribution) for name, a in answers if a.distribution is not None]
    most = max(max(found.targets) for name, found in counted if name != "ceiling")
    count, people = setting.count_bound, setting.people
    bound = count if count is not None and setting.is_edge(count) else None

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import histograms

        histograms(
            figure,
            [
                (attack_name(name), found.targets, found.trials, name == "ceiling")
                for name, found in counted
            ],
            people=people,
            edge=None if bound is None else bound.at_most,
            edge_words=""
            if bound is None
            else f"proved: beyond in at most {_rest(bound)} of releases",
            threshold=None if setting.threshold is None else setting.threshold.targets,
        )

    rows = [[attack_name(n), *_quantiles(found), sum(found.trials)] for n, found in counted]
    tail = ""
    if bound is not None:
        tail = (
            f"; no attacker gets more than {number(bound.at_most)} in more than "
            f"{_rest(bound)} of releases"
        )
    return Figure(
        f"In its luckiest trial an attack recovered {number(most)} of {number(people)} targets"
        + tail,
        "One row for each attack: the height of a bar is the number of trials in which so many "
        "targets were recovered."
        + (
            " The heavy line with hatching to its right is proved: whoever attacks, at most the "
            "part of releases written there goes beyond it."
            if bound is not None
            else ""
        ),
        draw,
        Grid(
            "Targets recovered in one release",
            ("Attack", "Least", "A quarter below", "Middle", "A quarter above", "Most", "Trials"),
            rows,
        ),
        (7.4, 1.2 + 0.5 * len(counted)),
        "targets",
    )


def _rest(bound: CountBound) -> str:
    """Return the part of releases in which a bound on the count may fail."""
    return f"{100 * (1 - bound.confidence):.4g}%"


def _quantiles(distribution: HitCounts) -> list[int]:
    """Return least, lower quartile, median, upper quartile and most of a distribution."""
    pairs = sorted(zip(distribution.targets, distribution.trials, strict=True))
    total = sum(count for _, count in pairs)
    found: list[int] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        seen = 0
        for value, count in pairs:
            seen += count
            if seen >= share * total:
                found.append(value)
                break
    return found


def columns_picture(setting: SettingResult) -> Figure:
    """Draw each unknown column: the best attack and the ceiling."""
    best, ceiling = setting.best_attack, setting.ceiling
    found = {} if best is None else best.columns
    columns = sorted(found.items(), key=lambda pair: -pair[1].share)
    above = {} if ceiling is None else ceiling.columns
    alone = setting.guess.each_column
    more = () if alone is None else ("Best guess of this column alone",)

    def draw(figure: MplFigure) -> None:
        from narcissus.report.dot_plot import Row, dot_plot

        dot_plot(
            figure,
            [Row(n, c.baseline, as_range(c), as_range(above.get(n))) for n, c in columns],
        )

    rows = [
        [
            name,
            column.baseline,
            column.share,
            limits(column.low, column.high),
            None if name not in above else above[name].share,
            *([] if alone is None else [alone[name]]),
        ]
        for name, column in columns
    ]
    most = max(columns, key=lambda pair: pair[1].share - pair[1].baseline)[0]
    return Figure(
        f"Of the unknown columns, the release gives away most about {most}",
        "One row for each unknown column: an open square is the baseline, a circle what the best "
        f"attack recovers{', a triangle the ceiling' if above else ''}.",
        draw,
        Grid(
            "Each unknown column",
            ("Column", "Baseline", "Best attack", "Limits", "Ceiling", *more),
            rows,
            percent=("Baseline", "Best attack", "Ceiling", *more),
        ).where_known("Ceiling"),
        (7.4, 1.2 + 0.36 * len(columns)),
        "columns",
    )
