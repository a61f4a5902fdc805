"""What a page gives away: each figure that depends on real people's records, and how.

A report is a release too. One function reads off a record which of its figures real records
decide; the section of the page, what a form for showing leaves out, and the test that nothing
else changes with the records, all come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from narcissus.report.about import RealFigure, shown
from narcissus.report.page import Facts, Section, Text
from narcissus.study.keyed import WITHHELD, is_of_nobody, is_secret
from narcissus.study.merging import SMALLER
from narcissus.study.record import Record
from narcissus.study.results.base import MergedGroups
from narcissus.study.upgrade import FORMAT_2

TITLE = "What this page gives away"


FOUND = ("criteria*", "rows*", "detail*")
"""All that was found, of a record of rows."""
VERDICT = ("verdict", "status", "grade", "assumptions", "contradictions", "not_assessed*")
_JUDGED = (
    *("verdict", "status", "grade", "assumptions", "contradictions", "odds", "evidence_*", "best"),
    *("excesses*", "findings*", "held_back_by", "trials_needed", "precision*", "trials"),
)
_MEASURED = ("guess.*", "attacks.*", "ceiling*", "bounds*", "decides")


def _within(*names: str) -> tuple[str, ...]:
    return tuple(f"results.{name}" for name in names)


def figures_of(record: Record) -> list[RealFigure]:
    """List the figures of a record, and so of its pages, that real records decide.

    Parameters
    ----------
    record
        As it was made, or without what is left out of what is shown
        (`narcissus.study.shareable`): what is withheld is said to be.
    """
    if (layout := shown(record)) is not None:
        own = layout[0].figures(record, layout[1])
    else:
        own = _BY_KIND.get(record.kind, _of_another)(record)
    if not own:
        return []
    digests = record.provenance.digests
    held = {n: one for n, one in digests.items() if not is_of_nobody(n) and n != FORMAT_2}
    if set(held.values()) <= {WITHHELD}:
        how = "Withheld: with them guesses could be tested."
    elif all(is_secret(digest) for digest in held.values()):
        how = (
            "Keyed, and the key stays with the results: nobody else can test guesses by them. They "
            "are left out of what is made to be shown."
        )
    else:
        how = (
            "Plain, as earlier versions made it: whoever knows nearly all can test guesses by them."
        )
    if held:
        own.append(RealFigure("Digests of " + ", ".join(held), how, ("provenance.digests.*",)))
    seals = ("digest", "portable_digest", f"provenance.digests.{FORMAT_2}")
    if record.provenance.entropy:
        seeded = "With it, and all but a few records, guesses can be tried by playing again."
        own.append(RealFigure("The seed, and digests of the record", seeded, seals))
    else:
        own.append(RealFigure("The seed", "Withheld: with it guesses could be tried.", seals))
    return own


def given_away(figures: Sequence[RealFigure]) -> Section:
    if not figures:
        text = "Nothing: no figure here depends on anybody's record."
        return Section(TITLE, [Text([text])])
    text = (
        "Each figure that depends on real records, and how. The guarantee of the "
        "release does not cover these: they are published with this page."
    )
    return Section(TITLE, [Text([text]), Facts([(one.name, one.how) for one in figures])])


def figures_of_files(files: Mapping[str, str], seed: int | None = None) -> list[RealFigure]:
    """List what depends on the files that a command read, by what they hold."""
    how = "All numbers of this page follow from it, exactly where they are no estimates."
    found = [RealFigure(f"{what} ({name})", how, ()) for what, name in files.items()]
    if found and seed is not None:
        how = "With it guesses of the file can be tried by running the command again."
        found.append(RealFigure("The seed", how, ()))
    return found


def _of_table(record: Record) -> list[RealFigure]:
    settings = record.results.settings
    threat, prior = record.study["threat"], record.study["prior"]
    name = str(prior.get("name") or prior.get("kind") or "the prior")
    one = settings[0]
    real = threat["people"] != "prior"
    copies = " It is the rows themselves, so that people drawn are copies of them." * (
        name == "empirical"
    )
    found = [
        RealFigure(
            "The prior",
            f"{name}, made from the rows: all that is guessed, proved or compared leans on it."
            f"{copies}",
            (),
        ),
        _scored(record) if real else RealFigure(
            "Shares, limits, bounds and the verdict",
            "Over people drawn from the prior: they depend on real rows through the prior alone.",
            (*VERDICT, *_within(*_MEASURED, *_JUDGED)),
        ),
        RealFigure(
            "Names and numbers of values, bins, cells",
            "As the rows have them; bins by quantiles or common values are made from the rows.",
            ("assessed*", "title", *_within("cells", "marginals", "groups.group")),
        ),
    ]  # fmt: skip
    if threat["people"] == "all":
        how = f"All rows of the table: {one.people:,}."
        found.append(RealFigure("The number of people", how, _within("people")))
    if one.guess.held_out:
        how = "Scored on rows that the prior was not fitted to."
        found.append(RealFigure("Guesses by other priors", how, _within("guess.held_out*")))
    if any(setting.groups or setting.merged for setting in settings):
        how = (
            f"Names and shares over real people. {groups_of_people(one.merged)}"
            if real
            else "Names and shares over people drawn from the prior."
        )
        found.append(RealFigure("Groups", how, _within("groups*", "merged*")))
    if one.own_release is not None:
        how = (
            f"Counts over all {one.own_release.people:,} people of the data, exact: whoever knows "
            "of all but one whether they were recovered learns it of the last."
        )
        found.append(RealFigure("What is recovered from the release that was made", how, _within(
            "own_release*")))  # fmt: skip
    return found


def _scored(record: Record) -> RealFigure:
    one = record.results.settings[0]
    everybody = record.study["threat"]["people"] == "all"
    who = f"all {one.people:,} people of the table" if everybody else "real rows that are drawn"
    exact = (
        " The guess, and attacks without chance, are exact counts: whoever knows of all but one of "
        "them whether they were hit learns it of the last."
    )
    few = ""
    if everybody and one.people < 10:
        few = " These are so few that the shares are about each of them: do not show this page."
    return RealFigure(
        "Shares, limits and the verdict",
        f"Scored on {who}, whatever the guarantee of the release.{exact * everybody}{few}",
        (*VERDICT, *_within(*_MEASURED, *_JUDGED)),
    )


def merged_words(merged: MergedGroups, people: str = "people") -> str:
    """Describe which groups of real people were too small to be shown by themselves."""
    name = f", “{SMALLER}”" if people == "people" else ""
    said = [f"{count} groups by “{by}” are one{name}" for by, count in merged.merged.items()]
    said += [f"groups by “{by}” are left out" for by in merged.left_out]
    words = f"No number is about fewer than {merged.least} {people} by itself or by subtraction"
    if merged.least == 1:
        words = "The least size is 1: " + (
            "a group of one reads that person's secret off"
            if people == "people"
            else f"a group of one shows whether that one of the {people} is given back"
        )
    return f"{words}: {'; '.join(said)}." if said else f"{words}; no group had to be merged."


def groups_of_people(merged: MergedGroups | None) -> str:
    if merged is None:
        return "No least size: the record is of an earlier version."
    return merged_words(merged)


def _of_another(_: Record) -> list[RealFigure]:
    how = "How they depend on real records is not known of this kind of study."
    return [RealFigure("All numbers", how, ("*",))]


_BY_KIND: dict[str, Callable[[Any], list[RealFigure]]] = {
    "table": _of_table,
}
