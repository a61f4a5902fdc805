"""Audits of a table's noisy marginals, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narcissus.report.format import MISSING, limits, number, percent, points
from narcissus.report.kinds.table_pictures import (
    attacks_picture,
    columns_picture,
    curves_picture,
    distribution_picture,
    groups_picture,
)
from narcissus.report.kinds.table_results import (
    attack_name,
    confidences,
    counts_proved,
    gain_of,
    label_of,
    most_relevant,
    proved_bounds,
    settings_of,
    share_proved,
    threshold_of,
    without_release,
)
from narcissus.report.page import Block, Facts, Items, Page, Section, Table, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record

Answer = dict[str, Any]


def _level(record: Record) -> str:
    """Give '95% limits', or 'limits' where the record does not say the level."""
    levels = confidences(record)
    return f"{100 * levels[0]:g}% limits" if len(levels) == 1 else "limits"


def _headline(record: Record, result: Answer) -> list[tuple[str, str, str, Grade]]:
    """Give the numbers of the verdict: without the release, with it, ceiling, proved."""
    level = _level(record)
    best = result.get("attacks", {}).get(result.get("best"))
    without = without_release(result)
    ceiling = result.get("ceiling")
    rows: list[tuple[str, str, str, Grade]] = []
    if without is None:
        rows.append(("Guessed without the release", MISSING, "", "not assessed"))
    else:
        text = limits(without.get("low"), without.get("high"))
        rows.append(
            ("Guessed without the release", percent(without["share"]), f"{level} {text}", "sampled")
        )
    if best is None:
        rows.append(("Recovered with it by the best attack", MISSING, "", "not assessed"))
    else:
        gain = points(gain_of(result, best))
        text = f"{level} {limits(best.get('low'), best.get('high'))}; {gain} points"
        rows.append(
            ("Recovered with it by the best attack", percent(best["share"]), text, "sampled")
        )
    if ceiling is None:
        rows.append(("Ceiling of all attackers", MISSING, "", "not assessed"))
    else:
        text = f"{level} {limits(ceiling.get('low'), ceiling.get('high'))}"
        rows.append(("Ceiling of all attackers", percent(ceiling["share"]), text, "sampled"))
    rows.append(_proved_row(result))
    return rows


def _proved_row(result: Answer) -> tuple[str, str, str, Grade]:
    share, counts = share_proved(result), counts_proved(result)
    notes: list[str] = []
    if counts:
        least = min(counts, key=lambda b: (-b["confidence"], b["at_most"]))
        notes.append(
            f"in one release at most {number(least['at_most'])} of {number(least['of'])}, "
            f"with {100 * least['confidence']:g}% confidence"
        )
    label = "Proved: no attacker recovers more"
    if share is not None:
        return (
            label,
            percent(share["share_at_most"], "up"),
            "on average; " + "; ".join(notes) if notes else "on average",
            "proved",
        )
    if counts:
        least = min(counts, key=lambda b: b["at_most"])
        return label, f"{number(least['at_most'])} of {number(least['of'])}", notes[0], "proved"
    return label, MISSING, "nothing is proved at this setting", "not assessed"


def _verdict(record: Record, result: Answer, *, is_sweep: bool) -> Verdict:
    rests_on = result.get("rests_on", "sampled")
    return Verdict(
        status=record.status,
        headline=record.verdict,
        odds=result.get("odds", ""),
        evidence_for=result.get("evidence_for", []),
        evidence_against=result.get("evidence_against", []),
        numbers=_headline(record, result),
        setting=label_of(result) if is_sweep else "",
        rests_on=rests_on,
    )


def _said(value: Any) -> str:
    """Give a setting of the study in words."""
    if isinstance(value, dict):
        return ", ".join(f"{k.replace('_', ' ')} {_said(v)}" for k, v in value.items() if v) or "—"
    if isinstance(value, list):
        return ", ".join(_said(v) for v in value)
    if isinstance(value, float):
        return number(value)
    return str(value).replace("_", " ")


def _threat(record: Record, results: Sequence[Answer]) -> Section:
    """Say whom the audit is about, and what it takes as given."""
    study = record.study
    rows: list[tuple[str, str]] = []
    names = {
        "data": ("Table", ("path", "packaged", "table", "rows", "people")),
        "threat": (None, ()),
        "prior": (None, ()),
        "mechanism": (None, ()),
    }
    for section, (title, keys) in names.items():
        values: Any = study.get(section)
        if not isinstance(values, dict):
            continue
        if title is not None:
            found = {k: values[k] for k in keys if values.get(k) is not None}
            if found:
                rows.append((title, ", ".join(_said(v) for v in found.values())))
            continue
        for key, value in values.items():
            if value is None or value in ([], {}):
                continue
            words = {
                ("threat", "unknown"): "Unknown to the attacker",
                ("threat", "known"): "Known to the attacker",
                ("threat", "targets"): "People in one release",
                ("threat", "success"): "A target counts as recovered when the guess is",
                ("prior", "kind"): "What the attacker knows beforehand",
                ("prior", "targets"): "Where the targets come from",
                ("mechanism", "k"): "Columns in a marginal",
            }.get((section, key), f"{section.capitalize()}: {key.replace('_', ' ')}")
            rows.append((words, _said(value)))
    assumptions = list(
        dict.fromkeys(
            text
            for result in results
            for bound in proved_bounds(result)
            for text in bound.get("assumptions", [])
        )
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
        Facts(rows),
    ]
    if assumptions:
        blocks.append(Items("What the proved numbers assume", assumptions))
    return Section("Threat model and assumptions", blocks)


def _with_limits(value: Answer | None) -> str:
    if value is None:
        return MISSING
    return f"{percent(value['share'])} ({limits(value.get('low'), value.get('high'))})"


def _glance(results: Sequence[Answer]) -> Table:
    rows: list[list[str]] = []
    for result in results:
        best = result.get("attacks", {}).get(result.get("best"))
        share, counts = share_proved(result), counts_proved(result)
        least = min(counts, key=lambda b: (-b["confidence"], b["at_most"])) if counts else None
        rows.append(
            [
                label_of(result),
                MISSING if (w := without_release(result)) is None else percent(w["share"]),
                _with_limits(best),
                MISSING if best is None else points(gain_of(result, best)),
                _with_limits(result.get("ceiling")),
                MISSING if share is None else percent(share["share_at_most"], "up"),
                MISSING if least is None else f"{number(least['at_most'])} of {least['of']}",
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
            "Proved: on average at most",
            "Proved: in one release at most",
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
                says = f"mean share at most {percent(bound['share_at_most'], 'up')}"
            else:
                says = (
                    f"with {100 * bound['confidence']:g}% confidence at most "
                    f"{number(bound['at_most'])} of {number(bound['of'])}"
                )
            name = bound.get("name", "")
            note = " (for comparison)" if bound.get("for_comparison") else ""
            theorem = f"{bound['theorem']}, {name}{note}" if name else bound["theorem"]
            rows.append([label_of(result), theorem, str(bound.get("guarantee") or MISSING), says])
            grades.append("proved" if bound.get("proved") else "not assessed")
    return Table(
        "Bounds for the same prior: what no attacker exceeds",
        ("Setting", "Theorem", "From the guarantee", "Says"),
        rows,
        grades=grades,
        folded=len(results) > 1,
    )


def _results(record: Record, results: Sequence[Answer], result: Answer) -> Section:
    blocks: list[Block] = []
    if len(results) > 1:
        blocks += [_glance(results), curves_picture(record, results)]
    blocks.append(attacks_picture(record, result, is_sweep=len(results) > 1))
    if any(a.get("distribution") for a in result.get("attacks", {}).values()):
        blocks.append(distribution_picture(result))
    columns = {c for a in result.get("attacks", {}).values() for c in a.get("columns") or {}}
    if len(columns) > 1:
        blocks.append(columns_picture(result))
    if any(r.get("bounds") for r in results):
        blocks.append(_bounds(results))
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
                    f"people{where}:"
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
    text = [
        "One trial draws the people from the prior, makes the release, lets every attack guess, "
        "and scores the guesses on those people and on a fresh set of people who had no part in "
        "the release." + (" The second score is computed exactly from the prior." if exact else ""),
        "The ceiling is an attacker who is also told everybody else's secrets: no attacker who is "
        "not told them does better, for this mechanism and this prior. It is sampled, so its upper "
        "limit is what counts.",
    ]
    if methods:
        text.append(f"Confidence limits of mean shares: {', '.join(methods)}.")
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
        _threat(record, results),
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
