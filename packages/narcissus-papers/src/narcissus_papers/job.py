"""The jobs of an engine: a piece of an item, or an item without pieces, by its key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

from narcissus.errors import NarcissusError, raised_where
from narcissus_papers.base import Given, Item
from narcissus_papers.texts import plain, write


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
