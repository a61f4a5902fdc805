"""Audits of a release about the people of a table, as a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from narcissus.report.format import (
    MISSING,
    limits,
    number,
    percent,
    points,
    theorem_of,
    with_limits,
)
from narcissus.report.kinds.table_groups import groups_section, hurt_most
from narcissus.report.kinds.table_names import (
    above_guess,
    attack_name,
    best_name,
    label_of,
    level_of,
    share_allowed,
)
from narcissus.report.kinds.table_pictures import (
    as_range,
    attacks_picture,
    columns_picture,
    distribution_picture,
)
from narcissus.report.kinds.table_threat import are_real, threat_facts
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.table import CountBound, SettingResult, ShareBound, TableResults
from narcissus.study.results.table_attacks import AttackResult, LimitedMean, OwnRelease

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
    """Describe what is drawn over the settings."""
    triangles = ", a line with triangles the ceiling" if any(s.ceiling for s in settings) else ""
    edge = " The hatched area above the heavy line is where it is proved that no attacker is, on "
    return (
        "Share of secrets recovered against the setting of the release. A line with circles is the "
        "best attack with its confidence band, a dashed line with squares the same guesses on "
        f"people who had no part in the release{triangles}."
    ) + (f"{edge}average." if is_proved else "")


def glance(settings: Sequence[SettingResult]) -> Grid:
    """Return the headline numbers of every setting."""
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


def own_section(setting: SettingResult) -> list[Section]:
    """Return the section about the release itself, if the study names one."""
    own = setting.own_release
    if own is None:
        return []
    return [
        Section(
            "The release itself",
            [Text(_words(own, in_part=setting.share_of_columns)), _grid(own)],
        )
    ]


def _words(own: OwnRelease, *, in_part: bool) -> list[str]:
    people = number(own.people)
    text = [
        f"The file {own.path} was attacked as it stands, about the {people} people of the table. "
        "These are counts of what is right about them: nothing is sampled, and nothing is said of "
        "other people, or of attacks that were not tried.",
        f"Without the release the best guess is right about {number(own.guessed)} of {people}; if "
        f"the prior were right about them it would be about {number(round(own.by_the_prior, 1))}. "
        "A decoy is a release of other secrets by the same mechanism: what an attack gets right "
        "from it, it does not owe to the release.",
    ]
    if in_part:
        text.append(
            "A person counts by the part of the unknown columns that is right: these are sums of "
            "such parts."
        )
    if own.attacks:
        best = max(own.attacks, key=lambda name: own.attacks[name].recovered)
        found = own.attacks[best]
        text.append(
            f"Most are recovered by the attack `{best}`: {number(found.recovered)} of {people}, "
            f"{number(found.recovered - found.from_decoy)} more than from a decoy. It was chosen "
            "after the fact, so it looks a little better than it is."
        )
    return text


def _grid(own: OwnRelease) -> Grid:
    rows = [
        [
            attack_name(name),
            found.recovered,
            found.recovered / own.people,
            found.from_decoy,
            (found.recovered - found.from_decoy) / own.people,
        ]
        for name, found in own.attacks.items()
    ]
    columns = ("Attack", "Right", "Of the people", "Right from a decoy", "More than from a decoy")
    return Grid("Recovered from the release", columns, rows, percent=("Of the people", columns[-1]))


def below_the_guess(settings: Sequence[SettingResult]) -> Items:
    """Word of each such attack where it is below, by how much in its own trials, and how it can."""
    found: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for name, attack in setting.attacks.items():
            if attack.below is not None:
                shares = f"{percent(attack.share)} for {percent(attack.below.guess)}"
                where = f"{shares} at {label_of(setting)}"
                found.setdefault((name, attack.below.why), []).append(where)
    return Items(
        "Below the best guess without the release in these trials, and why",
        [f"{attack_name(name)} ({', '.join(at)}): {why}." for (name, why), at in found.items()],
    )


COLUMNS = "column-shares"
"""The theorem whose share is one of columns, not of people."""

Headline = tuple[str, str, str, Grade]


def _sampled(label: str, value: LimitedMean | None, level: str, more: str = "") -> Headline:
    if value is None:
        return label, MISSING, "", "not assessed"
    text = f"{more}{level} {limits(value.low, value.high)}"
    if isinstance(value, AttackResult) and value.approximate is not None:
        text += f"; approximately {limits(value.approximate.low, value.approximate.high)}"
    return label, percent(value.share), text, "sampled"


def _headline(setting: SettingResult) -> list[Headline]:
    """Return the numbers of the verdict: without the release, with it, ceiling, proved."""
    level, best = level_of(setting), setting.best_attack
    more = "" if best is None else f"{points(above_guess(setting))} points above the guess; "
    if_right = "" if setting.prior_is_exact else ", if the prior is right"
    found = ""
    if setting.guess.is_best_found:
        most = setting.guess.at_most
        found = "" if most is None else f"; by the prior none gets more than {percent(most, 'up')}"
        found = f" (the best guess that was found{found})"
    return [
        _sampled(f"Guessed right without the release{found}", setting.guess, level),
        _sampled(f"Recovered with it by {best_name(setting)}", best, level, more),
        _ceiling(setting, level, if_right),
        _proved(setting),
    ]


def _ceiling(setting: SettingResult, level: str, if_right: str) -> Headline:
    """Return the ceiling; one that is estimated limits nobody and must not look as if it did."""
    if not setting.is_ceiling_estimated:
        return _sampled(f"Ceiling, whoever attacks{if_right}", setting.ceiling, level)
    label = f"Ceiling, estimated by sampling{if_right}"
    return (*_sampled(label, setting.ceiling, level)[:3], "approximate")


def _proved(setting: SettingResult) -> Headline:
    """Return the proved number of the headline: the mean share if there is one, else a count."""
    share, count = setting.share_bound, setting.count_bound
    bound = share or count
    if bound is None:
        label = "Proved: no attacker recovers more"
        return label, MISSING, "nothing is proved at this setting", "not assessed"
    grade = setting.grade_of(bound)
    heads: dict[Grade, str] = {
        "proved": "Proved: no attacker recovers more",
        "proved if": f"Proved if {setting.proved_if}: no attacker recovers more",
    }
    label = heads.get(grade, "Contradicted: no attacker recovers more")
    if share is not None:
        notes = f"of these {setting.whose}, on average"
        if share.share_of_population is not None and not setting.everybody:
            whole = percent(share.share_of_population, "up")
            notes += f" (of all like them at most {whole}, sampled)"
        notes += "" if count is None else f"; in one release {_count(count)}"
        return label, percent(share.share_at_most, "up"), notes, grade
    assert count is not None
    value = f"{number(count.at_most)} of {number(count.of)}"
    return label, value, f"in one release, with {_sure(count)} confidence", grade


def _sure(bound: CountBound) -> str:
    return f"{100 * bound.confidence:g}%"


def _count(bound: CountBound) -> str:
    most, people = number(bound.at_most), number(bound.of)
    said = f"at most {most} of {people}, with {_sure(bound)} confidence"
    if bound.reached is None:
        return said
    return f"{said} (some mechanism with this guarantee reaches {number(bound.reached)})"


def _verdict(record: Record, settings: Sequence[SettingResult], setting: SettingResult) -> Verdict:
    """Return the verdict; odds that are a sentence of it are said once, in their own place."""
    is_sweep = len(settings) > 1
    headline, odds = record.verdict, setting.odds
    before, found, after = headline.partition(odds) if odds else (headline, "", "")
    # a status that one setting earns must not look like one of all
    decides = is_sweep and sum(s.decides for s in settings) == 1
    if decides:  # the setting is named above the numbers; else what is said of it stays whole
        before = before.removesuffix(f"At {setting.label}: ")
    if found and (before.endswith(". ") or (not before and after)):
        headline = (before + after.lstrip()).strip()
    elif found:
        odds = ""
    all_alike = all(s.status == record.status for s in settings)
    return Verdict(
        status=record.status,
        where=f"at {label_of(setting)}" if decides and not all_alike else "",
        headline=headline,
        worst=hurt_most(setting, f"at {label_of(setting)}, " if is_sweep else ""),
        odds=(odds, "sampled") if odds else None,
        evidence_for=setting.evidence_for,
        evidence_against=setting.evidence_against,
        numbers=_headline(setting),
        setting=label_of(setting) if is_sweep else "",
    )


def _threat(record: Record, setting: SettingResult) -> Section:
    """Return whom the audit is about, and what it takes as given."""
    bounds = [bound for bound in setting.bounds if bound.counts]
    assumptions = [text for bound in bounds for text in bound.assumptions]
    given = dict.fromkeys(text for bound in bounds for text in bound.takes_as_given)
    assumptions += [f"{text} (tested on average, see the method)" for text in given]
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
        title = "Taken as given by the proved numbers (assumptions; nothing here tests them"
        title += ", but for what is said to be tested)" if given else ")"
        blocks.append(Items(title, list(dict.fromkeys(assumptions))))
    return Section("Threat model and assumptions", blocks)


def _bounds(settings: Sequence[SettingResult]) -> Grid:
    rows: list[list[str]] = []
    grades: list[Grade] = []
    for setting in settings:
        for bound in setting.bounds:
            if isinstance(bound, ShareBound):
                whose = "columns of these people" if bound.id == COLUMNS else "these people"
                says = f"mean share of {whose} at most {percent(bound.share_at_most, 'up')}"
                whole = bound.share_of_population
                if whole is not None and not setting.everybody:
                    says += f"; of all like them {percent(whole, 'up')}"
            else:
                says = _count(bound)
                whole = bound.at_most_of_population
                if whole is not None and not setting.everybody:
                    says += f"; of all like them {number(whole)}"
            known = f"{bound.theorem} {bound.id}"
            name = f": {bound.name}" if bound.name and bound.name not in known else ""
            name += " (for comparison)" if bound.for_comparison else ""
            guarantee = bound.guarantee or MISSING
            rows.append([label_of(setting), f"{theorem_of(bound)}{name}", guarantee, says])
            grades.append(setting.grade_of(bound))
    return Grid(
        "Bounds for the same prior: what no attacker exceeds",
        ("Setting", "Theorem", "From the guarantee", "Says"),
        rows,
        grades=grades,
        folded=len(settings) > 1,
    )


def _findings(settings: Sequence[SettingResult]) -> Grid:
    """List every statement that was compared with the others, with its grade."""
    findings = [found for setting in settings for found in setting.findings]
    return Grid(
        "Every statement, compared pair by pair where it is about the same",
        ("About", "Said by", "Limits", "Only if"),
        [
            [f.quantity, f.source, limits(f.low, f.high), "; ".join(f.assumptions) or MISSING]
            for f in findings
        ],
        grades=[f.grade for f in findings],
        folded=True,
    )


def _results(settings: Sequence[SettingResult], setting: SettingResult) -> Section:
    blocks: list[Block] = []
    is_sweep, best = len(settings) > 1, setting.best_attack
    if is_sweep:
        blocks += [glance(settings), curves_picture(settings)]
    if setting.attacks or setting.ceiling is not None:
        blocks.append(attacks_picture(setting, is_sweep=is_sweep))
    if any(attack.below for s in settings for attack in s.attacks.values()):
        blocks.append(below_the_guess(settings))
    if best is not None:
        if best.distribution is not None:
            blocks.append(distribution_picture(setting))
        if len(best.columns) > 1:
            blocks.append(columns_picture(setting))
    if any(s.bounds for s in settings):
        blocks.append(_bounds(settings))
    if any(s.findings for s in settings):
        blocks.append(_findings(settings))
    return Section("Results", blocks)


def _how_played(record: Record, setting: SettingResult) -> list[str]:
    """Describe in paragraphs how a trial goes, and what limits and decoys are."""
    attacks = setting.attacks.values()
    exact = any(attack.baseline_exact for attack in attacks)
    second = (
        ", and scores the guesses on those people and on a fresh set of people who had no part in "
        "the release."
    )
    source = "the rows of the table" if are_real(record) else "the prior"
    text = [
        f"One trial draws the people from {source}, makes the release, lets every attack guess"
        + (second if exact else " and scores the guesses.")
        + (" The second score is computed exactly from the prior." if exact else ""),
    ]
    if setting.ceiling is not None and setting.ceiling.is_estimated:
        text.append(
            "The ceiling is an attacker who is also told everybody else's secrets. With so many "
            "unknown columns its posterior is sampled, column by column: a better decision from "
            "the same knowledge may exist, so it is an estimate, limits nobody, and no verdict "
            "rests on it."
        )
    elif setting.ceiling is not None:
        text.append(
            "The ceiling is an attacker who is also told everybody else's secrets: no attacker who "
            "is not told them does better, for this mechanism and this prior. It is sampled, so "
            "its upper limit is what counts."
        )
    if methods := sorted({attack.method for attack in attacks if attack.method}):
        text.append(
            f"Confidence limits of mean shares: {', '.join(methods)}. They hold whatever the "
            "distribution, and verdicts rest on them; with few trials no valid limits of what an "
            "attack may do are narrow. Approximate limits (Student's t on the trials) stand beside "
            "them and decide nothing."
        )
    if setting.everybody:
        text.append(
            "Nobody is drawn: every share is counted over all rows of the table. What the guess "
            "gets, and an attack that ignores the release, is therefore exact, as is an attack "
            "without chance on a release without chance. Other limits are about the noise of other "
            "releases, and about decoys."
        )
    for one in setting.guess.held_out or ():
        text.append(
            f"A second baseline: {one.by} guesses {percent(one.share)} of "
            f"{number(one.people)} rows of the table whose secrets it was not shown, the prior's "
            f"best guess {percent(one.prior_share)} of them. A right prior allows nobody more than "
            f"{percent(one.at_most, 'up')}, with {100 * one.confidence:g}% confidence: it is "
            f"{'refuted' if one.refutes else 'not refuted'} by that."
        )
    if (precision := setting.precision) is not None:
        reached = "reached" if precision.is_reached else "not reached"
        text.append(
            "Precision: half the distance between the limits of the headline, and of what the "
            f"threshold limits, was to be at most {100 * precision.aimed:.3g} points, and is "
            f"{100 * precision.reached:.3g} at the widest: {reached}, after "
            f"{number(setting.trials)} trials of at most {number(precision.most)} (look "
            f"{precision.look}). The looks at the limits were fixed beforehand, and each spends "
            "its part of the error: they hold at their level whenever the run ends."
        )
    if not setting.prior_is_exact:
        text.append(
            "The prior may be wrong about these people. So every attack is also shown a decoy: a "
            "release of other secrets, drawn from the prior for the same known columns. What it "
            "scores there on the true secrets is its baseline, and is held against what the prior "
            "says of the same guesses; where the two differ beyond limits, the prior is refuted."
        )
    return text


def _noise(settings: Sequence[SettingResult]) -> list[Grid]:
    rows = [
        [label_of(s), s.delta, s.mu, s.noise.kind, s.noise.scale]
        for s in settings
        if s.noise is not None
    ]
    columns = ("Setting", "delta", "mu", "Noise", "Scale, counts")
    return [Grid("Noise", columns, rows)] if rows else []


def _tables(setting: SettingResult) -> str:
    return "Marginals in a release" if setting.noise is not None else "Tables it is read as"


def _method(record: Record, settings: Sequence[SettingResult], setting: SettingResult) -> Section:
    what = [[attack_name(name), a.title, a.uses, a.trials] for name, a in setting.attacks.items()]
    if (ceiling := setting.ceiling) is not None:
        what.append(["ceiling", ceiling.title, ceiling.uses, ceiling.trials])
    return Section(
        "Method",
        [
            Text(_how_played(record, setting)),
            Facts(
                [
                    (_tables(setting), number(setting.marginals)),
                    ("Cells in a release", number(setting.cells)),
                ]
            ),
            Grid("Attacks", ("Attack", "What it is", "Uses", "Trials"), what),
            *_noise(settings),
        ],
    )


def _released(setting: SettingResult) -> str:
    """Name what is released; records of before say how many marginals."""
    if setting.released and setting.noise is None:
        return setting.released[0].lower() + setting.released[1:]
    return f"{number(setting.marginals)} {'exact' if setting.noiseless else 'noisy'} marginals"


def _what(settings: Sequence[SettingResult], setting: SettingResult) -> str:
    """Name what is released and at which setting, which may be one name."""
    released = _released(setting)
    if len(settings) > 1:
        return f"{released}, {len(settings)} settings"
    return released if setting.label in released else f"{released}, {label_of(setting)}"


def page(record: Record) -> Page:
    """Turn the record of a table's audit into a page."""
    results = cast("TableResults", record.results)
    settings, setting = results.settings, results.decisive
    is_sweep = len(settings) > 1
    groups = groups_section(setting, is_sweep=is_sweep)
    return Page(
        title=record.title,
        subtitle=f"{number(setting.people)} people in a release, {_what(settings, setting)}",
        verdict=_verdict(record, settings, setting),
        sections=[
            _threat(record, setting),
            _results(settings, setting),
            *([] if groups is None else [groups]),
            *own_section(setting),
            _method(record, settings, setting),
        ],
    )
