"""Sections of the page of a table's audit: who attacks, what is recovered, and the method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from narcissus.kinds.layout import table
from narcissus.kinds.table.found import DecisionDetail, Excess, OwnRelease, TableBound
from narcissus.kinds.table.judgement import JudgedSetting
from narcissus.kinds.table.pictures import (
    attacks_picture,
    columns_picture,
    distribution_picture,
    groups_picture,
)
from narcissus.kinds.table.words import are_real, attack_name, label_of, threat_facts
from narcissus.report.format import MISSING, Rounding, number, percent, points
from narcissus.report.gives_away import merged_words
from narcissus.report.page import Block, Cell, Facts, Grid, Items, Section, Text
from narcissus.results import Grade
from narcissus.study.record import Record


def describe_threat(record: Record, setting: JudgedSetting) -> Section:
    bounds = [bound for bound in setting.result.bounds if bound.counts]
    assumptions = [text for bound in bounds for text in bound.assumptions]
    premises = dict.fromkeys(text for bound in bounds for text in bound.takes_as_given)
    assumptions += [f"{text} (tested on average, see the method)" for text in premises]
    if are_real(record):
        assumptions.append(
            "The targets are real people of the table: the ceiling and the bounds hold if they "
            "are like draws from the prior, which was fitted to the same table."
        )
    blocks: list[Block] = [
        Text(
            [
                "The attacker sees the release, knows everything about each person but the "
                "unknown columns, and knows the prior. They name a value for each target; what "
                "they would have got right without the release is measured by scoring the same "
                "guesses on a fresh set of people."
            ]
        ),
        Facts(threat_facts(record, setting)),
    ]
    if assumptions:
        title = "Assumed by the proved limits (nothing here tests it"
        title += ", but for what is said to be tested)" if premises else ")"
        blocks.append(Items(title, list(dict.fromkeys(assumptions))))
    return Section("Threat model and assumptions", blocks)


COLUMNS = "column-shares"
"""The theorem whose share is one of columns, not of people."""


def describe_results(settings: Sequence[JudgedSetting], setting: JudgedSetting) -> Section:
    blocks: list[Block] = []
    is_sweep, best = len(settings) > 1, setting.result.best_attack
    if setting.result.attacks or setting.result.ceiling is not None:
        blocks.append(attacks_picture(setting, is_sweep=is_sweep))
    if any(attack.below for s in settings for attack in s.result.attacks.values()):
        blocks.append(below_the_guess(settings))
    if best is not None:
        if best.distribution is not None:
            blocks.append(distribution_picture(setting))
        if best.columns:
            columns = columns_picture(setting)
            blocks.append(columns if len(best.columns) > 1 else columns.table)
    if any(s.result.bounds for s in settings):
        blocks.append(_bounds(settings))
    if setting.result.excesses:
        blocks.append(_excesses(setting))
    if setting.result.held_out:
        blocks.append(_held_out(setting))
    return Section("Results", blocks)


def below_the_guess(settings: Sequence[JudgedSetting]) -> Items:
    """Word of each such attack where it is below, by how much in its own trials, and how it can."""
    cases: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for name, attack in setting.result.attacks.items():
            if (below := attack.below) is not None:
                shares = f"{percent(attack.share)} for {percent(below.guess)}"
                where = f"{shares} at {label_of(setting)}"
                cases.setdefault((name, below.why), []).append(where)
    return Items(
        "Below the best guess without the release in these trials, and why",
        [f"{attack_name(name)} ({', '.join(at)}): {why}." for (name, why), at in cases.items()],
    )


def _bounds(settings: Sequence[JudgedSetting]) -> Grid:
    pairs = [(setting, bound) for setting in settings for bound in setting.result.bounds]
    return table(
        "Bounds for the same prior: what no attacker exceeds",
        pairs,
        {
            "Setting": lambda pair: label_of(pair[0]),
            "Theorem": lambda pair: _theorem(pair[1]),
            "From the guarantee": lambda pair: pair[1].guarantee or MISSING,
            "Says": lambda pair: _says(pair[1]),
            "Of all like them": lambda pair: _of_others(*pair),
        },
        graded=[setting.grade_of(bound) for setting, bound in pairs],
        folded=len(settings) > 1,
    ).where_known("Of all like them")


def _says(bound: TableBound) -> str:
    if not bound.is_share:
        return _count(bound)
    whose = "columns of these people" if bound.id == COLUMNS else "these people"
    return f"mean share of {whose} at most {percent(bound.at_most, 'up')}"


def _of_others(setting: JudgedSetting, bound: TableBound) -> str:
    whole = bound.of_population
    if whole is None or setting.result.everybody:
        return MISSING
    return f"at most {percent(whole, 'up') if bound.is_share else number(whole)} (estimated)"


def _theorem(bound: TableBound) -> str:
    known = f" [{bound.id}]" if bound.id else ""
    name = f": {bound.name}" if bound.name not in f"{bound.theorem} {bound.id}" else ""
    return f"{bound.theorem}{known}{name}{' (for comparison)' * bound.for_comparison}"


def _excesses(setting: JudgedSetting) -> Grid:
    """Return each number less what is accepted of it: one above 0 is beyond it."""
    excesses = setting.result.excesses
    columns: dict[str, str | Callable[[Excess], Cell]] = {
        "Of": lambda excess: attack_name(excess.name) if excess.name else excess.role,
        "Measure": "of",
        "Group": "group",
        "Beyond, points": lambda excess: points(excess.value),
        "At least": lambda excess: _end(excess.at_least, "down"),
        "At most": lambda excess: _end(excess.high, "up"),
    }
    caption = f"Compared with the threshold, at {label_of(setting)}: above 0 is beyond it"
    grades: list[Grade] = [excess.quantity.grade for excess in excesses]
    grid = table(caption, excesses, columns, graded=grades, folded=len(excesses) > 12)
    return grid.where_known("Group")


def _end(limit: float | None, rounding: Rounding) -> str:
    return MISSING if limit is None else points(limit, rounding)


def _sure(bound: TableBound) -> str:
    return f"{100 * bound.confidence:g}%"


def _count(bound: TableBound) -> str:
    limit, people = number(bound.at_most), number(bound.of)
    text = f"at most {limit} of {people}, with {_sure(bound)} confidence"
    if bound.reached is None:
        return text
    return f"{text} (some mechanism with this guarantee reaches {number(bound.reached)})"


def _held_out(setting: JudgedSetting) -> Grid:
    return table(
        "Guesses by others than the prior, of rows whose secrets they were not shown",
        setting.result.held_out,
        {
            "Guesses by": "by",
            "Group": lambda guess: guess.group or None,
            "Rows": "people",
            "Right": "share",
            "Right by the prior": "prior_share",
            "A right prior allows at most": lambda guess: percent(guess.at_most, "up"),
            "Confidence": lambda guess: f"{100 * guess.confidence:g}%",
            "The prior is": lambda guess: "refuted" if guess.refutes else "not refuted",
        },
        graded="sampled",
        percent=("Right", "Right by the prior"),
    )


def describe_groups(setting: JudgedSetting, *, is_sweep: bool) -> Section | None:
    if not setting.result.groups and setting.result.merged is None:
        return None
    notes = [] if setting.result.merged is None else [merged_words(setting.result.merged)]
    where = f" at {label_of(setting)}" if is_sweep else ""
    return Section(
        "How groups fare: the most vulnerable compared with the average",
        [
            Text(
                [
                    "An average can hide those who lose most. The same numbers for groups of "
                    f"people{where}; the limits hold jointly for all groups, attacks and settings.",
                    *notes,
                ]
            ),
            *([groups_picture(setting)] if setting.result.groups else []),
        ],
    )


def describe_own(file: OwnRelease | None, *, in_part: bool) -> Section | None:
    """Return the section about the release itself, if the study names one."""
    if file is None:
        return None
    return Section("The release itself", [Text(_words(file, in_part=in_part)), _own_table(file)])


def _words(file: OwnRelease, *, in_part: bool) -> list[str]:
    people = number(file.people)
    text = [
        f"The file {file.path} was attacked as it stands, about the {people} people of the table. "
        "These are counts of what is right about them: they are exact, and leave other people and "
        "other attacks open.",
        f"Without the release the best guess is right about {number(file.guessed)} of {people}; if "
        f"the prior were right about them it would be about {number(round(file.by_the_prior, 1))}. "
        "A decoy is a release of other secrets by the same mechanism: what an attack gets right "
        "from it, it does not owe to the release.",
    ]
    if in_part:
        text.append(
            "A person counts by the part of the unknown columns that is right: these are sums of "
            "such parts."
        )
    if file.attacks:
        best = max(file.attacks, key=lambda attack: attack.recovered)
        text.append(
            f"The attack `{best.name}` recovers most. It was chosen after the fact, so it looks a "
            "little better than it is."
        )
    return text


def _own_table(file: OwnRelease) -> Grid:
    gain = "More than from a decoy"
    return table(
        "Recovered from the release",
        file.attacks,
        {
            "Attack": lambda attack: attack_name(attack.name),
            "Right": "recovered",
            "Of the people": lambda attack: attack.recovered / file.people,
            "Right from a decoy": "from_decoy",
            gain: lambda attack: (attack.recovered - attack.from_decoy) / file.people,
        },
        graded=False,
        percent=("Of the people", gain),
    )


def _noise(settings: Sequence[JudgedSetting]) -> list[Grid]:
    noisy = [setting for setting in settings if setting.result.noise is not None]
    columns: dict[str, str | Callable[[JudgedSetting], Cell]] = {
        "Setting": label_of,
        "delta": lambda setting: setting.result.delta,
        "mu": lambda setting: setting.result.mu,
        "Noise": lambda setting: setting.result.noise and setting.result.noise.kind,
        "Scale, counts": lambda setting: setting.result.noise and setting.result.noise.scale,
    }
    return [table("Noise", noisy, columns, graded=False)] if noisy else []


def _tables(setting: JudgedSetting) -> str:
    return "Marginals in a release" if setting.result.noise is not None else "Tables it is read as"


def _how_played(record: Record, setting: JudgedSetting) -> list[str]:
    attacks = setting.result.attacks.values()
    exact = any(attack.baseline_exact for attack in attacks)
    second = (
        ", and scores the guesses on those people and on a fresh set of people who had no part in "
        "the release."
    )
    source = "the rows of the table" if are_real(record) else "the prior"
    text = [
        f"One trial draws the people from {source}, makes the release, lets every attack guess"
        + (second if exact else " and scores the guesses.")
        + (" The second score is computed exactly from the prior." if exact else "")
    ]
    if setting.result.ceiling is not None and setting.result.ceiling.is_estimated:
        text.append(
            "The ceiling is an attacker who is also told everybody else's secrets. With so many "
            "unknown columns its posterior is sampled, column by column: a better decision from "
            "the same knowledge may exist. So it is an estimate, and no verdict rests on it."
        )
    elif setting.result.ceiling is not None:
        text.append(
            "The ceiling is an attacker who is also told everybody else's secrets: nobody does "
            "better with less knowledge, for this mechanism and this prior. It is sampled, so "
            "its upper limit is what counts."
        )
    if methods := sorted({attack.method for attack in attacks if attack.method}):
        text.append(
            f"Confidence limits of mean shares: {', '.join(methods)}. They hold whatever the "
            "distribution, and verdicts rest on them; with few trials no valid limits of what an "
            "attack may do are narrow. Approximate limits (Student's t on the trials) are shown "
            "for comparison and decide nothing."
        )
    if setting.result.everybody:
        text.append(
            "Nobody is drawn: every share is counted over all rows of the table. So the "
            "guess is exact, and an attack that ignores the release. So is a fixed attack on a "
            "fixed release. Other limits are about the noise of other "
            "releases, and about decoys."
        )
    if isinstance(precision := setting.result.precision, DecisionDetail):
        why = {
            "decided": "when its verdict was decided",
            "beyond trials": "when more trials seemed not to decide its verdict",
            "budget": "when its time was spent",
            "most": "after the most trials that are played",
        }[precision.ended]
        text.append(
            f"The run ended {why}, after {number(setting.result.trials)} trials (look "
            f"{precision.look}). The looks at the limits were fixed beforehand. This one spends "
            f"{precision.part:.3g} of the error, so that its limits hold whenever the run ends."
        )
    elif precision is not None:
        reached = "reached" if precision.is_reached else "not reached"
        text.append(
            "Precision: half the distance between the limits of the headline, and of what the "
            f"threshold limits, was to be at most {100 * precision.aimed:.3g} points, and is "
            f"{100 * precision.reached:.3g} at the widest: {reached}, after "
            f"{number(setting.result.trials)} trials of at most {number(precision.most)} (look "
            f"{precision.look}). The looks at the limits were fixed beforehand, and each spends "
            "its part of the error: they hold at their level whenever the run ends."
        )
    if not setting.result.prior_is_exact:
        text.append(
            "The prior may be wrong about these people. So every attack is also shown a decoy: a "
            "release of other secrets, drawn from the prior for the same known columns. Its "
            "score there on the true secrets is its baseline. It is compared with what the prior "
            "says of the same guesses; where the two differ beyond limits, the prior is refuted."
        )
    return text


def describe_method(
    record: Record, settings: Sequence[JudgedSetting], setting: JudgedSetting
) -> Section:
    attacks = [*setting.result.attacks.items()]
    if setting.result.ceiling is not None:
        attacks.append(("ceiling", setting.result.ceiling))
    return Section(
        "Method",
        [
            Text(_how_played(record, setting)),
            Facts(
                [
                    (_tables(setting), number(setting.result.marginals)),
                    ("Cells in a release", number(setting.result.cells)),
                ]
            ),
            table(
                "Attacks",
                attacks,
                {
                    "Attack": lambda pair: attack_name(pair[0]),
                    "What it is": lambda pair: pair[1].title,
                    "Uses": lambda pair: pair[1].uses,
                },
                graded=False,
            ),
            *_noise(settings),
        ],
    )
