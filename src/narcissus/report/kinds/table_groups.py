"""How groups fare in a table's audit: each beside the average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from narcissus.report.format import limits, number, percent
from narcissus.report.gives_away import merged_words
from narcissus.report.kinds.table_names import above_guess, label_of
from narcissus.report.kinds.table_pictures import as_range
from narcissus.report.page import Figure, Grid, Section, Text
from narcissus.results import Grade
from narcissus.study.results.table import SettingResult
from narcissus.study.results.table_attacks import GroupAttack, LimitedMean
from narcissus.study.table.words import most_vulnerable, without

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


@dataclass(frozen=True)
class _Line:
    """A group, or everyone: what is guessed, what the best attack recovers, the ceiling."""

    by: str
    group: str
    label: str
    people: float
    guess: LimitedMean
    best: LimitedMean | None
    ceiling: LimitedMean | None

    @property
    def sure_gain(self) -> float:
        """What the release adds, at the low limit: few people must not look worst by luck."""
        # of the same people, so tighter than a difference of limits
        return self.best.sure_gain if isinstance(self.best, GroupAttack) else -1.0


def groups_section(setting: SettingResult, *, is_sweep: bool) -> Section | None:
    if not setting.groups and setting.merged is None:
        return None
    least = [] if setting.merged is None else [merged_words(setting.merged)]
    where = f" at {label_of(setting)}" if is_sweep else ""
    return Section(
        "How groups fare: the most vulnerable beside the average",
        [
            Text(
                [
                    "An average can hide those who lose most. The same numbers for groups of "
                    f"people{where}; the limits hold for all groups, attacks and settings at once.",
                    *least,
                ]
            ),
            *([groups_picture(setting)] if setting.groups else []),
        ],
    )


def hurt_most(setting: SettingResult, where: str = "") -> tuple[str, Grade]:
    """Name the group that the release surely costs most, as the verdict does."""
    if not setting.groups and setting.merged is not None:
        words = "not assessed, since the groups are of too few people to be shown."
        return words, "not assessed"
    if not setting.groups:
        words = "not assessed, since the study names no groups; an average can hide who loses most."
        return words, "not assessed"
    if (found := most_vulnerable(setting)) is None:
        words = "no group is shown to lose more than can be guessed; that does not show that none"
        return f"{where}{words} does.", "sampled"
    group, _, attack = found
    share, how = without(group, attack)
    return (
        f"{where}“{group.group}” ({group.by}), {percent(group.share_of_people)} of the people. "
        f"{percent(attack.share)} of their secrets are recovered; {share} are {how} without the "
        "release."
    ), "sampled"


def groups_picture(setting: SettingResult) -> Figure:
    """Draw the groups beside the average; the one that the release costs most stands out."""
    name = setting.best or ""
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
        for group in setting.groups
    ]
    average = _Line(
        "everyone",
        "average",
        "everyone (100% of people)",
        1.0,
        setting.guess,
        setting.best_attack,
        setting.ceiling,
    )
    lines = [average, *groups]
    worst = max(groups, key=lambda line: line.sure_gain)

    def draw(figure: MplFigure) -> None:
        from narcissus.report.dot_plot import Row, dot_plot

        rows: list[Row] = []
        before = average.by
        for line in lines:
            rows.append(
                Row(
                    line.label,
                    line.guess.share,
                    as_range(line.best),
                    as_range(line.ceiling),
                    bold=line is worst,
                    heading=line.by if line.by != before else "",
                )
            )
            before = line.by
        dot_plot(figure, rows)

    rows = [
        [
            line.by,
            line.group,
            line.people,
            line.guess.share,
            None if line.best is None else line.best.share,
            "" if line.best is None else limits(line.best.low, line.best.high),
            None if line.ceiling is None else line.ceiling.share,
        ]
        for line in lines
    ]
    triangle = ", a triangle the ceiling" if any(line.ceiling for line in lines) else ""
    return Figure(
        _headline(setting, worst),
        "One row for each group, the average first: an open square is what is guessed without the "
        "release, a circle what the best attack recovers with its limits"
        f"{triangle}. The group for which the release adds most is in bold.",
        draw,
        Grid(
            "Each group beside the average",
            ("By", "Group", "Of people", "Without", "Best attack", "Limits", "Ceiling"),
            rows,
            percent=("Of people", "Without", "Best attack", "Ceiling"),
        ).where_known("Ceiling"),
        (7.4, 1.2 + 0.34 * len(lines) + 0.32 * len({line.by for line in groups})),
        "groups",
    )


def _headline(setting: SettingResult, worst: _Line) -> str:
    best = setting.best_attack
    if worst.best is None or best is None:
        return "The groups beside the average"
    if worst.best.share <= worst.guess.share:
        return "No group clearly loses more than the average"
    change = (
        f"“{worst.by}: {worst.group}”: from {percent(worst.guess.share)} to "
        f"{percent(worst.best.share)}, where the average goes from {percent(setting.guess.share)} "
        f"to {percent(best.share)}"
    )
    if worst.sure_gain > (above_guess(setting) or 0.0):
        return f"The release adds most for {change}"
    return f"No group clearly loses more than the average; most is added for {change}"
