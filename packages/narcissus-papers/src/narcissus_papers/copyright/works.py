"""Works cut into passages, and whether a model goes on with a passage substantially alike.

A passage is two stretches of words: its beginning, which an attacker knows, and what follows. It
*comes back* if the model, given the beginning, says so many words in a row of what follows, or all
of it with few edits. Words that stand in a row in another work too are common property: they count
for nobody, and a passage of nothing else is left out. The rule is the same for every work.

Source: near copies as in Carlini et al. 2023; the rare stretches of Cohen et al. 2024, D.2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from narcissus._files import file_size
from narcissus.errors import InputError
from narcissus.extraction.recovered import Completes, continuations, edit_distance, read_documents

LARGEST_WORK = 2**24
"""Most bytes of a work, and of all independent works together (16 MiB)."""
MOST_WORKS = 10_000
LONGEST_PASSAGE = 10_000
"""Most characters of a passage: comparing two takes as long as their product."""
_WITHIN = ("Mn", "Mc", "Me", "Cf")
Run = tuple[str, ...]


@dataclass(frozen=True)
class Passage:
    """A stretch of a work."""

    text: str
    known: int  # characters at its beginning that the attacker knows

    @property
    def follows(self) -> str:
        return self.text[self.known :]


@dataclass(frozen=True)
class WrittenWork:
    """A work: its name, its paragraphs, and the passages that they are cut into."""

    name: str
    paragraphs: tuple[str, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Alike:
    """When what a model says is substantially alike to what follows in a passage.

    words: so many of them in a row, without case and punctuation; at least 1.
    edits: or at most so many insertions, deletions and substitutions for each character of it.
    common: runs of words that count for nobody.
    """

    words: int = 10
    edits: float | None = None
    common: frozenset[Run] = frozenset()

    def words_in_a_row(self, said: str, passage: Passage) -> int:
        """Return the longest run of words of a passage that was said."""
        output_words, other = words_of(said), words_of(passage.follows)
        return SequenceMatcher(None, output_words, other, autojunk=False).find_longest_match().size

    def holds(self, said: str, passage: Passage) -> bool:
        """Return whether a passage came back."""
        if (runs_of(passage.follows, self.words) - self.common) & runs_of(said, self.words):
            return True
        true = passage.follows
        return self.edits is not None and edit_distance(said, true) <= self.edits * len(true)

    def own(self, work: WrittenWork) -> list[Passage]:
        """Return the passages of a work that are not made of common runs alone."""
        return [
            passage
            for passage in work.passages
            if runs_of(passage.follows, self.words) - self.common
        ]


def words_of(text: str) -> list[str]:
    """Return the words of a text, the same however its accents are encoded.

    Marks that no letter can take up, and characters that nobody sees, do not end a word.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        apart = {ord(c): None for c in set(text) if unicodedata.category(c) in _WITHIN}
        text = text.translate(apart)
    return re.findall(r"\w+", text.casefold())


def runs_of(text: str, length: int) -> set[Run]:
    """Return all runs of so many words of a text, shape (length,) each."""
    words = words_of(text)
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


def passages_of(paragraph: str, known: int, window: int) -> list[Passage]:
    """Cut a paragraph into passages of ``known`` and ``window`` words; the rest is left over."""
    size = known + window
    places = [match.span() for match in re.finditer(r"\S+", paragraph)]
    return [
        Passage(paragraph[start:end], places[i + known - 1][1] - start)
        for i in range(0, len(places) - size + 1, size)
        for start, end in [(places[i][0], places[i + size - 1][1])]
    ]


def read_work(path: Path, *, known: int, window: int) -> WrittenWork:
    """Read a work from a text file (UTF-8), whose paragraphs blank lines separate.

    InputError: no paragraph of it has as many words as a passage. TooLargeError: it is too large.
    """
    file_size(path, largest=LARGEST_WORK)
    paragraphs = tuple(passage.text for passage in read_documents(path, "paragraph"))
    passages = [passage for text in paragraphs for passage in passages_of(text, known, window)]
    if not passages:
        raise InputError(
            f"{path} has no paragraph of {known + window} words, as long as a passage (`prompt` "
            "and `window`): make them smaller, or put blank lines only where paragraphs end"
        )
    if (longest := max(len(passage.text) for passage in passages)) > LONGEST_PASSAGE:
        raise InputError(
            f"{path} has a passage of {longest:,} characters, and at most {LONGEST_PASSAGE:,} are "
            "compared: leave out all but text"
        )
    return WrittenWork(path.stem, paragraphs, tuple(dict.fromkeys(passages)))


def paths_of(folder: Path) -> list[Path]:
    """Return the paths of the works of a folder, in the order of their names."""
    if not folder.is_dir():
        reason = "it is a file" if folder.exists() else "it does not exist"
        raise InputError(f"no folder of works, a .txt file each: {folder} ({reason})")
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".txt")


def read_works(folder: Path, *, known: int, window: int) -> list[WrittenWork]:
    """Read the works of a folder, one in each ``.txt`` file, in the order of their names.

    InputError: it is no folder, has no such file, or too many. TooLargeError: they are too large.
    """
    paths = paths_of(folder)
    if not 1 <= len(paths) <= MOST_WORKS:
        raise InputError(
            f"{folder} must hold 1 to {MOST_WORKS:,} works, a .txt file each, got {len(paths):,}"
        )
    if (size := sum(map(file_size, paths))) > LARGEST_WORK:
        hint = f"at most {LARGEST_WORK:,}: leave out some of them, or parts of each"
        raise InputError(f"the works in {folder} have {size:,} bytes together, of {hint}")
    return [read_work(path, known=known, window=window) for path in paths]


def common_runs(works: Sequence[WrittenWork], texts: Iterable[str], words: int) -> frozenset[Run]:
    """Return the runs of words that two of the works hold, or one of them and another text."""
    holder: dict[Run, int] = {}
    common: set[Run] = set()
    for number, work in enumerate(works):
        for run in {run for text in work.paragraphs for run in runs_of(text, words)}:
            if holder.setdefault(run, number) != number:
                common.add(run)
    for text in texts:
        common |= runs_of(text, words) & holder.keys()
    return frozenset(common)


def gone_on(model: Completes, passages: Sequence[Passage]) -> list[str]:
    """Return what a model says after the beginning of each passage, as long as what follows."""
    texts, known = [passage.text for passage in passages], [passage.known for passage in passages]
    windows = [len(passage.follows) for passage in passages]
    answers = continuations(model, texts, prefix=known, window=windows)
    return [answer.written for answer in answers]
