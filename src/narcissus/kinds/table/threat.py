"""A table's study in words: what is released, who attacks, what counts, what is allowed."""

from __future__ import annotations

from typing import Any, cast

from narcissus.kinds.table.found import Accepted
from narcissus.kinds.table.judgement import JudgedSetting
from narcissus.report.format import number, percent
from narcissus.study.plugins import GIVEN
from narcissus.study.record import Record

Answer = dict[str, Any]
Rows = list[tuple[str, str]]


def _section(record: Record, name: str) -> Answer:
    """Return a section of the study; an empty one where it is missing."""
    value: Any = record.study.get(name)
    return value if isinstance(value, dict) else {}


def _table(data: Answer) -> Rows:
    rows: Rows = []
    if source := data.get("path") or data.get("table"):
        given = str(source).startswith(GIVEN)
        rows.append(("Table", "a data frame, given from Python" if given else str(source)))
    if columns := data.get("columns"):
        rows.append(("Columns", ", ".join(columns)))
    if drop := data.get("drop"):
        rows.append(("Columns left out", ", ".join(drop)))
    if bins := data.get("bins"):
        rows.append(("Columns in bins", "; ".join(f"{c}: {_bins(b)}" for c, b in bins.items())))
    if data.get("missing") in ("drop", "category"):
        how = {"drop": "their rows are left out", "category": "a value of their own"}
        rows.append(("Missing values", how[data["missing"]]))
    return rows


def _bins(spec: Answer) -> str:
    """Return how a column is binned."""
    found = {key: value for key, value in spec.items() if value is not None}
    for key, value in found.items():
        if key == "edges":
            return "a new bin from " + ", ".join(number(edge) for edge in value)
        if key == "quantiles":
            return f"{value} bins of equal share"
        return f"{'above' if key == 'above' else 'bins of width'} {number(value)}"
    return "as they are"


def _attacker(threat: Answer) -> Rows:
    rows: Rows = []
    if unknown := threat.get("unknown"):
        rows += [
            ("Unknown to the attacker", ", ".join(unknown)),
            ("Known to the attacker", "all other columns"),
        ]
    elif known := threat.get("known"):
        rows += [
            ("Known to the attacker", ", ".join(known)),
            ("Unknown to the attacker", "all other columns"),
        ]
    if targets := threat.get("targets"):
        rows.append(("People in one release", f"{number(targets)}, each of them a target"))
    if people := threat.get("people"):
        where = {
            "prior": "drawn from the prior, which is then known exactly",
            "rows": "real rows of the table",
            "all": "all rows of the table",
        }
        rows.append(("Where they come from", where.get(people, str(people))))
    within: Answer = threat.get("within") or {}
    far = "; ".join(f"{c} up to {number(places)} off" for c, places in within.items())
    if least := threat.get("at_least"):
        counts = f"at least {number(least)} of the unknown columns are right"
    else:
        counts = "every unknown column is right"
    asked = "A target counts as recovered when"
    if threat.get("share_of_columns"):
        asked, counts = "What is scored", "the share of a person's unknown columns that is right"
    rows.append((asked, counts + (f" ({far})" if far else "")))
    return rows


def _prior(prior: Answer) -> Rows:
    kind = prior.get("name", prior.get("kind"))  # "kind" in version 0.1
    if kind is None:
        return []
    words = {
        "bayesian-network": "a Bayesian network fitted to the table, at most "
        f"{prior.get('parents', '?')} parents for each column",
        "independent": "the table's columns, taken as independent",
        "empirical": "the table's own rows",
    }
    return [("What the attacker knows beforehand", words.get(kind, f"{kind} (the user's own)"))]


def _level(value: float | None, name: str) -> str:
    # a record holds no infinity: None among the levels is the one without noise
    if value is None or (name == "scale" and value == 0):
        return "no noise"
    return number(value)


def _release(mechanism: Answer, setting: JudgedSetting) -> Rows:
    rows: Rows = []
    if setting.detail.noise is None:
        rows.append(("What is released", setting.detail.released))
        given = {k: v for k, v in mechanism.items() if k != "name" and v not in (None, [], {})}
        return rows + [(f"Option {key}", _option(value)) for key, value in given.items()]
    if k := mechanism.get("k"):
        noise = str(mechanism.get("noise") or "").capitalize()
        text = f"all {k}-way tables of counts that touch an unknown column"
        rows.append(("What is released", text + (f", {noise} noise on each cell" if noise else "")))
    elif sets := mechanism.get("sets"):
        text = "; ".join(", ".join(names) for names in sets)
        rows.append(("What is released", f"tables of counts: {text}"))
    for name in ("epsilon", "mu", "scale"):
        value: Any = mechanism.get(name)
        if value is not None:
            levels: list[Any] = value if isinstance(value, list) else [value]
            title = "Noise scale" if name == "scale" else f"Privacy level ({name})"
            rows.append((title, ", ".join(_level(v, name) for v in levels)))
    if (delta := mechanism.get("delta")) is not None:
        rows.append(("delta", f"{delta:g}"))
    return rows


def _option(value: Any) -> str:
    """Return an option's value as in the study, lists with commas."""
    if isinstance(value, list):
        return ", ".join(_option(one) for one in cast("list[Any]", value))
    return "yes" if value is True else "no" if value is False else str(value)


def _limits(threshold: Accepted) -> list[str]:
    means = (
        ("share", threshold.share),
        ("advantage", threshold.advantage),
        ("gain over fresh people", threshold.gain),
    )
    found = [f"a mean {n} of at most {percent(limit)}" for n, limit in means if limit is not None]
    if threshold.targets is not None:
        found.append(f"at most {number(threshold.targets)} targets in one release")
    return found


def _threshold(record: Record, setting: JudgedSetting) -> Rows:
    rows: Rows = []
    threshold = setting.threshold
    if threshold is not None:
        text = "; ".join(_limits(threshold))
        if threshold.worst_group is not None:
            text += f"; in each group that can be told beforehand {percent(threshold.worst_group)}"
        rows.append(("Threshold", text))
        if threshold.decided_at is not None:
            rows.append(("Decided at the level", threshold.decided_at))
        for text, title in ((threshold.reason, "Its reason"), (threshold.origin, "Who set it")):
            if text:
                rows.append((title, text))
    if policy := record.study.get("policy"):
        rows.append(("Policy", str(policy)))
    return rows


def are_real(record: Record) -> bool:
    """Return whether the targets are real people, rows of the table."""
    return _section(record, "threat").get("people") in ("rows", "all")


def threat_facts(record: Record, setting: JudgedSetting) -> Rows:
    """Return the study as terms and what they are; a section that is missing is left out."""
    return [
        *_table(_section(record, "data")),
        *_attacker(_section(record, "threat")),
        *_prior(_section(record, "prior")),
        *_release(_section(record, "mechanism"), setting),
        *_threshold(record, setting),
    ]
