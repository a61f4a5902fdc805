"""Studies of channels, in words and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from narcissus._outwards import lower, upper
from narcissus.kinds.channel.kind import LIMITED, ChannelDetail
from narcissus.kinds.layout import Headline, Layout, table
from narcissus.report import exact_channel
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Section, Text
from narcissus.report.reach import ERROR, OF_TWO, Reach, RowView, decided, of_100
from narcissus.results import Grade, NotAssessed
from narcissus.rows import Quantity, StudyJudgement, StudyRow
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

ASSUMED = {
    "file": "The table describes the channel as it is, and outputs about the same secret are not "
    "combined unless the study says so.",
    "mechanism": "The mechanism is implemented as described, with the noise that it names.",
    "samples": "Samples are independent, and drawn as the secrets will be when it matters; for "
    "Bayes security the numbers of each secret may also have been fixed beforehand.",
}
_SAMPLES = (
    "The samples were put in random order and cut into growing blocks. Each block was judged by "
    "the estimator that did best on the blocks before, having learned from these alone, so that "
    "nearly all samples count. Lower limits come from all samples: an attacker does no better on "
    "the channel than the best table look-up seems to do, but for a binomial margin. Limits hold "
    "whatever the estimators did."
)


def measured(case: StudyJudgement) -> dict[str, StudyRow]:
    """Return the measures of a channel, of samples those of all of them, by name."""
    return {row.name: row for row in case.findings.rows if row.of in ("measure", "estimate")}


def _is_sampled(case: StudyJudgement) -> bool:
    return case.detail.source == "samples"


def _plain(case: StudyJudgement) -> dict[str, Any]:
    """Return the measures of an exact channel, null where there is none."""
    measures = measured(case)
    by = measures["implied_bayes_risk"].facts["by"]
    return {"implied_by": by, **{name: row.value for name, row in measures.items()}}


class ChannelLayout(Layout):
    """The words of channels."""

    not_covered = (
        "Other secrets, outputs and uses of the channel: how long an answer takes, what is sent "
        "beside it, several outputs about one secret.",
        "What the secret itself gives away once it is guessed.",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        how = "gives away" if _is_sampled(case) else "leaks"
        return study.title or f"What {case.detail.name} {how}"

    def assessed(self, case: StudyJudgement) -> list[str]:
        if _is_sampled(case):
            return [
                "Bayes security: two secrets that are told apart, on samples new to the rule",
                "Bayes risk, for the prior from which the samples were drawn",
            ]
        return [
            "Bayes security: the pair of secrets easiest to tell apart, exactly",
            f"Bayes risk and leakage for a {case.detail.prior} prior, exactly",
            "Capacity and local differential privacy, exactly",
        ]

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        measures = measured(case)
        return [
            NotAssessed(
                f"how low {words} may be",
                measures[name].quantity.why,
                "round the outputs to fewer values before release and sample those, or describe "
                "the channel as a table",
            )
            for name, words in zip(LIMITED, ("Bayes security", "the Bayes risk"), strict=True)
            if _is_sampled(case) and measures[name].quantity.low is None
        ]

    def glance(self, case: StudyJudgement) -> Glance:
        detail: ChannelDetail = case.detail
        row = case.decided_by
        secret = f"one of {number(detail.secrets)} secrets"
        about = seeks("channel and prior", secret, "an output")
        if row is not None and row.name == SECURITY:
            return replace(_of_two(case), about=about)
        return replace(_of_all(case), about=about)

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        if not _is_sampled(case):
            return exact_channel.headline(_plain(case))
        measures = measured(case)
        level = f"{100 * case.detail.confidence:g}% limits"
        risk, security = measures["bayes_risk"], measures["beta_star"]
        without: Headline = (
            "Guessed right without the output",
            MISSING,
            "not recorded",
            "not assessed",
        )
        if "guessing_error" in measures:
            without = (
                without[0],
                percent(1 - measures["guessing_error"].value),
                "the commonest secret on these samples, no limits",
                "approximate",
            )
        half = _turned(security.quantity, half=True)
        return [
            without,
            (
                "Guessed right with the output",
                percent(1 - risk.value),
                f"{level} {_turned(risk.quantity)}",
                "sampled",
            ),
            (
                "Worst two secrets told apart",
                percent(1 - security.value / 2),
                f"{level} {half}; 50% by guessing",
                "sampled",
            ),
        ]

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        return {}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        detail, rows = case.detail, case.findings
        if _is_sampled(case):
            blocks: list[Block] = [_settling(case)]
        else:
            blocks = [exact_channel.measures({"shannon_leakage": None, **_plain(case)})]
            if detail.shown:
                matrix = _matrix(detail.shown, rows.select(of="pair"))
                blocks.append(exact_channel.pairs(detail.shown, matrix, detail.pair))
            if profile := rows.select(of="delta"):
                blocks.append(_profile(profile))
        return [_threat(record, detail), Section("Results", blocks), _method(detail)]

    def subtitle(self, case: StudyJudgement) -> str:
        how = "from samples" if _is_sampled(case) else "exact"
        return f"{number(case.detail.secrets)} secrets, {how}"

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        measures = measured(case)
        risk, security = measures["bayes_risk"], measures["beta_star"]
        grade: Grade = "sampled" if _is_sampled(case) else "proved"
        assumptions, sure = tuple(record.assumptions), ""
        lower_limits = [row.value if row.is_exact else row.quantity.low for row in (risk, security)]
        if _is_sampled(case):
            sure = f", with {100 * case.detail.confidence:g}% confidence"
        else:
            assumptions = (*assumptions, "the release is made as the study describes it")
        limits: list[EveryAttacker] = []
        if lower_limits[0] is not None:
            rate = percent(1 - lower_limits[0], "up")
            text = f"The secret is guessed right at most {rate} of the time{sure}."
            limits.append(EveryAttacker(text, grade, assumptions))
        if lower_limits[1] is not None:
            rate = percent(1 - lower_limits[1] / 2, "up")
            text = (
                f"No two secrets are told apart more than {rate} of the time{sure} (50% by chance)."
            )
            limits.append(EveryAttacker(text, grade, assumptions))
        return Subject(
            f"An output that depends on which of {number(case.detail.secrets)} secrets is true.",
            limits=tuple(limits),
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        risk = measured(case)["bayes_risk"]
        text = f"{percent(1 - risk.value)} of secrets are guessed right with the output"
        answer = Answered(text, risk.quantity.grade)
        return {"inference": answer, "side channels": replace(answer, text=f"{text}, if it is one")}

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
UNSEEN = "how long an answer takes, what is sent beside it, other uses of the channel"
UNLIMITED = "Any attacker might get all 100 right: these outputs set no lower limit."


def _limited(case: StudyJudgement, row: StudyRow, text: str, view: RowView) -> Reach:
    """Word what no attacker exceeds: the number itself, or its upper limit."""
    quantity = view.of(row.quantity)
    limit = quantity.high if _is_sampled(case) else quantity.value
    return Reach(text, quantity.model_copy(update={"value": limit}), row, view=view)


def _guessed(case: StudyJudgement) -> Quantity | None:
    """Return what is guessed without the output; None where that was not recorded."""
    if (row := measured(case).get("guessing_error")) is None:
        return None
    return Quantity(value=1 - row.value, grade="approximate" if _is_sampled(case) else "proved")


def _of_all(case: StudyJudgement) -> Glance:
    """Word how many secrets are guessed."""
    measures = measured(case)
    security = measures[SECURITY]
    without = Reach("What is guessed without the output was not recorded.")
    if (guess := _guessed(case)) is not None:
        without = Reach("Without the output, guessing gets {} secrets right.", guess)
    return Glance(
        unit="secrets",
        without=without,
        with_it=decided("With the output, the best attacker gets {} right.", ERROR),
        most=_limited(case, measures["bayes_risk"], "No attacker gets more than {} right.", ERROR),
        unlimited=UNLIMITED,
        hardest=_hardest(case, 1 - security.value / 2),
        unseen=UNSEEN,
        accepted="{} secrets guessed right",
        view=ERROR,
        interval="How often a secret is guessed",
    )


def _hardest(case: StudyJudgement, success: float) -> str:
    """Name a pair that no other exceeds; of samples, one that seems so where there are others."""
    detail: ChannelDetail = case.detail
    a, b = detail.pair
    right = f"An attacker is right {of_100(success)} times, a coin 50."
    if _is_sampled(case) and detail.secrets > 2:
        return f"{a!r} and {b!r} seem easiest to tell apart. {right}"
    return f"No two secrets are easier to tell apart than {a!r} and {b!r}. {right}"


def _of_two(case: StudyJudgement) -> Glance:
    """Word how often two secrets are told apart."""
    measures = measured(case)
    a, b = case.detail.pair
    success = 1 - measures["bayes_risk"].value
    hardest = f"Of all secrets, the best attacker guesses {of_100(success)}"
    guess = _guessed(case)
    if guess is not None and guess.value is not None:
        hardest += f", and {of_100(guess.value)} without the output"
    return Glance(
        unit=f"attempts to tell {a!r} from {b!r}",
        without=Reach(
            "A coin tells two secrets apart {} times.", Quantity(value=0.5, grade="proved")
        ),
        with_it=decided(f"With the output, an attacker tells {a!r} from {b!r} {{}} times.", OF_TWO),
        most=_limited(
            case,
            measures[SECURITY],
            "No attacker tells two secrets apart more than {} times.",
            OF_TWO,
        ),
        unlimited=UNLIMITED,
        hardest=f"{hardest}.",
        unseen=UNSEEN,
        accepted="{} times right at telling two secrets apart",
        view=OF_TWO,
        interval="How often two are told apart",
    )


def _turned(value: Quantity, *, half: bool = False) -> str:
    """Return the limits of an error as those of the success."""
    scale = 0.5 if half else 1.0
    low = None if value.high is None else 1 - scale * value.high
    high = None if value.low is None else 1 - scale * value.low
    return limits(low, high)


def _matrix(secrets: Sequence[str], pairs: Sequence[StudyRow]) -> list[list[float]]:
    """Return Bayes security of each two secrets; nobody tells a secret from itself."""
    known = {(row.at["other"], row.name): row.value for row in pairs}
    known |= {(other, secret): value for (secret, other), value in known.items()}
    return [[known.get((secret, other), 1.0) for other in secrets] for secret in secrets]


def _profile(rows: Sequence[StudyRow]) -> Figure:
    epsilon, delta = [float(row.at["epsilon"]) for row in rows], [row.value for row in rows]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE

        axes = figure.add_subplot()
        axes.plot(epsilon, delta, marker=".", color=BLUE)
        axes.set_xlabel("epsilon")
        axes.set_ylabel("smallest delta")
        axes.set_ylim(bottom=0)

    columns = {"epsilon": "epsilon", "delta": "value"}
    return Figure(
        "How much local differential privacy the channel offers",
        f"Delta falls from {delta[0]:.4g} at epsilon 0 to {delta[-1]:.4g} at {epsilon[-1]:.4g}.",
        draw,
        table("The smallest delta at each epsilon", rows, columns, graded=False, folded=True),
        name="profile",
    )


def _settling(case: StudyJudgement) -> Figure:
    security, risk = (
        [row for row in case.findings.select(of="estimate") if row.name == name] for name in LIMITED
    )

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, RUST

        axes = figure.add_subplot()
        for rows, label, marker, colour in (
            (security, "Bayes security", "o", BLUE),
            (risk, "Bayes risk", "s", RUST),
        ):
            sizes = [row.at["samples"] for row in rows]
            estimates = [row.value for row in rows]
            axes.plot(sizes, estimates, marker=marker, label=label, color=colour)
            low, high = zip(*map(_between, rows), strict=True)
            axes.fill_between(sizes, low, high, alpha=0.15, color=colour)
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_xlabel("samples used (log scale)")
        axes.legend()

    rows = [
        [int(beta.at["samples"]), beta.value, _limits(beta), other.value, _limits(other)]
        for beta, other in zip(security, risk, strict=True)
    ]
    first, last = (high - low for low, high in map(_between, (risk[0], risk[-1])))
    beta, other = security[-1], risk[-1]
    return Figure(
        "The limits close in as more samples are used"
        if last < first
        else "The limits at each number of samples",
        f"With all {beta.at['samples']:g} samples Bayes security is {beta.value:.3g} "
        f"({_limits(beta)}) and the Bayes risk {other.value:.3g} ({_limits(other)}).",
        draw,
        Grid(
            f"Estimates with {100 * case.detail.confidence:g}% limits, which hold at each size by "
            "itself",
            ("Samples", "Bayes security", "Limits", "Bayes risk", "Limits of it"),
            rows,
            grades=["sampled" for _ in rows],
        ),
        name="samples",
    )


def _between(row: StudyRow) -> tuple[float, float]:
    low, high = row.quantity.low, row.quantity.high
    return low or 0.0, 1.0 if high is None else high


def _limits(row: StudyRow) -> str:
    low, high = row.quantity.low, row.quantity.high
    top = "" if high is None else upper(high, places=4)
    if low is None:
        return f"at most {top}" if top else MISSING
    bottom = lower(low, places=4)
    return f"{bottom} to {top}" if top else f"at least {bottom}"


def _threat(record: Record, detail: ChannelDetail) -> Section:
    threshold: dict[str, Any] = record.study.get("threshold") or {}
    facts = [("Channel", detail.name), ("Secrets", number(detail.secrets))]
    if detail.source != "samples":
        uses = record.study.get("channel", {}).get("uses", MISSING)
        facts += [("Prior", detail.prior), ("Outputs that the attacker sees", str(uses))]
    names = zip(LIMITED, ("Bayes security at least", "Bayes risk at least"), strict=True)
    facts += [(f"Threshold: {w}", number(threshold[k])) for k, w in names if threshold.get(k)]
    facts += [(f"Threshold: {k}", threshold[k]) for k in ("reason", "origin") if threshold.get(k)]
    return Section(
        "Threat model and assumptions",
        [
            Text(
                [
                    "A secret is drawn, the channel gives an output, and the attacker, who knows "
                    "the channel and the prior, names the secret in one guess. Bayes security is "
                    "about the worst case: the attacker knows that the secret is one of two, "
                    "equally likely, and these are the two easiest to tell apart."
                ]
            ),
            Facts(facts),
            Items("Assumed (nothing here tests it)", [ASSUMED[detail.source]]),
        ],
    )


def _method(detail: ChannelDetail) -> Section:
    if detail.source != "samples":
        text = (
            "All numbers are computed from the channel; nothing is sampled. Bayes security is the "
            "least overlap of two rows (Chatzikokolakis et al. 2023, Theorems 1 and 2), found "
            "among all pairs."
        )
        return Section("Method", [Text([text])])
    errors = sorted(detail.estimators.items(), key=lambda e: e[1])
    tried = Grid(
        "Estimators, by their error on the samples on which they were compared",
        ("Estimator", "Error"),
        [[name, error] for name, error in errors],
        grades=["sampled" for _ in errors],
    )
    return Section("Method", [Text([_SAMPLES]), tried])
