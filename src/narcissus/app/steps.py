"""The steps of a study: what each form shows of the study file, and what it writes into it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import tomlkit
from starlette.datastructures import ImmutableMultiDict

from narcissus._toml import read_toml
from narcissus.app.text import Keys, get
from narcissus.errors import InputError
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.signatures import REQUIRED, options_of, summary_of

Data = Mapping[str, Any]
Values = dict[Keys, Any]
STEPS = {
    "table": "The table",
    "attacker": "Who attacks",
    "release": "The release",
    "threshold": "The threshold",
    "run": "Run",
    "reports": "Reports",
}
WAYS = {
    "": "as it is",
    "width": "bins of this width",
    "edges": "bins that start at these",
    "quantiles": "groups of equal size, this many",
    "above": "two groups: up to this, and above",
    "common": "the most common stay, this many",
}
READINGS = {
    "": "by its values",
    "text": "as texts",
    "numbers": "as numbers",
    "decimal-comma": "as numbers with a decimal comma",
    "day-first": "as dates, day first",
    "month-first": "as dates, month first",
}
MISSING = {
    "refuse": "there are none; end with an error",
    "category": "are a separate value",
    "drop": "their rows are left out",
}
PEOPLE = {
    "prior": "drawn from what the table shows in common (the prior)",
    "rows": "rows of the table, drawn at random",
    "all": "everybody in the table",
}
_OF_OWN_CODE = ("command", "opendp")
"""Mechanisms that run programs or custom code: not from a page."""


DEFAULTS: Values = {
    ("data", "missing"): "refuse",
    ("data", "scale"): "score",
    ("threat", "people"): "prior",
    ("mechanism", "name"): "marginals",
    ("threat", "attacks"): ["lira"],
    ("threat", "folds"): 1,
    ("threat", "fpr"): [0.001, 0.01, 0.1],
}
"""What is not written into a file that does not say it."""


_NUMERIC = re.compile(r"[-+0-9.,;eE\s]+")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_WITH_COMMA = frozenset(
    [
        "af",
        "az",
        "be",
        "bg",
        "bs",
        "ca",
        "cs",
        "da",
        "de",
        "el",
        "es",
        "et",
        "eu",
        "fi",
        "fr",
        "gl",
        "hr",
        "hu",
        "hy",
        "id",
        "is",
        "it",
        "ka",
        "kk",
        "lt",
        "lv",
        "mk",
        "nb",
        "nl",
        "nn",
        "no",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sl",
        "sq",
        "sr",
        "sv",
        "tr",
        "uk",
        "vi",
    ]
)
_WITH_POINT = frozenset(
    ["de-ch", "de-li", "es-mx", "es-us", "es-gt", "es-do", "es-hn", "es-ni", "es-pa", "es-pe"]
)


def writes_comma(languages: str) -> bool:
    """Tell whether the first language that a browser asks for has decimal commas.

    ``languages`` is its header ``Accept-Language``.

    >>> writes_comma("de-AT,de;q=0.9,en;q=0.8"), writes_comma("de-CH"), writes_comma("en-GB,fr")
    (True, False, False)
    """
    first = languages.partition(",")[0].partition(";")[0].strip().lower()
    return first.partition("-")[0] in _WITH_COMMA and first not in _WITH_POINT


class Form(ImmutableMultiDict[str, str]):
    """What a form holds: texts by the names of its fields."""

    has_comma = False
    """Whether the language of the browser writes numbers with a decimal comma."""

    def one(self, name: str) -> str:
        return self.get(name, "").strip()

    def numeric(self, name: str) -> str:
        """Return the text of a field for numbers, with points; `;` or `, ` part several of them."""
        text = self.one(name)
        if not self.has_comma or not _NUMERIC.fullmatch(text):
            return text
        return _COMMA.sub(".", text).replace(";", ",")

    def all(self, name: str) -> list[str]:
        return [value for value in self.getlist(name) if value]

    def among(self, name: str, known: Mapping[str, Any]) -> str:
        value = self.one(name)
        if value not in known:
            raise InputError(f"`{name}` has no choice {value!r}")
        return value


def number(text: str, what: str) -> int | float:
    try:
        amount = float(text)
        if math.isnan(amount):
            raise ValueError
    except ValueError as error:
        raise InputError(_no_number(text, what)) from error
    return int(text) if text.lstrip("+-").isdecimal() else amount


def share(text: str, what: str) -> float:
    """Read so many of a hundred as a share."""
    try:
        fraction = Decimal(text) / 100
        if fraction.is_finite():
            return float(fraction)
    except InvalidOperation:
        pass
    raise InputError(_no_number(text, what))


def _no_number(text: str, what: str) -> str:
    hint = f": write {text.replace(',', '.')}" if _COMMA.search(text) else ""
    return f"{what}: {text!r} is no number{hint}"


def of_100(value: Any) -> str:
    """Write a share as so many of a hundred, as `share` reads it."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{Decimal(str(value)) * 100:f}".rstrip("0").rstrip(".") or "0" if is_number else ""


def numbers(text: str, what: str) -> list[int | float]:
    return [number(part.strip(), what) for part in text.split(",") if part.strip()]


def as_typed(value: Any) -> str:
    """Write a value as a field shows it: a list of numbers with commas, a text without quotes."""
    if value is None or value is REQUIRED:
        return ""
    if isinstance(value, list) and all(isinstance(number, int | float) for number in value):
        return ", ".join(tomlkit.item(number).as_string() for number in value)
    return value if isinstance(value, str) else tomlkit.item(value).as_string()


def typed(text: str) -> Any:
    """Read a value as TOML has it; else a list with commas, else a text."""
    for form in (f"x = {text}", f"x = [{text}]") if "\n" not in text else ():
        try:
            document = read_toml(form)
        except ValueError:
            continue
        if list(document) == ["x"]:
            return document["x"]
    return text


def columns(data: Data, look: Data) -> Iterator[dict[str, Any]]:
    """Yield what the form shows of each column."""
    unknown, names, bins = _unknown(data, look), _kept(data, look), get(data, "data", "bins") or {}
    for column in look["columns"]:
        name = column["name"]
        column_bins = bins.get(name, {}) if isinstance(bins, dict) else {}
        way = next((key for key in WAYS if key in column_bins), "")
        yield {
            **column,
            "keep": name in names,
            "is_unknown": name in unknown,
            "why": look["drop"].get(name) or column["reason"],
            "way": way,
            "number": as_typed(column_bins.get(way)),
            "codes": ", ".join(map(as_typed, column_bins.get("codes", ()))),
            "reading": (get(data, "data", "read_as") or {}).get(name, ""),
        }


def _kept(data: Data, look: Data) -> list[str]:
    listed = get(data, "data", "columns")
    left = {*(get(data, "data", "drop") or ()), *(get(data, "data", "left_out") or ())}
    names = [column["name"] for column in look["columns"]]
    return [n for n in names if (listed is None or n in listed) and n not in left]


def _unknown(data: Data, look: Data) -> list[str]:
    known = get(data, "threat", "known")
    if known is not None:
        return [name for name in _kept(data, look) if name not in known]
    return list(get(data, "threat", "unknown") or ())


def of_table(form: Form, data: Data, look: Data) -> Values:
    """Read the form of the table: which columns are kept, how they are read and grouped."""
    names = [column["name"] for column in look["columns"]]
    before = _kept(data, look)
    table_columns = [
        n for n in names if (form.one(f"use:{n}") or ("keep" if n in before else "")) == "keep"
    ]
    if wrong := [name for name in _unknown(data, look) if name not in table_columns]:
        raise InputError(
            f"`{wrong[0]}` is what the attacker is after: choose another column at Who attacks, "
            "then leave it out"
        )
    values: Values = {("data", "missing"): form.one("missing") or None}
    if set(table_columns) != set(before):
        left = [name for name in get(data, "data", "drop") or () if name not in names]
        left += [name for name in names if name not in table_columns]
        reasons = {
            n: w for n, w in (get(data, "data", "left_out") or {}).items() if n not in table_columns
        }
        values["data", "drop"] = [name for name in left if name not in reasons] or None
        if get(data, "data", "left_out") is not None:
            values["data", "left_out"] = reasons or None
        if get(data, "data", "columns") is not None:
            values["data", "columns"] = table_columns
            values["data", "drop"] = None
    for name in (name for name in names if f"way:{name}" in form):
        values["data", "bins", name] = _bins(form, name) if name in table_columns else None
        reading = form.among(f"read:{name}", READINGS)
        values["data", "read_as", name] = reading if reading and name in table_columns else None
    return values


def _bins(form: Form, name: str) -> dict[str, Any] | None:
    way, text, label = form.among(f"way:{name}", WAYS), form.numeric(f"number:{name}"), f"`{name}`"
    if not way:
        return None
    if not text:
        raise InputError(f"{label}: write a number for {WAYS[way]!r}")
    bins: dict[str, Any] = {way: numbers(text, label) if way == "edges" else number(text, label)}
    if codes := form.one(f"codes:{name}"):
        bins["codes"] = [typed(part.strip()) for part in codes.split(",") if part.strip()]
    return bins


def baseline(data: Data, look: Data) -> list[tuple[str, int]]:
    """Return of how many of 100 people the most common value of each unknown column is right.

    A column whose groups are not those proposed is left out: its values were not counted.
    """
    if data.get("kind", "table") != "table":
        return []
    unknown, bins = _unknown(data, look), get(data, "data", "bins") or {}
    return [
        (column["name"], round(100 * column["guess"]))
        for column in look["columns"]
        if column["name"] in unknown and dict(bins.get(column["name"], {})) == column["bins"]
    ]


def attacker(data: Data, look: Data) -> dict[str, Any]:
    threat, groups = data.get("threat", {}), data.get("groups", {})
    success = (
        "share" if threat.get("share_of_columns") else "some" if "at_least" in threat else "all"
    )
    return {
        "unknown": _unknown(data, look),
        "kept": _kept(data, look),
        "groups": groups.get("columns", []),
        "success": success,
        "at_least": threat.get("at_least", 1),
        "targets": threat.get("targets", 100),
        "from": threat.get("people", "prior"),
    }


def of_attacker(form: Form, data: Data, look: Data) -> Values:
    """Read the form of the attacker: what they are after, how many people, which groups."""
    names = _kept(data, look)
    unknown = _chosen(form, "unknown", names, get(data, "threat", "unknown"))
    if not unknown:
        raise InputError("choose at least one column that the attacker is after")
    groups = _chosen(form, "groups", names, get(data, "groups", "columns"))
    if both := [name for name in groups if name in unknown]:
        raise InputError(
            f"`{both[0]}` is secret: a group must be determined by what the attacker knows"
        )
    values: Values = {("threat", "unknown"): unknown, ("groups", "columns"): groups or None}
    if data.get("kind") == "synthetic":
        return values
    success = form.among("success", {"all": 0, "some": 0, "share": 0})
    is_single = len(unknown) == 1
    minimum = int(number(form.numeric("at_least") or "1", "columns that must be right"))
    values |= {
        ("threat", "known"): None,
        ("threat", "share_of_columns"): True if success == "share" and not is_single else None,
        ("threat", "at_least"): minimum if success == "some" and not is_single else None,
        ("threat", "targets"): number(form.numeric("targets"), "people released together"),
    }
    if get(data, "threat", "known") is not None and set(unknown) == set(_unknown(data, look)):
        del values["threat", "unknown"], values["threat", "known"]  # as the file says it
    if values["threat", "targets"] == get(attacker(data, look), "targets"):
        del values["threat", "targets"]
    return values | {("threat", "people"): form.among("people", PEOPLE)}


def _chosen(form: Form, field: str, kept: Sequence[str], before: Any) -> list[str]:
    """Return the columns that are ticked, in the order of the file if they are the same."""
    names = [name for name in kept if name in form.all(field)]
    return before if before and sorted(before) == sorted(names) else names


def mechanisms() -> dict[str, str]:
    """Return the mechanisms of tables that a page may name, each with its summary."""
    parts = ROOMS["table-mechanism"].parts
    return {n: summary_of(loaded(p)) for n, p in parts.items() if n not in _OF_OWN_CODE}


def options(name: str, data: Data) -> Iterator[dict[str, Any]]:
    """Yield what the form shows of each option of a mechanism."""
    settings = data.get("mechanism", {})
    settings = settings if settings.get("name", "marginals") == name else {}
    for option in options_of(loaded(ROOMS["table-mechanism"].parts[name])).values():
        yield {
            "name": option.name,
            "words": option.type_words().replace("`", ""),
            "text": option.text.replace("`", ""),
            "default": as_typed(option.default),
            "required": option.required,
            "value": as_typed(settings.get(option.name)),
        }


def of_release(form: Form, data: Data, _look: Data) -> Values:
    """Read the form of the release: the mechanism with its options, and a published file."""
    if data.get("kind") == "synthetic":
        control = form.one("control") or None
        return {("data", "synthetic"): form.one("synthetic"), ("data", "control"): control}
    name = form.among("mechanism", mechanisms())
    values: Values = {("mechanism", key): None for key in data.get("mechanism", {})}
    values["mechanism", "name"] = name
    for option in options(name, data):
        text = form.numeric(f"option:{option['name']}")
        values["mechanism", option["name"]] = typed(text) if text else None
    values["release", "path"] = form.one("path") or None
    if values["release", "path"] is None:
        values = {keys: v for keys, v in values.items() if keys[0] != "release"}
        values["release",] = None
    return values


class FormLimit(NamedTuple):
    """A limit that can be set, in hundredths unless it is a count."""

    label: str
    sentence: str
    hundredths: bool = True


LIMITS: dict[str, dict[str, FormLimit]] = {
    "table": {
        "advantage": FormLimit(
            "Percent of the gap between guessing and certainty",
            "On average, an attacker may close at most {}% of the gap between the best guess "
            "without the release and certainty.",
        ),
        "share": FormLimit(
            "People of 100 who are recovered",
            "On average, an attacker may recover at most {} of 100 people.",
        ),
        "gain": FormLimit(
            "People of 100 whom the release adds",
            "On average, an attacker may recover at most {} of 100 people more than the same "
            "attack recovers among people who are not in the data.",
        ),
        "targets": FormLimit(
            "People of one release, with the confidence of the proof",
            "With the confidence of the proof, no attacker may recover more than {} of the people "
            "who are released together.",
            hundredths=False,
        ),
        "worst_group": FormLimit(
            "The same for each group (of 100)",
            "In each group that an attacker can tell beforehand, the limit is {} of 100.",
        ),
    },
    "synthetic": {
        "at_most": FormLimit(
            "Percentage points of excess",
            "People of the data may be hit more often than people who are not in it by at most {} "
            "percentage points.",
        ),
        "worst_group": FormLimit(
            "The same for each group",
            "In each group the excess may be at most {} percentage points.",
        ),
    },
    "membership": {
        "tpr": FormLimit(
            "Members of 100 who are found",
            "An attacker may find at most {} of 100 members, at the false-positive rate below.",
        ),
        "epsilon": FormLimit(
            "The epsilon that must not be refuted",
            "No attack may refute an epsilon of {}, at the delta given at The release.",
            hundredths=False,
        ),
    },
}


def threshold(data: Data) -> list[dict[str, Any]]:
    """Return what the form shows of each limit, with the sentence that it means."""
    section = data.get("threshold", {})
    limits: list[dict[str, Any]] = []
    for name, limit in LIMITS[data.get("kind", "table")].items():
        value = section.get(name)
        shown = of_100(value) if limit.hundredths else as_typed(value)
        sentence = limit.sentence.format(shown) if shown else ""
        limits.append({"name": name, "value": shown, "said": sentence, **limit._asdict()})
    return limits


def of_threshold(form: Form, data: Data, _look: Data) -> Values:
    """Read the form of the threshold: limits, the level that decides, who says so and why."""
    values: Values = {}
    for name, limit in LIMITS[data.get("kind", "table")].items():
        text = form.numeric(name)
        read = share if limit.hundredths else number
        values["threshold", name] = read(text, limit.label) if text else None
    if "at" in form:
        values["threshold", "at"] = (
            number(at, "What decides") if (at := form.numeric("at")) else None
        )
    for key in ("reason", "origin"):
        values["threshold", key] = form.one(key) or None
    if all(value is None for value in values.values()):
        return {("threshold",): None}
    return values


def of_run(form: Form, _data: Data, _look: Data) -> Values:
    """Read the form of the run: how many trials, and the seed."""
    texts = {name: form.numeric(name) for name in ("trials", "seed") if name in form}
    return {("run", name): number(text, name) if text else None for name, text in texts.items()}


READ: dict[str, Callable[[Form, Data, Data], Values]] = {
    "table": of_table,
    "attacker": of_attacker,
    "release": of_release,
    "threshold": of_threshold,
    "run": of_run,
}
