"""Audits of a table in words and as a page: what is recovered at each setting, and its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from narcissus._outwards import upper
from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headline, Layout
from narcissus.kinds.table.found import (
    IN_FRAME,
    DecisionDetail,
    Limited,
    OwnRelease,
    TableBound,
    TableResult,
)
from narcissus.kinds.table.judgement import JudgedSetting, of_table
from narcissus.kinds.table.pictures import (
    attacks_picture,
    columns_picture,
    curves_picture,
    distribution_picture,
    groups_picture,
)
from narcissus.kinds.table.words import (
    above_guess,
    against,
    are_real,
    attack_name,
    best_name,
    glance,
    in_favour,
    label_of,
    level_of,
    threat_facts,
)
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance
from narcissus.report.format import MISSING, limits, number, percent, points, with_limits
from narcissus.report.gives_away import FOUND, VERDICT, groups_of_people, merged_words
from narcissus.report.page import Block, Facts, Grid, Items, Page, Section, Text, Verdict
from narcissus.results import Grade, NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.plugins import GIVEN
from narcissus.study.record import Record

NOT_COVERED = (
    "Columns that the attacker is assumed not to know but might learn elsewhere: the threat model "
    "names what is known.",
    "Anything published besides this release: other tables, earlier or later releases of the same "
    "people.",
    "Attackers who know more about the joint distribution than the prior says.",
    "People whose secrets depend on each other given the known columns: families, copied records.",
    "How the bins and the columns were chosen, if that choice looked at the data.",
    "The computer that makes the release: floating-point and timing side channels.",
)


class TableLayout(Layout):
    not_covered = NOT_COVERED
    columns = ("setting", "epsilon", "mu", "scale", "by", "group", "trials")

    def title(self, study: Any, case: StudyJudgement) -> str:
        detail: TableResult = case.detail
        named = study.title or f"{detail.settings[0].released} of {_source(study)}"
        return f"{named} (quick look)" if study.run.quick else named

    def assessed(self, case: StudyJudgement) -> list[str]:
        return []

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        return [*unresolved(of_table(case).each)]

    def glance(self, case: StudyJudgement) -> Glance:
        return glance(of_table(case))

    def where(self, case: StudyJudgement) -> str:
        return f": {of_table(case).worst.label}"

    def threshold(self, record: Record, case: StudyJudgement) -> Mapping[str, Any]:
        threshold = of_table(case).each[0].threshold
        return {} if threshold is None else vars(threshold)

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        bound = row.about if isinstance(row.about, TableBound) else None
        if row.of not in IN_FRAME or row.quantity.grade == "not assessed":
            return None
        if bound is not None and bound.for_comparison:
            return None
        settings = of_table(case).each
        setting = next(setting for setting in settings if setting.label == row.at["setting"])
        detail, exact = setting.detail, setting.detail.noiseless
        levels = {"epsilon": detail.epsilon, "mu": detail.mu}
        noise = {
            **{name: math.inf if exact else level for name, level in levels.items()},
            "scale": None if detail.noise is None else detail.noise.scale,
            "trials": None,
        }
        if bound is not None:
            return {**noise, "grade": setting.grade_of(bound)}
        return {**noise, "confidence": detail.confidence}

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        settings, setting = of_table(case).each, of_table(case).worst
        detail = setting.detail
        release = detail.released
        if detail.noise is not None or not release:
            exact = "exact" if setting.detail.noiseless else "noisy"
            release = f"{number(detail.marginals)} {exact} tables of counts ({label_of(setting)})"
        threat = record.study.get("threat") or {}
        secret = ", ".join(threat.get("unknown") or []) or "all that is not known"
        text = f"{release}, about {number(detail.people)} people. The attacker is after: {secret}."
        if len(settings) > 1:
            text += f" {len(settings)} levels of protection were compared."
        groups = bool(setting.detail.groups or detail.merged)
        return Subject(text, groups, _every_attacker(setting))

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        setting = of_table(case).worst
        replies: dict[str, Answered] = {}
        if (best := setting.detail.best_attack) is not None:
            who = best_name(setting).removeprefix("the best attack")
            text = f"{percent(best.share)} recovered{who and ' by '}{who}, "
            text += f"{percent(setting.detail.guess.share)} guessed without"
            replies["inference"] = Answered(f"{text} ({setting.label})", "sampled")
        for bound in (setting.detail.share_bound, setting.detail.count_bound):
            if bound is not None and bound.guarantee:
                grade = None if setting.detail.is_declared else setting.grade_of(bound)
                replies["parameters"] = Answered(f"{bound.guarantee}, as described", grade)
                replies["unit"] = Answered(
                    "one row, replaced by another, taken for one person", None
                )
        return replies

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        settings = of_table(case).each
        threat, prior = record.study["threat"], record.study["prior"]
        name = str(prior.get("name") or prior.get("kind") or "the prior")
        first, detail = settings[0], case.detail
        real = threat["people"] != "prior"
        copies = " It is the rows themselves, so that people drawn are copies of them." * (
            name == "empirical"
        )
        real_figures = [
            RealFigure(
                "The prior",
                f"{name}, made from the rows: every guess, limit and comparison depends on it."
                f"{copies}",
                (),
            ),
            _scored(record, first)
            if real
            else RealFigure(
                "Shares, limits, bounds and the verdict",
                "Over people drawn from the prior: they depend on real rows through the prior "
                "alone.",
                (*VERDICT, *FOUND),
            ),
            RealFigure(
                "Names and numbers of values, bins, cells",
                "As the rows have them; bins by quantiles or common values are made from the rows.",
                ("assessed*", "title"),
            ),
        ]
        if threat["people"] == "all":
            how = f"All rows of the table: {first.detail.people:,}."
            real_figures.append(RealFigure("The number of people", how, ()))
        if first.detail.held_out:
            how = "Scored on rows that the prior was not fitted to."
            real_figures.append(RealFigure("Guesses by other priors", how, ()))
        if any(setting.detail.groups or setting.detail.merged for setting in settings):
            how = "Names and shares over people drawn from the prior."
            if real:
                how = f"Names and shares over real people. {groups_of_people(first.detail.merged)}"
            real_figures.append(RealFigure("Groups", how, ()))
        if detail.own_release is not None:
            how = (
                f"Counts over all {detail.own_release.people:,} people of the data, exact: a "
                "reader who knows of all but one whether they were recovered learns it of the last."
            )
            real_figures.append(
                RealFigure("What is recovered from the release that was made", how, ())
            )
        return real_figures

    def page(self, record: Record, case: StudyJudgement) -> Page:
        settings, setting, detail = of_table(case).each, of_table(case).worst, case.detail
        for level in settings:
            level.check()
        is_sweep = len(settings) > 1
        groups = _groups(setting, is_sweep=is_sweep)
        people = number(setting.detail.people)
        return Page(
            title=record.title,
            subtitle=f"{people} people in a release, {_what(settings, setting)}",
            verdict=_verdict(record, settings, setting),
            sections=[
                _threat(record, setting),
                _results(settings, setting),
                *([] if groups is None else [groups]),
                *own_section(detail.own_release, in_part=setting.detail.share_of_columns),
                _method(record, settings, setting),
            ],
        )


LAYOUT = TableLayout()


def _source(study: Any) -> str:
    if study.data.table is not None and study.data.table.startswith(GIVEN):
        return "a data frame"
    return study.data.table or Path(str(study.data.path)).name


def unresolved(settings: Sequence[JudgedSetting]) -> Iterator[NotAssessed]:
    """List where the guess, or a search of an attack, is not known to be the best."""
    guess = settings[0].detail.guess  # the same at every setting
    if guess.is_best_found:
        limit = guess.at_most
        beyond = (
            ""
            if limit is None
            else (f", but none with a larger mean chance than {upper(100 * limit, places=1)}%")
        )
        yield NotAssessed(
            "the best guess without the release",
            "of so many joint values the guess is the best that was found; its chance is exact, "
            f"and a better guess may exist{beyond}",
            "take fewer unknown columns, or coarser ones; or all of them and exact matches, or "
            "`share_of_columns`, where the best guess is known",
        )
    for setting in settings:
        for name, attack in setting.detail.attacks.items():
            if (search := attack.search) is not None and search.stuck and attack.trials:
                yield NotAssessed(
                    f"what exact counts determine at '{setting.label}', by the attack `{name}`",
                    f"its search stuck in {search.stuck} of {attack.trials} releases, at a "
                    f"residual of {search.residual:.4g} people in all counts together: "
                    "values that agree with every count exist, and may give away more",
                    "take fewer unknown columns, or release tables of more columns",
                )


def _every_attacker(one: JudgedSetting) -> tuple[EveryAttacker, ...]:
    share, count = one.detail.share_bound, one.detail.count_bound
    limits: list[EveryAttacker] = []
    if share is not None and share.at_most < 1:
        text = f"At most {percent(share.at_most, 'up')} of these {one.detail.whose} on average"
        if share.of_population is not None and not one.detail.everybody:
            text += f"; of all like them {percent(share.of_population, 'up')} (estimated)"
        assumptions = share.assumptions + share.takes_as_given
        limits.append(EveryAttacker(f"{text}.", one.grade_of(share), assumptions))
    if count is not None and count.at_most < count.of:
        text = f"In one release at most {number(count.at_most)} of {number(count.of)}"
        text += f", with {100 * count.confidence:g}% confidence."
        assumptions = count.assumptions + count.takes_as_given
        limits.append(EveryAttacker(text, one.grade_of(count), assumptions))
    return tuple(limits)


def _scored(record: Record, setting: JudgedSetting) -> RealFigure:
    everybody = record.study["threat"]["people"] == "all"
    who = (
        f"all {setting.detail.people:,} people of the table"
        if everybody
        else "real rows that are drawn"
    )
    exact = (
        " The guess, and attacks without chance, are exact counts: a reader who knows of all but "
        "one of them whether they were hit learns it of the last."
    )
    few = ""
    if everybody and setting.detail.people < 10:
        few = " These are so few that the shares are about each of them: do not show this page."
    return RealFigure(
        "Shares, limits and the verdict",
        f"Scored on {who}, whatever the guarantee of the release.{exact * everybody}{few}",
        (*VERDICT, *FOUND),
    )


def _groups(setting: JudgedSetting, *, is_sweep: bool) -> Section | None:
    if not setting.detail.groups and setting.detail.merged is None:
        return None
    notes = [] if setting.detail.merged is None else [merged_words(setting.detail.merged)]
    where = f" at {label_of(setting)}" if is_sweep else ""
    return Section(
        "How groups fare: the most vulnerable beside the average",
        [
            Text(
                [
                    "An average can hide those who lose most. The same numbers for groups of "
                    f"people{where}; the limits hold for all groups, attacks and settings at once.",
                    *notes,
                ]
            ),
            *([groups_picture(setting)] if setting.detail.groups else []),
        ],
    )


def overview(settings: Sequence[JudgedSetting]) -> Grid:
    rows: list[list[str]] = []
    for s in settings:
        share, count = s.detail.share_bound, s.detail.count_bound
        rows.append(
            [
                label_of(s),
                percent(s.detail.guess.share),
                _in_brief(s.detail.best_attack),
                points(above_guess(s)),
                _in_brief(s.detail.ceiling),
                MISSING if share is None else percent(share.at_most, "up"),
                MISSING if count is None else f"{number(count.at_most)} of {count.of}",
                s.status,
            ]
        )
    is_proved = any(s.detail.share_bound or s.detail.count_bound for s in settings)
    return Grid(
        "Every setting: shares are estimated (limits in brackets)"
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


def _in_brief(value: Limited | None) -> str:
    return MISSING if value is None else with_limits(value.share, value.low, value.high)


def own_section(own: OwnRelease | None, *, in_part: bool) -> list[Section]:
    """Return the section about the release itself, if the study names one."""
    if own is None:
        return []
    return [Section("The release itself", [Text(_words(own, in_part=in_part)), _grid(own)])]


def _words(own: OwnRelease, *, in_part: bool) -> list[str]:
    people = number(own.people)
    text = [
        f"The file {own.path} was attacked as it stands, about the {people} people of the table. "
        "These are counts of what is right about them: they are exact, and leave other people and "
        "other attacks open.",
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
        best = max(own.attacks, key=lambda attack: attack.recovered)
        text.append(
            f"Most are recovered by the attack `{best.name}`: {number(best.recovered)} of "
            f"{people}, {number(best.recovered - best.from_decoy)} more than from a decoy. It "
            "was chosen after the fact, so it looks a little better than it is."
        )
    return text


def _grid(own: OwnRelease) -> Grid:
    rows = [
        [
            attack_name(attack.name),
            attack.recovered,
            attack.recovered / own.people,
            attack.from_decoy,
            (attack.recovered - attack.from_decoy) / own.people,
        ]
        for attack in own.attacks
    ]
    columns = ("Attack", "Right", "Of the people", "Right from a decoy", "More than from a decoy")
    return Grid("Recovered from the release", columns, rows, percent=("Of the people", columns[-1]))


def below_the_guess(settings: Sequence[JudgedSetting]) -> Items:
    """Word of each such attack where it is below, by how much in its own trials, and how it can."""
    cases: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for name, attack in setting.detail.attacks.items():
            if (below := attack.below) is not None:
                shares = f"{percent(attack.share)} for {percent(below.guess)}"
                where = f"{shares} at {label_of(setting)}"
                cases.setdefault((name, below.why), []).append(where)
    return Items(
        "Below the best guess without the release in these trials, and why",
        [f"{attack_name(name)} ({', '.join(at)}): {why}." for (name, why), at in cases.items()],
    )


COLUMNS = "column-shares"
"""The theorem whose share is one of columns, not of people."""


def _sampled(label: str, value: Limited | None, level: str, more: str = "") -> Headline:
    if value is None:
        return label, MISSING, "", "not assessed"
    text = f"{more}{level} {limits(value.low, value.high)}"
    if (rough := value.quantity.approximate) is not None:
        text += f"; approximately {limits(*rough)}"
    return label, percent(value.share), text, "sampled"


def _headline(setting: JudgedSetting) -> list[Headline]:
    level, best = level_of(setting), setting.detail.best_attack
    gain_text = "" if best is None else f"{points(above_guess(setting))} points above the guess; "
    is_conditional = setting.detail.near or not setting.detail.prior_is_exact
    if_right = ", if the prior is right" if is_conditional else ""
    search_text = ""
    if setting.detail.guess.is_best_found:
        limit = setting.detail.guess.at_most
        search_text = (
            "" if limit is None else f"; by the prior none gets more than {percent(limit, 'up')}"
        )
        search_text = f" (the best guess that was found{search_text})"
    ceiling = _sampled(f"Ceiling, for any attacker{if_right}", setting.detail.ceiling, level)
    if setting.detail.is_ceiling_estimated:  # it limits nobody and must not look as if it did
        ceiling = (f"Ceiling, estimated by sampling{if_right}", *ceiling[1:3], "approximate")
    return [
        _sampled(f"Guessed right without the release{search_text}", setting.detail.guess, level),
        _sampled(f"Recovered with it by {best_name(setting)}", best, level, gain_text),
        ceiling,
        _proved(setting),
    ]


def _proved(setting: JudgedSetting) -> Headline:
    """Return the proved number of the headline: the mean share if there is one, else a count."""
    share, count = setting.detail.share_bound, setting.detail.count_bound
    bound = share or count
    if bound is None:
        label = "Proved: no attacker recovers more"
        return label, MISSING, "nothing is proved at this setting", "not assessed"
    grade = setting.grade_of(bound)
    heads: dict[Grade, str] = {
        "proved": "Proved: no attacker recovers more",
        "proved if": f"Proved if {setting.detail.proved_if}: no attacker recovers more",
    }
    label = heads.get(grade, "Contradicted: no attacker recovers more")
    if share is not None:
        notes = f"of these {setting.detail.whose}, on average"
        if share.of_population is not None and not setting.detail.everybody:
            whole = percent(share.of_population, "up")
            notes += f" (of all like them at most {whole}, estimated)"
        notes += "" if count is None else f"; in one release {_count(count)}"
        return label, percent(share.at_most, "up"), notes, grade
    assert count is not None
    value = f"{number(count.at_most)} of {number(count.of)}"
    return label, value, f"in one release, with {_sure(count)} confidence", grade


def _sure(bound: TableBound) -> str:
    return f"{100 * bound.confidence:g}%"


def _count(bound: TableBound) -> str:
    limit, people = number(bound.at_most), number(bound.of)
    text = f"at most {limit} of {people}, with {_sure(bound)} confidence"
    if bound.reached is None:
        return text
    return f"{text} (some mechanism with this guarantee reaches {number(bound.reached)})"


def _verdict(record: Record, settings: Sequence[JudgedSetting], setting: JudgedSetting) -> Verdict:
    is_sweep = len(settings) > 1
    # a status that one setting earns must not look like one of all
    decides = is_sweep and sum(s.decides for s in settings) == 1
    all_alike = all(s.status == record.status for s in settings)
    return Verdict(
        status=record.status,
        where=f"at {label_of(setting)}" if decides and not all_alike else "",
        headline=record.verdict,
        evidence_for=in_favour(setting),
        evidence_against=against(setting, record.detail.other_priors),
        numbers=_headline(setting),
        setting=label_of(setting) if is_sweep else "",
    )


def _threat(record: Record, setting: JudgedSetting) -> Section:
    bounds = [bound for bound in setting.detail.bounds if bound.counts]
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


def _bounds(settings: Sequence[JudgedSetting]) -> Grid:
    rows: list[list[str]] = []
    grades: list[Grade] = []
    for setting in settings:
        for bound in setting.detail.bounds:
            if bound.is_share:
                whose = "columns of these people" if bound.id == COLUMNS else "these people"
                says = f"mean share of {whose} at most {percent(bound.at_most, 'up')}"
                whole = bound.of_population
                if whole is not None and not setting.detail.everybody:
                    says += f"; of all like them {percent(whole, 'up')}"
            else:
                says = _count(bound)
                whole = bound.of_population
                if whole is not None and not setting.detail.everybody:
                    says += f"; of all like them {number(whole)}"
            known = f" [{bound.id}]" if bound.id else ""
            is_new = bound.name not in f"{bound.theorem} {bound.id}"
            name = f": {bound.name}" if is_new else ""
            name += " (for comparison)" if bound.for_comparison else ""
            guarantee = bound.guarantee or MISSING
            rows.append([label_of(setting), f"{bound.theorem}{known}{name}", guarantee, says])
            grades.append(setting.grade_of(bound))
    return Grid(
        "Bounds for the same prior: what no attacker exceeds",
        ("Setting", "Theorem", "From the guarantee", "Says"),
        rows,
        grades=grades,
        folded=len(settings) > 1,
    )


def _findings(settings: Sequence[JudgedSetting]) -> Grid:
    findings = [finding for setting in settings for finding in setting.claims()]
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


def _results(settings: Sequence[JudgedSetting], setting: JudgedSetting) -> Section:
    blocks: list[Block] = []
    is_sweep, best = len(settings) > 1, setting.detail.best_attack
    if is_sweep:
        blocks += [overview(settings), curves_picture(settings)]
    if setting.detail.attacks or setting.detail.ceiling is not None:
        blocks.append(attacks_picture(setting, is_sweep=is_sweep))
    if any(attack.below for s in settings for attack in s.detail.attacks.values()):
        blocks.append(below_the_guess(settings))
    if best is not None:
        if best.distribution is not None:
            blocks.append(distribution_picture(setting))
        if len(best.columns) > 1:
            blocks.append(columns_picture(setting))
    if any(s.detail.bounds for s in settings):
        blocks.append(_bounds(settings))
    if any(s.claims() for s in settings):
        blocks.append(_findings(settings))
    return Section("Results", blocks)


def _how_played(record: Record, setting: JudgedSetting) -> list[str]:
    attacks = setting.detail.attacks.values()
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
    if setting.detail.ceiling is not None and setting.detail.ceiling.is_estimated:
        text.append(
            "The ceiling is an attacker who is also told everybody else's secrets. With so many "
            "unknown columns its posterior is sampled, column by column: a better decision from "
            "the same knowledge may exist. So it is an estimate, and no verdict rests on it."
        )
    elif setting.detail.ceiling is not None:
        text.append(
            "The ceiling is an attacker who is also told everybody else's secrets: nobody does "
            "better with less knowledge, for this mechanism and this prior. It is sampled, so "
            "its upper limit is what counts."
        )
    if methods := sorted({attack.method for attack in attacks if attack.method}):
        text.append(
            f"Confidence limits of mean shares: {', '.join(methods)}. They hold whatever the "
            "distribution, and verdicts rest on them; with few trials no valid limits of what an "
            "attack may do are narrow. Approximate limits (Student's t on the trials) stand beside "
            "them and decide nothing."
        )
    if setting.detail.everybody:
        text.append(
            "Nobody is drawn: every share is counted over all rows of the table. So the "
            "guess is exact, and an attack that ignores the release. So is a fixed attack on a "
            "fixed release. Other limits are about the noise of other "
            "releases, and about decoys."
        )
    for guess in setting.detail.held_out:
        text.append(
            f"A second baseline: {guess.by} guesses {percent(guess.share)} of "
            f"{number(guess.people)} rows of the table whose secrets it was not shown, the prior's "
            f"best guess {percent(guess.prior_share)} of them. A right prior allows nobody more "
            f"than {percent(guess.at_most, 'up')}, with {100 * guess.confidence:g}% confidence: it "
            f"is {'refuted' if guess.refutes else 'not refuted'} by that."
        )
    if isinstance(precision := setting.detail.precision, DecisionDetail):
        why = {
            "decided": "when its verdict was decided",
            "beyond trials": "when more trials seemed not to decide its verdict",
            "budget": "when its time was spent",
            "most": "after the most trials that are played",
        }[precision.ended]
        text.append(
            f"The run ended {why}, after {number(setting.detail.trials)} trials (look "
            f"{precision.look}). The looks at the limits were fixed beforehand. This one spends "
            f"{precision.part:.3g} of the error, so that its limits hold whenever the run ends."
        )
    elif precision is not None:
        reached = "reached" if precision.is_reached else "not reached"
        text.append(
            "Precision: half the distance between the limits of the headline, and of what the "
            f"threshold limits, was to be at most {100 * precision.aimed:.3g} points, and is "
            f"{100 * precision.reached:.3g} at the widest: {reached}, after "
            f"{number(setting.detail.trials)} trials of at most {number(precision.most)} (look "
            f"{precision.look}). The looks at the limits were fixed beforehand, and each spends "
            "its part of the error: they hold at their level whenever the run ends."
        )
    if not setting.detail.prior_is_exact:
        text.append(
            "The prior may be wrong about these people. So every attack is also shown a decoy: a "
            "release of other secrets, drawn from the prior for the same known columns. What it "
            "scores there on the true secrets is its baseline, and is compared with what the prior "
            "says of the same guesses; where the two differ beyond limits, the prior is refuted."
        )
    return text


def _noise(settings: Sequence[JudgedSetting]) -> list[Grid]:
    rows = [
        [label_of(s), s.detail.delta, s.detail.mu, s.detail.noise.kind, s.detail.noise.scale]
        for s in settings
        if s.detail.noise is not None
    ]
    columns = ("Setting", "delta", "mu", "Noise", "Scale, counts")
    return [Grid("Noise", columns, rows)] if rows else []


def _tables(setting: JudgedSetting) -> str:
    return "Marginals in a release" if setting.detail.noise is not None else "Tables it is read as"


def _method(record: Record, settings: Sequence[JudgedSetting], setting: JudgedSetting) -> Section:
    rows = [[attack_name(n), a.title, a.uses, a.trials] for n, a in setting.detail.attacks.items()]
    if (ceiling := setting.detail.ceiling) is not None:
        rows.append(["ceiling", ceiling.title, ceiling.uses, ceiling.trials])
    return Section(
        "Method",
        [
            Text(_how_played(record, setting)),
            Facts(
                [
                    (_tables(setting), number(setting.detail.marginals)),
                    ("Cells in a release", number(setting.detail.cells)),
                ]
            ),
            Grid("Attacks", ("Attack", "What it is", "Uses", "Trials"), rows),
            *_noise(settings),
        ],
    )


def _released(setting: JudgedSetting) -> str:
    """Name what is released; records of before say how many marginals."""
    if setting.detail.released and setting.detail.noise is None:
        return setting.detail.released[0].lower() + setting.detail.released[1:]
    exact = "exact" if setting.detail.noiseless else "noisy"
    return f"{number(setting.detail.marginals)} {exact} marginals"


def _what(settings: Sequence[JudgedSetting], setting: JudgedSetting) -> str:
    released = _released(setting)
    if len(settings) > 1:
        return f"{released}, {len(settings)} settings"
    return released if setting.label in released else f"{released}, {label_of(setting)}"
