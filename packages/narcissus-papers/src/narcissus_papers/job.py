"""The jobs of an engine: a piece of an item, or an item without pieces, by its key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from narcissus.errors import NarcissusError, raised_where
from narcissus.report.panels import Line, Panel
from narcissus_papers.base import Given, Held, Item, Printed, Quote, Reproduced


def plain(value: Any) -> str:
    """Write a value as JSON; NumPy's numbers and arrays become those of JSON."""
    return json.dumps(value, default=_listed)


def write(made: Reproduced) -> str:
    return plain(asdict(made))


def read(text: str) -> Reproduced:
    found: dict[str, Any] = json.loads(text)
    return Reproduced(
        panels=tuple(_panel(one) for one in found["panels"]),
        printed=tuple(Printed(**_quoted(one)) for one in found["printed"]),
        held=tuple(Held(**_quoted(one)) for one in found["held"]),
        cannot=found["cannot"],
        notes=tuple(found["notes"]),
        table=tuple(tuple(row) for row in found["table"]),
    )


def as_dict(item: Item, made: Reproduced) -> dict[str, Any]:
    return {
        "paper": item.paper,
        "kind": item.kind,
        "number": item.number,
        "title": item.title,
        "verdict": made.verdict,
        "because": made.because,
        "shown": made.shown,
        "printed": [
            {
                "what": one.what,
                "paper": one.quote and one.quote.value,
                "ours": one.ours,
                "word": one.word,
                "because": one.reason,
                "within": one.quote and one.quote.within,
                **_said(one.quote),
            }
            for one in made.printed
        ],
        "held": [
            {k: getattr(one, k) for k in ("what", "holds", "shown", "because")} | _said(one.quote)
            for one in made.held
        ],
        "notes": list(made.notes),
        "data": [list(row) for row in made.rows],
    }


def _said(quote: Quote | None) -> dict[str, str | None]:
    return {"quote": quote and quote.words, "place": quote and quote.place}


def _quoted(found: dict[str, Any]) -> dict[str, Any]:
    quote = found["quote"]
    return {**found, "quote": None if quote is None else Quote(**quote)}


def _panel(found: dict[str, Any]) -> Panel:
    lines = tuple(Line(**one) for one in found.pop("lines"))
    return Panel(lines=lines, names=tuple(found.pop("names")), **found)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, range) else value.tolist()


@dataclass(frozen=True)
class MadeText:
    """The result of a key as JSON text, or why there is none."""

    text: str
    why: str = ""


def key_of(item: Item, piece: str) -> str:
    return f"{item.name}:{piece}"


def item_of(key: str) -> str:
    return key.partition(":")[0]


@dataclass(frozen=True)
class Maker:
    """Makes pieces and items by their keys on any worker; failures are reported, not raised."""

    items: Mapping[str, Item]
    data: Path | None

    def __call__(self, key: str) -> MadeText:
        name, _, piece = key.partition(":")
        item, given = self.items[name], Given(data=self.data)
        if piece:
            return _tried(lambda: plain(item.pieces[piece](given)))
        return _tried(lambda: write(item.make(given)))

    def finished(self, item: Item, answers: Mapping[str, str]) -> MadeText:
        given = Given({piece: json.loads(text) for piece, text in answers.items()}, self.data)
        with threadpool_limits(1):  # as in every worker: the last digits depend on it
            return _tried(lambda: write(item.make(given)))


def _tried(make: Callable[[], str]) -> MadeText:
    try:
        return MadeText(make())
    except NarcissusError as error:
        return MadeText("", str(error))
    except SystemExit as error:
        return MadeText("", f"sys.exit({error.code!r}) was called")
    except Exception as error:
        return MadeText("", raised_where(error))
