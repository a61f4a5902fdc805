"""What a page gives away: each figure that depends on real people's records, and how.

A report is a release too. One function reads off a record which of its figures real records
decide; the section of the page, what a form for showing leaves out, and the test that nothing
else changes with the records, all come from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from narcissus.report.about import RealFigure, shown
from narcissus.report.page import Facts, Section, Text
from narcissus.study.keyed import WITHHELD, is_of_nobody, is_secret
from narcissus.study.merging import SMALLER, MergedGroups
from narcissus.study.record import Record

TITLE = "What this page gives away"


FOUND = ("criteria*", "rows*", "result*")
"""All that was found, of a record of rows."""
VERDICT = ("status", "grade", "assumptions", "contradictions", "not_assessed*")


def figures_of(record: Record) -> list[RealFigure]:
    """List the figures of a record, and so of its pages, that real records decide.

    record: As it was made, or without what is left out of what is shown
        (`narcissus.study.shareable`): what is withheld is said to be.
    """
    layout, case = shown(record)
    figures = layout.figures(record, case)
    if not figures:
        return []
    digests = record.provenance.digests
    file_digests = {n: file_digest for n, file_digest in digests.items() if not is_of_nobody(n)}
    if set(file_digests.values()) <= {WITHHELD}:
        how = "Withheld: with them guesses could be tested."
    elif all(is_secret(digest) for digest in file_digests.values()):
        how = (
            "Keyed, and the key stays with the results: nobody else can test guesses by them. They "
            "are left out of what is made to be shown."
        )
    else:
        how = "Plain: a reader who knows nearly all can test guesses."
    if file_digests:
        figures.append(
            RealFigure("Digests of " + ", ".join(file_digests), how, ("provenance.digests.*",))
        )
    seals = ("digest", "portable_digest")
    if record.provenance.entropy:
        seeded = "With it, and all but a few records, guesses can be tried by playing again."
        figures.append(RealFigure("The seed, and digests of the record", seeded, seals))
    else:
        figures.append(RealFigure("The seed", "Withheld: with it guesses could be tried.", seals))
    return figures


def given_away(figures: Sequence[RealFigure]) -> Section:
    if not figures:
        text = "Nothing: no figure here depends on anybody's record."
        return Section(TITLE, [Text([text])])
    text = (
        "Each figure that depends on real records, and how. The guarantee of the "
        "release does not cover these: they are published with this page."
    )
    return Section(TITLE, [Text([text]), Facts([(figure.name, figure.how) for figure in figures])])


def figures_of_files(files: Mapping[str, str], seed: int | None = None) -> list[RealFigure]:
    """List what depends on the files that a command read, by what they hold."""
    how = "All numbers of this page follow from it, exactly where they are no estimates."
    figures = [
        RealFigure(f"{description} ({name})", how, ()) for description, name in files.items()
    ]
    if figures and seed is not None:
        how = "With it guesses of the file can be tried by running the command again."
        figures.append(RealFigure("The seed", how, ()))
    return figures


def merged_words(merged: MergedGroups, people: str = "people") -> str:
    """Describe which groups of real people were too small to be shown by themselves."""
    name = f", “{SMALLER}”" if people == "people" else ""
    phrases = [f"{count} groups by “{by}” are one{name}" for by, count in merged.merged.items()]
    phrases += [f"groups by “{by}” are left out" for by in merged.left_out]
    words = f"No number is about fewer than {merged.least} {people} by itself or by subtraction"
    if merged.least == 1:
        words = "The least size is 1: " + (
            "a group of one reads that person's secret off"
            if people == "people"
            else f"a group of one shows whether that one of the {people} is given back"
        )
    return f"{words}: {'; '.join(phrases)}." if phrases else f"{words}; no group had to be merged."


def groups_of_people(merged: MergedGroups | None) -> str:
    return "Groups are as small as they are." if merged is None else merged_words(merged)
