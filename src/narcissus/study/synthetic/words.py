"""What an audit of a given file says in words, and what it cannot say."""

from __future__ import annotations

from narcissus._outwards import lower, upper
from narcissus.results import NotAssessed
from narcissus.study.results.synthetic import RiskResult, SyntheticResults

ASSUMPTIONS = (
    "the people of the control are of the same population as those of the real data, set aside at "
    "random, and nothing of them went into the synthetic file",
    "the people of both are independent of one another: no household or person is in both",
)

NOT_COVERED = [
    "The mechanism: this is about one file. One that reveals everybody with chance q shows nothing "
    "in a file with chance 1 - q, so no number of people in one file can show that it is safe: at "
    "level .95 the limit would be q = .95.",
    "Other attackers: one who knows more, tries other attacks, or holds other files.",
    "What the file teaches about everybody. It is reported beside the guess without the release, "
    "and it is no excess: it holds for people who are not in the data as well.",
    "Groups that the control has nobody of, and households that stand on both sides.",
]


def verdict_words(results: SyntheticResults) -> str:
    """Describe the verdict in a short paragraph; it never says that a risk is met."""
    if results.unlike is None:
        first = results.risks[0]
        assert first.guess is not None
        return (
            "Not assessed: without people who are not in the data, nothing tells what is due to "
            f"the release from what holds for everybody. {first.secret} is guessed right from the "
            f"file for {_share(first.real.share)} of people in the data, and for "
            f"{_share(first.guess.real.share)} without the file."
        )
    if results.unlike.is_shown:
        unlike = results.unlike
        return (
            "Not assessed: the control is not of the same population as the real data. "
            f"{unlike.column} is {unlike.value} for {_share(unlike.real)} of the one and "
            f"{_share(unlike.control)} of the other (corrected p-value {unlike.p_value:.2g}), so "
            "what sets them apart need not be the release."
        )
    beyond = [risk for risk in results.risks if risk.verdict == "exceeded"]
    if beyond:
        said = "; ".join(map(_beyond, beyond))
        return f"Exceeded: people in the data are hit more often than others like them. {said}."
    worst = max(results.risks, key=lambda risk: risk.excess.high if risk.excess else 1.0)
    assert worst.excess is not None
    return (
        "Not shown: no attack is shown to hit people in the data more often than others like them "
        f"by more than what is accepted. This is no proof: {worst.name} may still exceed the "
        f"control by {upper(100 * worst.excess.high, places=1)} points."
    )


def _beyond(risk: RiskResult) -> str:
    assert risk.control is not None
    assert risk.excess is not None
    said = (
        f"{risk.name[0].upper()}{risk.name[1:]}: {_share(risk.real.share)} against "
        f"{_share(risk.control.share)}, an excess of at least "
        f"{lower(100 * risk.excess.low, places=1)} points where "
        f"{_points(risk.at_most) if risk.at_most else 'none'} is accepted"
    )
    if risk.excess.low > risk.at_most:
        return said
    groups = ", ".join(f"{g.by} {g.group}" for g in risk.groups_beyond)
    return f"{risk.name[0].upper()}{risk.name[1:]}: beyond what is accepted in {groups}"


def not_assessed(results: SyntheticResults) -> list[NotAssessed]:
    """Return what was asked and not answered, and what would answer it."""
    found: list[NotAssessed] = []
    if results.unlike is None:
        found.append(
            NotAssessed(
                "what is due to the release",
                "there is no control, and people of the real data cannot stand in for one: the "
                "file was made from them",
                "set people aside at random before the file is made, and give them as the control",
            )
        )
    elif results.unlike.is_shown:
        found.append(
            NotAssessed(
                "what is due to the release",
                "the control differs from the real data in more than chance allows",
                "take the control at random from the people that the data were taken from",
            )
        )
    for risk in results.risks:
        if risk.excess is not None and risk.excess.detectable is None:
            found.append(
                NotAssessed(
                    f"an excess of {risk.name}",
                    "with so few people not even a hit on everybody would have shown it",
                    "give more people on both sides",
                )
            )
    absent = {f"{g.by} {g.group}" for r in results.risks for g in r.groups if g.control is None}
    if absent and results.unlike is not None:
        found.append(
            NotAssessed(
                f"the excess in {', '.join(sorted(absent))}",
                "nobody of them was scored in the control",
                "give more people of these groups in the control",
            )
        )
    return found


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _points(value: float) -> str:
    return f"{100 * value:.1f} points"
