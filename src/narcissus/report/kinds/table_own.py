"""What was recovered from a release that was really made, as a section of the report."""

from __future__ import annotations

from narcissus.report.format import number
from narcissus.report.kinds.table_names import attack_name
from narcissus.report.page import Grid, Section, Text
from narcissus.study.results.table import SettingResult
from narcissus.study.results.table_attacks import OwnRelease


def own_section(setting: SettingResult) -> list[Section]:
    """Give the section about the release itself, if the study names one."""
    own = setting.own_release
    if own is None:
        return []
    return [
        Section(
            "The release itself",
            [Text(_words(own, in_part=setting.share_of_columns)), _grid(own)],
        )
    ]


def _words(own: OwnRelease, *, in_part: bool) -> list[str]:
    people = number(own.people)
    text = [
        f"The file {own.path} was attacked as it stands, about the {people} people of the table. "
        "These are counts of what is right about them: nothing is sampled, and nothing is said of "
        "other people, or of attacks that were not tried.",
        f"Without the release the best guess is right about {number(own.guessed)} of {people}; if "
        f"the prior were right about them it would be about {number(round(own.by_the_prior, 1))}. "
        "A decoy is a release of other secrets by the same mechanism: what an attack gets right "
        "from it, it does not owe to the release.",
    ]
    if in_part:
        text.append(
            "A person counts by the part of the unknown columns that is right: these are sums of "
            "such parts."
        )
    if own.attacks:
        best = max(own.attacks, key=lambda name: own.attacks[name].recovered)
        found = own.attacks[best]
        text.append(
            f"Most are recovered by the attack `{best}`: {number(found.recovered)} of {people}, "
            f"{number(found.recovered - found.from_decoy)} more than from a decoy. It was chosen "
            "after the fact, so it looks a little better than it is."
        )
    return text


def _grid(own: OwnRelease) -> Grid:
    rows = [
        [
            attack_name(name),
            found.recovered,
            found.recovered / own.people,
            found.from_decoy,
            (found.recovered - found.from_decoy) / own.people,
        ]
        for name, found in own.attacks.items()
    ]
    columns = ("Attack", "Right", "Of the people", "Right from a decoy", "More than from a decoy")
    return Grid("Recovered from the release", columns, rows, percent=("Of the people", columns[-1]))
