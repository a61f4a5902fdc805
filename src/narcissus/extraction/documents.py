"""Documents of a language model, divided into training documents and unseen ones.

Repetitions of a document count as one with copies, since repetition drives memorisation. All copies
are on one side of a division.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from narcissus._files import file_size, read_bytes
from narcissus._validation import integer
from narcissus.errors import InputError

Unit = Literal["line", "paragraph"]
LARGEST_TEXT = 2**30
"""Most bytes of a file of documents (1 GiB)."""


@dataclass(frozen=True)
class TextDocument:
    """A text and its number of copies."""

    text: str
    copies: int = 1

    def __post_init__(self) -> None:
        integer("copies", self.copies, low=1)


def counted(texts: Sequence[str]) -> tuple[TextDocument, ...]:
    """Return the distinct texts in order of first occurrence, with their copies.

    Examples
    --------
    >>> counted(["b", "a", "b"])
    (TextDocument(text='b', copies=2), TextDocument(text='a', copies=1))
    """
    return tuple(TextDocument(text, copies) for text, copies in Counter(texts).items())


def read_documents(path: Path | str, unit: Unit = "line") -> tuple[TextDocument, ...]:
    """Read documents from a text file (UTF-8), one a line or separated by blank lines.

    Raises
    ------
    InputError
        The file is missing, no text, or holds no document.
    TooLargeError
        It has more than `LARGEST_TEXT` bytes.
    """
    path = Path(path)
    file_size(path, largest=LARGEST_TEXT)
    try:
        text = read_bytes(path, largest=LARGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from error
    text = text.replace("\r\n", "\n")
    parts = text.split("\n") if unit == "line" else text.split("\n\n")
    found = counted([part.strip() for part in parts if part.strip()])
    if not found:
        raise InputError(f"{path} holds no documents")
    return found


@dataclass(frozen=True)
class Division:
    """Division of documents into training documents and others."""

    trained: tuple[TextDocument, ...]  # documents that the model was trained on
    fresh: tuple[TextDocument, ...]  # documents of the same source that neither model has seen
    # documents that only the reference model was trained on
    reference: tuple[TextDocument, ...] = ()
    by_chance: bool = False  # whether the division is random

    def __post_init__(self) -> None:
        for name, side in (("trained", self.trained), ("fresh", self.fresh)):
            if not side:
                raise InputError(f"there are no {name} documents")
        seen = {one.text for one in self.trained}
        for name, side in (("fresh", self.fresh), ("reference", self.reference)):
            if both := next((one.text for one in side if one.text in seen), None):
                raise InputError(
                    f"a document is among those trained on and among the {name} ones "
                    f"({both[:40]!r}): leave it out of one of them"
                )
            seen |= {one.text for one in side}


def divide(documents: Sequence[TextDocument], rng: np.random.Generator) -> Division:
    """Divide documents at random into three equal parts: trained on, fresh, for the reference.

    The division depends on nothing else, so independent draws of one source are so in each part.

    Raises
    ------
    InputError
        There are fewer than three documents.
    """
    if len(documents) < 3:
        raise InputError(f"dividing needs at least 3 different documents, got {len(documents)}")
    order = [documents[place] for place in rng.permutation(len(documents))]
    third = len(order) // 3
    trained, fresh = order[third : 2 * third], order[:third]
    return Division(tuple(trained), tuple(fresh), tuple(order[2 * third :]), by_chance=True)
