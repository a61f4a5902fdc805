"""Audits of a table's noisy marginals, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narcissus.report.format import MISSING, limits, number, percent, points, with_limits
from narcissus.report.kinds.table_pictures import (
    attacks_picture,
    columns_picture,
    curves_picture,
    distribution_picture,
    groups_picture,
)
from narcissus.report.kinds.table_results import (
    attack_name,
    best_count,
    best_of,
    gain_of,
    grade_of,
    label_of,
    level_of,
    most_relevant,
    proved_bounds,
    settings_of,
    share_proved,
    threshold_of,
    without_release,
)
from narcissus.report.kinds.table_threat import threat_facts
from narcissus.report.page import Block, Facts, Items, Page, Section, Table, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record

Answer = dict[str, Any]
Headline = tuple[str, str, str, Grade]


def _sampled(label: str, value: Answer | None, level: str, more: str = "") -> Headline:
    """Give a sampled number of the headline, or say that it was not assessed."""
    if value is None:
        return label, MISSING, "", "not assessed"
    text = f"{more}{level} {limits(value.get('low'), value.get('high'))}"
    rough = value.get("approximate")
    if rough is not None:
        text += f"; approximately {limits(rough['low'], rough['high'])}"
    return label, percent(value["share"]), text, "sampled"


def _headline(record: Record, result: Answer) -> list[Headline]:
    """Give the numbers of the verdict: without the release, with it, ceiling, proved."""
    level = level_of(record, result)
    best = best_of(result)
    gain = "" if best is None else f"{points(gain_of(result, best))} points; "
    if_right = "" if result.get("prior_is_exact", True) else ", if the prior is right"
    return [
        _sampled("Guessed right without the release", without_release(result), level),
        _sampled("Recovered with it by the best attack", best, level, gain),
        _sampled(f"Ceiling, whoever attacks{if_right}", result.get("ceiling"), level),
        _proved_row(record, result),
    ]


def _proved_row(record: Record, result: Answer) -> tuple[str, str, str, Grade]:
    """Give the proved number of the headline: the mean share if there is one, else a count."""
    share, count = share_proved(result), best_count(result)
    bound = share or count
    if bound is None:
        label = "Proved: no attacker recovers more"
        return label, MISSING, "nothing is proved at this setting", "not assessed"
    grade = grade_of(bound, result)
    heads: dict[Grade, str] = {
        "proved": "Proved: no attacker recovers more",
        "proved if": "Proved if the prior is right: no attacker recovers more",
    }
    label = heads.get(grade, "Contradicted: no attacker recovers more")
    in_one = "" if count is None else _count(count)
    if share is not None:
        notes = "of these people, on average"
        if share.get("share_of_population") is not None:
            whole = percent(share["share_of_population"], "up")
            notes += f" (of all like them at most {whole}, sampled)"
        notes += f"; in one release {in_one}" if in_one else ""
        return label, percent(share["share_at_most"], "up"), notes, grade
    assert count is not None
    value = f"{number(count['at_most'])} of {number(count['of'])}"
    return label, value, f"in one release, with {_sure(count)} confidence", grade


def _sure(bound: Answer) -> str:
    return f"{100 * bound['confidence']:g}%"


def _count(bound: Answer) -> str:
    """Give a bound on a count in words."""
    most, people = number(bound["at_most"]), number(bound["of"])
    return f"at most {most} of {people}, with {_sure(bound)} confidence"


def _verdict(record: Record, result: Answer, *, is_sweep: bool) -> Verdict:
    """Give the verdict; odds that are a sentence of it are said once, in their own place."""
    headline, odds = record.verdict, str(result.get("odds", ""))
    before, found, after = headline.partition(odds) if odds else (headline, "", "")
    if is_sweep:  # the setting is named above the numbers
        before = before.removesuffix(f"At {result.get('label')}: ")
    if found and (before.endswith(". ") or (not before and after)):
        headline = (before + after.lstrip()).strip()
    elif found:
        odds = ""
    # a status that one setting earns must not look like one of all
    decides = is_sweep and sum(bool(r.get("decides")) for r in settings_of(record)) == 1
    all_alike = all(r.get("status") == record.status for r in settings_of(record))
    return Verdict(
        status=record.status,
        where=f"at {label_of(result)}" if decides and not all_alike else "",
        headline=headline,
        odds=odds,
        evidence_for=result.get("evidence_for", []),
        evidence_against=result.get("evidence_against", []),
        numbers=_headline(record, result),
        setting=label_of(result) if is_sweep else "",
    )


def _threat(record: Record, result: Answer) -> Section:
    """Say whom the audit is about, and what it takes as given."""
    assumptions = [text for bound in proved_bounds(result) for text in bound.get("assumptions", [])]
    given = [text for bound in proved_bounds(result) for text in bound.get("takes_as_given", [])]
    if given:
        assumptions += [
            f"{text} (tested on average, see the method)" for text in dict.fromkeys(given)
        ]
    if record.study.get("threat", {}).get("people") == "rows":
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
        Facts(threat_facts(record)),
    ]
    if assumptions:
        title = "Taken as given by the proved numbers (assumptions; nothing here tests them"
        title += ", but for what is said to be tested)" if given else ")"
        blocks.append(Items(title, list(dict.fromkeys(assumptions))))
    return Section("Threat model and assumptions", blocks)


def _with_limits(value: Answer | None) -> str:
    if value is None:
        return MISSING
    return with_limits(value["share"], value.get("low"), value.get("high"))


def _glance(record: Record, results: Sequence[Answer]) -> Table:
    """Give the headline numbers of every setting."""
    rows: list[list[str]] = []
    for result in results:
        best, without = best_of(result), without_release(result)
        share, count = share_proved(result), best_count(result)
        rows.append(
            [
                label_of(result),
                MISSING if without is None else percent(without["share"]),
                _with_limits(best),
                MISSING if best is None else points(gain_of(result, best)),
                _with_limits(result.get("ceiling")),
                MISSING if share is None else percent(share["share_at_most"], "up"),
                MISSING if count is None else f"{number(count['at_most'])} of {count['of']}",
                str(result.get("status", MISSING)),
            ]
        )
    return Table(
        "Every setting: shares are sampled (limits in brackets) but for the two proved columns",
        (
            "Setting",
            "Without",
            "Best attack",
            "Gain, points",
            "Ceiling",
            "Proved on average",
            "Proved in one release",
            "Threshold",
        ),
        rows,
    )


def _bounds(results: Sequence[Answer]) -> Table:
    rows: list[list[str]] = []
    grades: list[Grade] = []
    for result in results:
        for bound in result.get("bounds", []):
            if bound.get("share_at_most") is not None:
                says = f"mean share of these people at most {percent(bound['share_at_most'], 'up')}"
                whole = bound.get("share_of_population")
                says += "" if whole is None else f"; of all like them {percent(whole, 'up')}"
            else:
                says = _count(bound)
                whole = bound.get("at_most_of_population")
                says += "" if whole is None else f"; of all like them {number(whole)}"
            name, theorem = str(bound.get("name") or ""), str(bound["theorem"])
            theorem += f": {name}" if name and name not in theorem else ""
            theorem += " (for comparison)" if bound.get("for_comparison") else ""
            rows.append([label_of(result), theorem, str(bound.get("guarantee") or MISSING), says])
            grades.append(grade_of(bound, result))
    return Table(
        "Bounds for the same prior: what no attacker exceeds",
        ("Setting", "Theorem", "From the guarantee", "Says"),
        rows,
        grades=grades,
        folded=len(results) > 1,
    )


def _findings(results: Sequence[Answer]) -> Table:
    """List every statement that was compared with the others, with its grade."""
    rows: list[list[str]] = []
    grades: list[Grade] = []
    for found in (f for r in results for f in r.get("findings", [])):
        given = found.get("assumptions") or []
        says = limits(found.get("low"), found.get("high"))
        rows.append([found["quantity"], found["source"], says, "; ".join(given) or MISSING])
        grades.append(found["grade"])
    return Table(
        "Every statement, compared pair by pair where it is about the same",
        ("About", "Said by", "Limits", "Only if"),
        rows,
        grades=grades,
        folded=True,
    )


def _results(record: Record, results: Sequence[Answer], result: Answer) -> Section:
    blocks: list[Block] = []
    if len(results) > 1:
        blocks += [_glance(record, results), curves_picture(record, results)]
    attacks = list(result.get("attacks", {}).values())
    if attacks or result.get("ceiling"):
        blocks.append(attacks_picture(record, result, is_sweep=len(results) > 1))
    if any(a.get("distribution") for a in attacks):
        blocks.append(distribution_picture(record, result))
    if len((best_of(result) or {}).get("columns") or {}) > 1:
        blocks.append(columns_picture(result))
    if any(r.get("bounds") for r in results):
        blocks.append(_bounds(results))
    if any(r.get("findings") for r in results):
        blocks.append(_findings(results))
    return Section("Results", blocks)


def _groups(result: Answer, *, is_sweep: bool) -> Section | None:
    if not result.get("groups"):
        return None
    where = f" at {label_of(result)}" if is_sweep else ""
    return Section(
        "How groups fare: the most vulnerable beside the average",
        [
            Text(
                [
                    "An average can hide those who lose most. The same numbers for groups of "
                    f"people{where}; the limits hold for all groups, attacks and settings at once."
                ]
            ),
            groups_picture(result),
        ],
    )


def _method(record: Record, results: Sequence[Answer], result: Answer) -> Section:
    attacks: dict[str, Answer] = result.get("attacks", {})
    what = [
        [attack_name(name), a.get("title", ""), a.get("uses", ""), a.get("trials")]
        for name, a in attacks.items()
    ]
    if (ceiling := result.get("ceiling")) is not None:
        uses = ceiling.get("uses", "")
        what.append(["ceiling", ceiling.get("title", ""), uses, ceiling.get("trials")])
    noise = [
        [
            label_of(r),
            r.get("delta"),
            r.get("mu"),
            (r.get("noise") or {}).get("kind") or "none",
            (r.get("noise") or {}).get("scale"),
        ]
        for r in results
    ]
    facts = [("Marginals in a release", r) for r in [result.get("marginals")] if r is not None] + [
        ("Cells in a release", r) for r in [result.get("cells")] if r is not None
    ]
    methods = sorted({a["method"] for a in attacks.values() if a.get("method")})
    exact = any(a.get("baseline_exact") for a in attacks.values())
    real = record.study.get("threat", {}).get("people") == "rows"
    second = (
        ", and scores the guesses on those people and on a fresh set of people who had no part in "
        "the release."
    )
    text = [
        f"One trial draws the people from {'the rows of the table' if real else 'the prior'}, "
        "makes the release, lets every attack guess"
        + (second if exact else " and scores the guesses.")
        + (" The second score is computed exactly from the prior." if exact else ""),
        "The ceiling is an attacker who is also told everybody else's secrets: no attacker who is "
        "not told them does better, for this mechanism and this prior. It is sampled, so its upper "
        "limit is what counts.",
    ]
    if methods:
        text.append(
            f"Confidence limits of mean shares: {', '.join(methods)}. They hold whatever the "
            "distribution, and verdicts rest on them; with few trials no valid limits are narrow. "
            "Approximate limits (Student's t on the trials) stand beside them and decide nothing."
        )
    if not result.get("prior_is_exact", True):
        text.append(
            "The prior may be wrong about these people. So every attack is also shown a decoy: a "
            "release of other secrets, drawn from the prior for the same known columns. What it "
            "scores there on the true secrets is its baseline, and is held against what the prior "
            "says of the same guesses; where the two differ beyond limits, the prior is refuted."
        )
    blocks: list[Block] = [Text(text)]
    if facts:
        blocks.append(Facts([(name, number(value)) for name, value in facts]))
    blocks += [
        Table("Attacks", ("Attack", "What it is", "Uses", "Trials"), what),
        Table("Noise", ("Setting", "delta", "mu", "Noise", "Scale, counts"), noise),
    ]
    return Section("Method", blocks)


def page(record: Record) -> Page:
    """Turn the record of a table's audit into a page."""
    results = settings_of(record)
    result = most_relevant(results, threshold=threshold_of(record) is not None)
    is_sweep = len(results) > 1
    people, marginals = result.get("people"), result.get("marginals")
    parts = [f"{number(people)} people in a release"] if people else []
    parts += [f"{number(marginals)} noisy marginals"] if marginals else []
    parts += [f"{len(results)} settings"] if is_sweep else [label_of(result)]
    sections = [
        _threat(record, result),
        _results(record, results, result),
        _groups(result, is_sweep=is_sweep),
        _method(record, results, result),
    ]
    return Page(
        title=record.title,
        subtitle=", ".join(parts),
        verdict=_verdict(record, result, is_sweep=is_sweep),
        sections=[section for section in sections if section is not None],
    )
