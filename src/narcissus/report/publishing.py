"""Rules of publishing side by side, as a page: what is derived, what is lost, and one picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from narcissus.counts import RulesCompared
from narcissus.report.page import Figure, Grid, Page, Section, Text, Verdict
from narcissus.report.svg import BLUE, FAINT, RUST

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.counts.compare import RuleCompared

_HOW = (
    "Each rule publishes the same tables of the same people once, with all margins. An attacker "
    "who knows the rule derives what is certain: what every data set that agrees with all cells "
    "has. A likely guess is less than that, and the game alone measures it.",
    "A rule that suppresses other cells, too, does so until data sets are found that differ in "
    "each small count. It is a simple method: better programs suppress less. An attacker "
    "who knows how cells were chosen could derive more.",
    "Noise has the scale that its epsilon needs for the tables as a whole.",
)
_GAME = (
    "The attacker knows the columns of the tables, and names the likeliest secret. For suppressed, "
    "rounded and perturbed tables they weigh all data sets that agree, by the chance that numbers "
    "are perturbed or rounded so (fitted: they scale proportions to what is printed, without "
    "chances). For noise they take the numbers of the finest table as they are. The baseline is "
    "the same attack on people whom the tables leave out. Another attack may get more.",
)


def compared_rules(found: RulesCompared) -> Page:
    """Return the page of rules that were compared."""
    small = f"1 to {found.limit - 1}" if found.limit > 2 else "1"
    tables = "; ".join(" by ".join(rule) for rule in found.tables)
    subtitle = f"{found.people:,} people, {found.cells:,} cells: {tables}"
    certain = Grid(
        f"What is certain, and what is lost (cells of {small} people: {found.small:,})",
        (
            "Rule",
            "Small counts derived",
            "People whose secret is certain",
            "Cells suppressed",
            "Suppressed cells derived",
            "Mean error of printed counts",
        ),
        [_row(rule, found) for rule in found.rules],
        grades=["proved" for _ in found.rules],
        percent=(
            "Small counts derived",
            "People whose secret is certain",
            "Cells suppressed",
            "Suppressed cells derived",
        ),
    )
    sections = [Section("Risk and loss", [_figure(found, certain), Text(_HOW)])]
    if any(rule.game for rule in found.rules):
        sections.append(Section("What an attack gets", [_game(found), Text(_GAME)]))
    loose = "; ".join(rule.name for rule in found.rules if not rule.is_exact)
    words = (
        [f"Time ran out for: {loose}. From these, more could follow with certainty than is shown."]
        if loose
        else []
    )
    if found.left_out:
        words.append(f"Rules for which time ran out (--seconds): {'; '.join(found.left_out)}.")
    unplayed = [rule.name for rule in found.rules if rule.game is None]
    if found.trials and unplayed:
        words.append(
            "The success of an attack was not assessed, as time ran out (--seconds) or the "
            f"tables are too large: {'; '.join(unplayed)}."
        )
    if words:
        sections.append(Section("What was left out", [Text(words)]))
    verdict = Verdict("compared", _headline(found), rests_on="proved")
    return Page("Rules of publishing, side by side", subtitle, verdict, sections)


def _headline(found: RulesCompared) -> str:
    safe = [rule for rule in found.rules if not rule.small_derived + rule.small_undecided]
    many = f"{len(safe)} of {len(found.rules)} rules let nobody derive a small count with certainty"
    if not found.small:
        return "The tables have no small counts."
    if not safe and (open_ := sum(not rule.small_derived for rule in found.rules)):
        return (
            f"No rule is shown to keep small counts from being derived: of {open_} of "
            f"{len(found.rules)} rules, time ran out before that was decided."
        )
    if not safe:
        return "Small counts can be derived with certainty under every rule."
    best = min(safe, key=lambda rule: (rule.suppressed, rule.error))
    lost = (
        f"suppresses {best.suppressed:,} cells"
        if best.suppressed
        else (f"suppresses no cell, and printed counts are {best.error:.2g} away on average")
    )
    return f"{many}. Among these, “{best.name}” loses the least: it {lost}."


def _row(one: RuleCompared, found: RulesCompared) -> list[str | float | None]:
    hidden = (
        None
        if one.hidden_derived is None or not one.suppressed
        else (one.hidden_derived / one.suppressed)
    )
    return [
        one.name,
        one.small_derived / max(1, found.small),
        one.certain / found.people,
        one.suppressed / found.cells,
        hidden,
        one.error,
    ]


def _game(found: RulesCompared) -> Grid:
    columns = ("Rule", "Secrets named", "Baseline", "Gain", "At least", "At most", "How")
    rows: list[list[str | float | None]] = []
    for rule in found.rules:
        if (game := rule.game) is not None:
            how = ", ".join(f"{many} {word}" for word, many in game.how.items())
            gain = game.gain
            rows.append(
                [
                    rule.name,
                    game.inside.value,
                    game.outside.value,
                    gain.value,
                    gain.low,
                    gain.high,
                    how,
                ]
            )
    return Grid(
        f"Shares of people whose {found.secret} is named, over {found.trials} tables with people "
        f"left out; the most frequent one is that of {100 * found.guess:.3g}%",
        columns,
        rows,
        grades=["sampled" for _ in rows],
        percent=columns[1:6],
    )


def _figure(found: RulesCompared, table: Grid) -> Figure:
    return Figure(
        "Risk on the left, loss on the right",
        "For each rule: the share of small counts that are derived, of people whose secret is "
        "certain, of cells that are suppressed, and the mean error of printed counts.",
        partial(_draw, found=found),
        table,
        (8.2, 0.8 + 0.24 * len(found.rules)),
        "rules",
    )


def _draw(canvas: MplFigure, *, found: RulesCompared) -> None:
    panels: list[tuple[str, str, Callable[[RuleCompared], float]]] = [
        (
            "Small counts\nderived, %",
            RUST,
            lambda part: 100 * part.small_derived / max(1, found.small),
        ),
        ("Secrets\ncertain, %", RUST, lambda part: 100 * part.certain / found.people),
        ("Cells\nsuppressed, %", BLUE, lambda part: 100 * part.suppressed / found.cells),
        ("Mean error\nof counts", BLUE, lambda part: part.error),
    ]
    axes = canvas.subplots(1, len(panels), sharey=True)
    places = range(len(found.rules))
    for part, (title, colour, value) in zip(axes, panels, strict=True):
        values = [value(rule) for rule in found.rules]
        part.hlines(places, 0, values, color=FAINT)
        part.plot(values, places, "o" if colour == RUST else "s", color=colour, clip_on=False)
        part.set_title(title, loc="left")
        part.set_xlim(0, 100 if "%" in title else None)
        part.grid(axis="x")
    axes[0].set_yticks(list(places), [rule.name for rule in found.rules])
    axes[0].invert_yaxis()
