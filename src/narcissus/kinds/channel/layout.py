"""Studies of channels, in words and as a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from narcissus.judgement import StudyJudgement
from narcissus.kinds.channel.blocks import describe_method, describe_results, describe_threat
from narcissus.kinds.channel.kind import LIMITED, ChannelResult, EstimatedLeakage, ExactLeakage
from narcissus.kinds.layout import Headline, Layout
from narcissus.report import exact_channel
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import limits, number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Section
from narcissus.report.reach import ERROR, OF_TWO, Reach, RowView, decided, of_100
from narcissus.results import NotAssessed
from narcissus.rows import Quantity
from narcissus.study.record import Record


def _is_sampled(case: StudyJudgement) -> bool:
    return isinstance(case.result.leakage, EstimatedLeakage)


class ChannelLayout(Layout):
    """The words of channels."""

    not_covered = (
        "Other secrets, outputs and uses of the channel: how long an answer takes, what is sent "
        "alongside it, several outputs about one secret.",
        "The information in the secret itself once it is guessed.",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        how = "gives away" if _is_sampled(case) else "leaks"
        return study.title or f"What {case.result.name} {how}"

    def assessed(self, case: StudyJudgement) -> list[str]:
        if _is_sampled(case):
            return [
                "Bayes security: two secrets that are told apart, on samples new to the rule",
                "Bayes risk, for the prior from which the samples were drawn",
            ]
        return [
            "Bayes security: the pair of secrets easiest to tell apart, exactly",
            f"Bayes risk and leakage for a {case.result.leakage.prior} prior, exactly",
            "Capacity and local differential privacy, exactly",
        ]

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        leakage = case.result.leakage
        limited = (("Bayes security", leakage.security), ("the Bayes risk", leakage.risk))
        return [
            NotAssessed(
                f"how low {words} may be",
                quantity.why,
                "round the outputs to fewer values before release and sample those, or describe "
                "the channel as a table",
            )
            for words, quantity in limited
            if _is_sampled(case) and quantity.low is None
        ]

    def glance(self, case: StudyJudgement) -> Glance:
        result, row = case.result, case.decided_by
        is_of_two = row is not None and row.name == SECURITY
        about = seeks("channel and prior", f"one of {number(result.secrets)} secrets", "an output")
        return replace(_of_two(result) if is_of_two else _of_all(result), about=about)

    def numbers(self, case: StudyJudgement) -> list[Headline]:
        leakage = case.result.leakage
        if isinstance(leakage, ExactLeakage):
            return exact_channel.headline(leakage.measures)
        level = f"{100 * leakage.confidence:g}% limits"
        risk, of_two = ERROR.of(leakage.risk), OF_TWO.of(leakage.security)
        return [
            (
                "Guessed right without the output",
                percent(leakage.guess.value),
                "the commonest secret on these samples, no limits",
                "approximate",
            ),
            (
                "Guessed right with the output",
                percent(risk.value),
                f"{level} {limits(risk.low, risk.high)}",
                "sampled",
            ),
            (
                "Worst two secrets told apart",
                percent(of_two.value),
                f"{level} {limits(of_two.low, of_two.high)}; 50% by guessing",
                "sampled",
            ),
        ]

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: ChannelResult = case.result
        return [
            describe_threat(record, result),
            describe_results(result),
            describe_method(result.leakage),
        ]

    def subtitle(self, case: StudyJudgement) -> str:
        how = "from samples" if _is_sampled(case) else "exact"
        return f"{number(case.result.secrets)} secrets, {how}"

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        leakage, assumptions, sure = case.result.leakage, tuple(record.assumptions), ""
        if _is_sampled(case):
            sure = f", with {100 * leakage.confidence:g}% confidence"
        else:
            assumptions = (*assumptions, "the release is made as the study describes it")
        texts = (
            (ERROR, leakage.risk, "The secret is guessed right at most {rate} of the time{sure}."),
            (
                OF_TWO,
                leakage.security,
                "No two secrets are told apart more than {rate} of the time{sure} (50% by chance).",
            ),
        )
        limits: list[EveryAttacker] = []
        for view, quantity, text in texts:
            if (high := _highest(quantity, view)) is not None:
                words = text.format(rate=percent(high, "up"), sure=sure)
                limits.append(EveryAttacker(words, quantity.grade, assumptions))
        return Subject(
            f"An output that depends on which of {number(case.result.secrets)} secrets is true.",
            limits=tuple(limits),
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        risk = ERROR.of(case.result.leakage.risk)
        text = f"{percent(risk.value)} of secrets are guessed right with the output"
        return {"inference": Answered(text, risk.grade)}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        spec = record.study["channel"]
        where = (*VERDICT, "assessed*", "title", *FOUND)
        texts = {
            "samples": ("The samples", "All numbers are estimated from them."),
            "file": (
                "The channel",
                "All numbers follow from the channel; who made it from records shows them.",
            ),
            "prior": ("The prior", "The chances of the secrets, which numbers follow from."),
        }
        return [RealFigure(*texts[name], where) for name in texts if spec.get(name) is not None]


LAYOUT = ChannelLayout()


SECURITY = LIMITED[0]
UNSEEN = "how long an answer takes, what is sent alongside it, other uses of the channel"
UNLIMITED = "Any attacker might get all 100 right: these outputs set no lower limit."


def _highest(quantity: Quantity, view: RowView) -> float | None:
    """Return what no attacker exceeds: the number itself, or its upper limit."""
    success = view.of(quantity)
    return success.value if quantity.grade == "proved" else success.high


def _limited(quantity: Quantity, text: str, view: RowView) -> Reach:
    """Word what no attacker exceeds."""
    limit = view.of(quantity).model_copy(update={"value": _highest(quantity, view)})
    return Reach(text, limit, view=view)


def _of_all(result: ChannelResult) -> Glance:
    """Word how many secrets are guessed."""
    leakage = result.leakage
    return Glance(
        unit="secrets",
        without=Reach("Without the output, guessing gets {} secrets right.", leakage.guess),
        with_it=decided("With the output, the best attacker gets {} right.", ERROR),
        most=_limited(leakage.risk, "No attacker gets more than {} right.", ERROR),
        unlimited=UNLIMITED,
        hardest=_hardest(result),
        unseen=UNSEEN,
        accepted="{} secrets guessed right",
        view=ERROR,
        interval="How often a secret is guessed",
    )


def _hardest(result: ChannelResult) -> str:
    """Name a pair that no other exceeds; of samples, one that seems so where there are others."""
    (a, b), leakage = result.pair, result.leakage
    right = f"An attacker is right {_of_100(leakage.security, OF_TWO)} times, a coin 50."
    if isinstance(leakage, EstimatedLeakage) and result.secrets > 2:
        return f"{a!r} and {b!r} seem easiest to tell apart. {right}"
    return f"No two secrets are easier to tell apart than {a!r} and {b!r}. {right}"


def _of_100(quantity: Quantity, view: RowView) -> str:
    return of_100(view.of(quantity).value or 0.0)


def _of_two(result: ChannelResult) -> Glance:
    """Word how often two secrets are told apart."""
    (a, b), leakage = result.pair, result.leakage
    guessed = of_100(leakage.guess.value or 0.0)
    return Glance(
        unit=f"attempts to tell {a!r} from {b!r}",
        without=Reach(
            "A coin tells two secrets apart {} times.", Quantity(value=0.5, grade="proved")
        ),
        with_it=decided(f"With the output, an attacker tells {a!r} from {b!r} {{}} times.", OF_TWO),
        most=_limited(
            leakage.security, "No attacker tells two secrets apart more than {} times.", OF_TWO
        ),
        unlimited=UNLIMITED,
        hardest=f"The best attacker guesses {_of_100(leakage.risk, ERROR)} secrets, and "
        f"{guessed} without the output.",
        unseen=UNSEEN,
        accepted="{} times right at telling two secrets apart",
        view=OF_TWO,
        interval="How often two are told apart",
    )
