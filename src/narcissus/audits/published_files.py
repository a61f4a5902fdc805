"""Several published files of one table, side by side: one page and one frame, ordered by risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from narcissus._files import writing
from narcissus._pandas import pd
from narcissus._visible import csv_text
from narcissus.findings import weakest
from narcissus.judgement import WORST
from narcissus.kinds.layout import table
from narcissus.kinds.synthetic.result import SyntheticResult
from narcissus.report.html import page_html
from narcissus.report.page import Cell, Page, Section, Text, Verdict
from narcissus.study.marks import write_results

if TYPE_CHECKING:
    from narcissus.audits.outcome import Audit
    from narcissus.study.record import Record

_HOW = (
    "Files are ordered by risk: first those whose limit is exceeded, then by the share of people "
    "who are unique in the data and appear in the file, beyond coincidence. Each file is judged "
    "alone, at the declared level of confidence.",
    "The secret that is recovered is the first that is guessed, by the best attack and by a model "
    "that never saw the file. The report of each file is in the folder of its name.",
)


def ordered(audits: Mapping[str, Audit]) -> dict[str, Audit]:
    """Return audits by the names of their files, those of the highest risk first."""

    def risk(name: str) -> tuple[int, float, str]:
        record = audits[name].record
        people = _result(record).copies.people
        beyond = (people.standing - people.expected) / max(1, people.unique)
        return WORST.index(record.status), -beyond, name

    return {name: audits[name] for name in sorted(audits, key=risk)}


def page(audits: Mapping[str, Audit], title: str) -> Page:
    """Return a page with a line for each file, in the order given."""
    records = [audit.record for audit in audits.values()]
    beyond = sum(record.status == "exceeded" for record in records)
    words = "the limit is exceeded" if beyond else "none is shown to exceed the limit"
    many = (
        f"In {beyond} of {len(records)} files {words}."
        if beyond
        else f"Of {len(records)} files {words}."
    )
    files = table(
        "Published files, those of the highest risk first",
        [(name, audit.record) for name, audit in audits.items()],
        COLUMNS,
        graded=[record.grade for record in records],
        percent=[*COLUMNS][2:],
    )
    verdict = Verdict(
        status=min((record.status for record in records), key=WORST.index),
        headline=many,
        rests_on=weakest(record.grade for record in records),
    )
    return Page(
        title,
        "Which of these files holds people of the data?",
        verdict,
        [Section("The files", [files, Text(_HOW)])],
    )


def write(audits: Mapping[str, Audit], folder: Path, title: str, *, restart: bool = False) -> Page:
    """Write the page (index.html) and the frame (data.csv) of several files into a folder.

    restart: replace results that this installation did not write.
    """
    index_page = page(audits, title)
    frames = [audit.to_frame().assign(file=name) for name, audit in audits.items()]
    whole = pd.concat(frames, ignore_index=True)
    first = ["file", *(name for name in whole if name != "file")]
    rows = whole[first].astype(object).where(whole[first].notna(), None)
    data = csv_text([first, *rows.to_numpy().tolist()])
    with writing(folder):
        write_results(
            folder, {"index.html": page_html(index_page), "data.csv": data}, restart=restart
        )
    return index_page


def _result(record: Record) -> SyntheticResult:
    assert isinstance(record.result, SyntheticResult)
    return record.result


def _standing(record: Record) -> float:
    verbatim = _result(record).counts[0]
    return verbatim.standing / verbatim.of


def _guessed(record: Record) -> tuple[float | None, float | None]:
    """Return how often the first secret is recovered from the file, and without it."""
    risks = ((risk, risk.guess) for risk in _result(record).risks)
    risk, guess = next((risk, guess) for risk, guess in risks if guess is not None)
    return risk.everybody.real.value, guess.real.value


def _among_unique(record: Record, people: float) -> float:
    return people / max(1, _result(record).copies.people.unique)


COLUMNS: dict[str, Callable[[tuple[str, Record]], Cell]] = {
    "File": lambda pair: pair[0],
    "Verdict": lambda pair: pair[1].status,
    "Rows of the data": lambda pair: _standing(pair[1]),
    "Unique people in it": lambda pair: _among_unique(
        pair[1], _result(pair[1]).copies.people.standing
    ),
    "By coincidence": lambda pair: _among_unique(pair[1], _result(pair[1]).copies.people.expected),
    "Secret recovered": lambda pair: _guessed(pair[1])[0],
    "Without the file": lambda pair: _guessed(pair[1])[1],
}
