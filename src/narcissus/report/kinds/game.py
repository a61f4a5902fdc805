"""Games, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import (
    Block,
    Facts,
    Figure,
    Items,
    Page,
    Section,
    Table,
    Text,
    Verdict,
)
from narcissus.results import Grade
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

Answer = dict[str, Any]

_PROVED: Grade = "proved"
_SAMPLED: Grade = "sampled"


def _best(results: Answer) -> Answer | None:
    """Give the attacker that gains most over its own baseline."""
    played = results["attackers"]
    if not played:
        return None
    return max(played, key=_gain)


def _gain(one: Answer) -> float:
    return one["success"]["value"] - one["baseline"]["value"]


def _sampled(label: str, estimate: Answer) -> tuple[str, str, str, Grade]:
    level = f"{100 * estimate['confidence']:g}% limits"
    text = f"{level} {limits(estimate['low'], estimate['high'])}"
    return label, percent(estimate["value"]), text, "sampled"


def _numbers(results: Answer) -> list[tuple[str, str, str, Grade]]:
    rows: list[tuple[str, str, str, Grade]] = []
    best, exact = _best(results), results["exact"]
    if best is not None:
        rows += [
            _sampled("The same attempts against fresh data (own baseline)", best["baseline"]),
            _sampled(f"Success of the attack {best['name']}", best["success"]),
        ]
    if exact is not None:
        top = exact["best_attacker"]
        where = f"at epsilon {top['at_epsilon']:g}"
        for label, key in (
            ("Baseline of the best attacker", "baseline"),
            ("Success of the best attacker there is", "success"),
        ):
            rows.append((label, percent(top[key]), where, "proved"))
    for bound in results["proofs"]:
        label = f"Proved: {bound['quantity']}"
        rows.append((label, f"at most {bound['value']:.3g}", bound["theorem"], "proved"))
    return rows


def _evidence(results: Answer) -> tuple[list[str], list[str]]:
    good: list[str] = []
    bad: list[str] = []
    exact = results["exact"]
    if exact is not None and "least" in exact:
        words = f"exact: {exact['least']:.6g} is needed, {exact['limit']:g} is allowed (proved)"
        (good if results["outcome"].startswith("resilient") else bad).append(words)
    good += [
        f"{bound['quantity']} is at most {bound['value']:.3g}, by {bound['theorem']} (proved)"
        for bound in results["proofs"]
    ]
    if results["attackers"] and results["decided"] is not None:
        bad.append(
            f"the attackers broke the statement; certain after {results['decided']} trials, at "
            f"{percent(results['confidence'])} confidence"
        )
    elif results["attackers"]:
        good.append(
            f"{number(results['trials'])} trials of {len(results['attackers'])} attacker(s) found "
            "no violation; that is no proof"
        )
    refuted = results["largest_epsilon_refuted"]
    if refuted is not None and results["decided"] is not None:
        bad.append(f"refuted up to epsilon {refuted:.2f} at this delta")
    return good, bad


_RESTS: dict[str, Grade] = {
    "violates, proved": "proved",
    "resilient, proved": "proved",
    "violates": "sampled",
    "no violation found": "sampled",
    "not assessed": "not assessed",
}


def _verdict(record: Record, results: Answer) -> Verdict:
    good, bad = _evidence(results)
    best = _best(results)
    odds = ""
    if best is not None:
        hits, base = best["success"]["value"] * 100, best["baseline"]["value"] * 100
        odds = (
            f"Of 100 attempts of {best['name']}, {hits:.3g} fit the data that was released, and "
            f"{base:.3g} would have fitted fresh data as well."
        )
    return Verdict(
        status=record.status,
        headline=record.verdict,
        odds=odds,
        evidence_for=good,
        evidence_against=bad,
        numbers=_numbers(results),
    )


def _part(part: Any) -> str:
    """Say a section of the study in one line."""
    if not isinstance(part, dict):
        return str(part)
    keys = [k for k in part if k != "name" and part[k] not in (None, [], {}, "")]
    values = ", ".join(f"{key} = {_short(part[key])}" for key in keys)
    return f"{part.get('name', '')}: {values}" if values else str(part.get("name", ""))


def _short(value: Any) -> str:
    text = _part(value) if isinstance(value, dict) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _setting(record: Record, results: Answer) -> Section:
    study, statement = record.study, results["statement"]
    rows = [
        ("World: who the data is about", _part(study["world"])),
        ("Mechanism: what is released", _part(study["mechanism"])),
        ("Success: what counts", _part(study["success"])),
    ]
    if study.get("looser"):
        rows.append(("What counts for fresh data", _part(study["looser"])))
    side = study.get("side-information")
    rows.append(("What the attacker is told besides", "nothing" if not side else _part(side)))
    rows += [(f"Attacker {n}", _part(part)) for n, part in enumerate(study["attack"], start=1)]
    rows += [
        ("Statement", f"{statement['name']} ({statement['definition']})"),
        ("In a formula", statement["words"]),
    ]
    if results["source"]:
        rows.append(("Source of the study", results["source"]))
    if results["expected"]:
        rows.append(("Expected by the source", results["expected"]))
    blocks: list[Block] = [Text([results["about"]])] if results["about"] else []
    blocks.append(Facts(rows))
    assumed = [text for bound in results["proofs"] for text in bound["assumptions"]]
    if assumed:
        title = "Taken as given by the proved numbers (assumptions; nothing here tests them)"
        blocks.append(Items(title, list(dict.fromkeys(assumed))))
    return Section("Threat model and statement", blocks)


def _attackers(results: Answer) -> list[Block]:
    rows: list[list[Any]] = []
    grades: list[Grade] = []
    for one in results["attackers"]:
        won, lost = one["success"], one["baseline"]
        rows.append(
            [
                one["name"],
                won["value"],
                limits(won["low"], won["high"]),
                lost["value"],
                limits(lost["low"], lost["high"]),
                one["failed"],
            ]
        )
        grades.append("sampled")
    if not rows:
        return []
    columns = ["attacker", "success", "limits", "own baseline", "its limits", "failures"]
    blocks: list[Block] = [
        Table(
            f"Success and own baseline in {number(results['trials'])} trials",
            columns,
            rows,
            grades,
            percent=("success", "own baseline"),
        )
    ]
    refuted = results["largest_epsilon_refuted"]
    if refuted is not None:
        words = f"{refuted:.2f}, by all attackers together (sampled)"
        blocks.append(Facts([("Largest epsilon refuted at the statement's delta", words)]))
    if results["remarks"]:
        blocks.append(Items("Remarks", results["remarks"], "warning"))
    return blocks


def _profile(results: Answer) -> list[Block]:
    exact = results["exact"]
    if exact is None:
        return []
    epsilon, delta = exact["epsilon"], exact["delta"]

    def draw(figure: MplFigure) -> None:
        axes = figure.add_subplot()
        axes.plot(epsilon, delta, marker="o", markersize=3)
        statement = results["statement"]
        axes.axhline(statement.get("delta", 0.0), linestyle="--", linewidth=1, color="0.4")
        axes.set_xlabel("epsilon")
        axes.set_ylabel("delta")
        axes.set_ylim(bottom=0)

    table = Table(
        "The exact profile",
        ["epsilon", "delta"],
        [[e, d] for e, d in zip(epsilon, delta, strict=True)],
        [_PROVED for _ in epsilon],
    )
    first = f"{delta[0]:.4g}" if delta else MISSING
    return [
        Figure(
            title=f"The best attacker gains {first} at epsilon {epsilon[0]:g}",
            description=(
                "A falling curve: the least delta with which the mechanism is resilient, against "
                "every attacker, for each epsilon. The dashed line is the delta of the statement."
            ),
            draw=draw,
            table=table,
        )
    ]


def _curve(results: Answer) -> list[Block]:
    rows = results["curve"]
    if not rows:
        return []

    def draw(figure: MplFigure) -> None:
        axes = figure.add_subplot()
        weights = [row["w"] for row in rows]
        axes.plot(weights, [row["success"] for row in rows], label="with the release")
        axes.plot(weights, [row["baseline"] for row in rows], "--", label="best without it")
        axes.set_xscale("log")
        axes.set_xlabel("weight of the predicate, at most")
        axes.set_ylabel("chance to isolate")
        axes.legend()

    table = Table(
        "Isolating with light predicates",
        ["weight at most", "with the release", "best without it"],
        [[row["w"], row["success"], row["baseline"]] for row in rows],
        [_SAMPLED for _ in rows],
    )
    return [
        Figure(
            title="A light predicate that isolates is the worse attack",
            description=(
                "Two curves over the largest weight of a predicate: how often the attacker "
                "isolated one row with one that light, and the best chance without the release."
            ),
            draw=draw,
            table=table,
        )
    ]


def page(record: Record) -> Page:
    """Turn the record of a game into a page."""
    results: Answer = record.to_dict()["results"]
    blocks = [*_attackers(results), *_profile(results), *_curve(results)]
    if results["memorized_bits"] is not None:
        blocks.append(
            Facts(
                [
                    (
                        "Memorized information I(S; release | Nature)",
                        f"{results['memorized_bits']:.6g} bits (proved)",
                    )
                ]
            )
        )
    sections = [_setting(record, results)]
    if blocks:
        sections.append(Section("Results", blocks))
    return Page(record.title, results["statement"]["words"], _verdict(record, results), sections)
