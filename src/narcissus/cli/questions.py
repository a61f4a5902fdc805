"""The guarantees, the prior knowledge and the questions that `bound`, `protect` and others take."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, NamedTuple, cast

import click

from narcissus._outwards import lower, upper
from narcissus._validation import did_you_mean, one_of, probability
from narcissus.cli.options import InFile, Opt, print_json
from narcissus.cli.rooms import bounds, guarantees, priors
from narcissus.errors import InputError

SECRETS = ("value", "membership")
ADJACENCIES = ("replace-one", "add-remove")
_INTERVAL = 1e-3  # of privacy losses, for DP-SGD
_MOST_BITS = 1000  # beyond them 2^-bits leaves the range of a float

# What the library calls an argument -> the option that it came from.
_NAMED_ALIKE = [
    "adjacency",
    "advantage",
    "at_least",
    "at_most",
    "base_rate",
    "canaries",
    "coins",
    "confidence",
    "correct",
    "delta",
    "epsilon",
    "fpr",
    "guesses",
    "guesses_chosen",
    "inseparable",
    "mu",
    "pairs",
    "precision",
    "prior",
    "prior_distance",
    "prior_factor",
    "priors",
    "recall",
    "rho",
    "scores",
    "targets",
    "threshold",
    "tpr",
    "values",
    "within",
]
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _NAMED_ALIKE} | {
    "alpha": "--renyi ALPHA",
    "beta_star": "--bayes-security",
    "chosen_from": "--chosen-from",
    "claimed": "--claim",
    "exact_match": "--success",
    "gamma": "--renyi GAMMA",
    "guarantee": "--adjacency",
    "interval": "--dp-sgd interval",
    "members": "--scores",
    "most": "--until",
    "noise": "--dp-sgd noise",
    "rate": "--dp-sgd rate",
    "steps": "--dp-sgd steps",
    "success": "--success-at-most",
}

DP_SGD_ADJACENCY = (
    "`--adjacency` does not go with `--dp-sgd`, which is accounted for what is asked: a "
    "replaced record, or with `--secret membership` an added or removed one; drop it"
)


@contextmanager
def option_names(**renamed: str) -> Generator[None]:
    """Replace argument names in errors by option names; ``renamed`` overrides single entries."""
    names = {**_OPTIONS, **renamed}
    try:
        yield
    except InputError as error:
        message = re.sub(
            r"`(\w+)`", lambda m: f"`{names[m[1]]}`" if m[1] in names else m[0], str(error)
        )
        raise type(error)(message) from error


def numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"`{option}` must be numbers separated by commas; got {text!r}") from error


def _several(_: object, option: click.Parameter, texts: tuple[str, ...]) -> tuple[float, ...]:
    """Parse ``N1,N2,...``, each number once."""
    return tuple(dict.fromkeys(n for text in texts for n in numbers(option.opts[0], text)))


Several = Annotated[tuple[float, ...], Opt(click.STRING, check=_several)]


@dataclass(frozen=True)
class GivenGuarantee:
    """The options of which one names a guarantee."""

    epsilon: float | None = None
    delta: float | None = None
    mu: float | None = None
    rho: float | None = None
    renyi: str | None = None
    dp_sgd: str | None = None
    bayes_security: float | None = None
    profile: InFile = None
    pld: InFile = None
    adjacency: str = "replace-one"

    @property
    def named(self) -> list[str]:
        """The options that name a guarantee and are given."""
        return [f"--{n.replace('_', '-')}" for n in self._names if getattr(self, n) is not None]

    @property
    def _names(self) -> list[str]:
        return [field.name for field in fields(self) if field.name not in ("delta", "adjacency")]

    def make(self, secret: guarantees.Secret = "value") -> guarantees.Guarantee:
        """Build the one guarantee that the options name, converted for the question asked."""
        named = self.named
        if len(named) != 1:
            known = ", ".join(f"--{name.replace('_', '-')}" for name in self._names)
            problem = f"got {' and '.join(named)}" if named else "got none"
            raise InputError(f"exactly one guarantee must be given ({known}), {problem}")
        if self.delta is not None and self.epsilon is None:
            raise InputError(
                f"`--delta` goes with `--epsilon` only, not with `{named[0]}`; drop it"
            )
        around = cast("guarantees.Adjacency", one_of("--adjacency", self.adjacency, ADJACENCIES))
        if (path := self.profile or self.pld) is not None:
            read = guarantees.read_losses if self.profile is None else guarantees.read_profile
            try:  # the names in these errors are those of columns
                guarantee = read(path, adjacency=around, secret=secret)
                return guarantees.as_asked(guarantee, secret)
            except InputError as error:
                raise type(error)(f"`{named[0]}`: {error}") from error
        if self.dp_sgd is not None and around != "replace-one":
            raise InputError(DP_SGD_ADJACENCY)
        with option_names():
            if self.dp_sgd is not None:
                settings = dp_sgd_settings(self.dp_sgd, ("noise", "rate", "steps"))
                return guarantees.dp_sgd(**settings, secret=secret)
            return guarantees.as_asked(self._of_parameters(around), secret)

    def _of_parameters(self, around: guarantees.Adjacency) -> guarantees.Guarantee:
        if self.epsilon is not None and self.delta:
            return guarantees.ApproximateDP(self.epsilon, self.delta, adjacency=around)
        if self.epsilon is not None:
            return guarantees.PureDP(self.epsilon, adjacency=around)
        if self.mu is not None:
            return guarantees.GaussianDP(self.mu, adjacency=around)
        if self.rho is not None:
            return guarantees.ZeroConcentratedDP(self.rho, adjacency=around)
        if self.bayes_security is not None:
            return guarantees.BayesSecurity(self.bayes_security, adjacency=around)
        parts = (self.renyi or "").split(":")
        if len(parts) != 2:
            raise InputError(f"`--renyi` must be ALPHA:GAMMA, such as 4:0.5; got {self.renyi!r}")
        alpha, gamma = (numbers("--renyi", part)[0] for part in parts)
        return guarantees.RenyiDP(alpha, gamma, adjacency=around)


_OF_TRAINING = {
    "sampling": ("poisson", "fixed", "shuffled"),
    "divisor": ("constant", "expected", "sampled"),
}
"""What else --dp-sgd takes of the training program, each with its words."""


def dp_sgd_settings(text: str, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``noise=..,rate=..,steps=..``, and ``sampling``, ``divisor``, ``interval`` if given.

    Losses are rounded up to multiples of the interval, so a coarse one is valid. Ten times the
    library's default is ten times faster and costs about 1e-5 of success.
    """
    form = ",".join(f"{name}=.." for name in wanted)
    example = {"noise": "1.1", "rate": "0.01", "steps": "1000"}
    settings: dict[str, Any] = {}
    for part in text.split(","):
        name, sign, value = part.strip().partition("=")
        if not sign or name not in {*wanted, *_OF_TRAINING, "interval"} or name in settings:
            raise InputError(
                f"`--dp-sgd` must be {form}, each once, such as "
                f"{','.join(f'{w}={example[w]}' for w in wanted)}; got {text!r}"
                f"{did_you_mean(name, wanted) if name not in settings else ''}"
            )
        if name in _OF_TRAINING:
            settings[name] = one_of(f"--dp-sgd {name}", value.strip(), _OF_TRAINING[name])
        else:
            settings[name] = numbers(f"--dp-sgd {name}", value)[0]
    missing = ", ".join(sorted(set(wanted) - set(settings)))
    if missing:
        raise InputError(f"`--dp-sgd` lacks {missing}: give {form}")
    return {"interval": _INTERVAL, **settings}


def of_guarantee(guarantee: guarantees.Guarantee) -> dict[str, str]:
    """Return the JSON keys of a converted guarantee; none for others."""
    return {"converted_from": guarantee.converted_from} if guarantee.converted_from else {}


@dataclass(frozen=True)
class PriorKnowledge:
    """The options of which one says what an attacker knows beforehand."""

    prior: float | None = None
    values: str | None = None
    zipf: str | None = None
    priors: InFile = None

    @property
    def options(self) -> dict[str, object]:
        return {f"--{field.name}": getattr(self, field.name) for field in fields(self)}

    def only(self) -> str:
        """Return the one option that was used."""
        options = [option for option, value in self.options.items() if value is not None]
        if len(options) == 1:
            return options[0]
        *others, last = (f"`{option}`" for option in self.options)
        flaw = f"got {' and '.join(options)}" if options else "got none"
        raise InputError(
            f"{', '.join(others)} or {last} must be given, and only one, {flaw}: what the attacker "
            "knows beforehand, from the success of the best guess to the whole distribution"
        )

    def of(self, secret: guarantees.Secret) -> PriorKnowledge:
        """Return the knowledge: for membership the best guess determines the whole prior."""
        if secret == "value" or self.prior is None:
            return self
        best = probability("--prior", self.prior)
        return replace(self, prior=None, values=f"{best!r},{1.0 - best!r}")

    def people(
        self, needless: Mapping[str, object], nearby: bounds.Nearby | None = None
    ) -> bounds.ThreatToPeople | None:
        """Read the people of ``--priors``; refuse options that contradict them."""
        if self.priors is None:
            return None
        for option, value in needless.items():
            if value is not None:
                raise InputError(
                    f"`{option}` does not go with `--priors`: every row is a person who is "
                    "attacked, by a guess that must name the value; drop it"
                )
        try:
            return bounds.ThreatToPeople(priors.read_priors(self.priors), nearby)
        except InputError as error:
            raise type(error)(f"`--priors`: {error}") from error

    def threat(
        self,
        *,
        exact: bool,
        within: int | None = None,
        targets: int | None = None,
        guesses: int | None = None,
        inseparable: float | None = None,
        nearby: bounds.Nearby | None = None,
    ) -> bounds.Threat:
        """Build the threat that the options name; see `narcissus.bounds.threat`."""
        n = 1 if targets is None else targets
        if self.zipf is not None and within is not None:
            raise InputError("`--within` needs `--values`, the whole prior; drop it")
        if self.zipf is not None and nearby is not None:
            raise InputError("a prior near `--zipf` is not bounded: name `--values` or `--prior`")
        with option_names():
            if self.zipf is not None:
                return bounds.threat_of_ranked(zipf_law(self.zipf), targets=n, guesses=guesses)
            return bounds.threat(
                prior=self.best_guess,
                values=None if self.values is None else numbers("--values", self.values),
                within=within,
                targets=n,
                guesses=guesses,
                inseparable=inseparable,
                exact_match=exact,
                nearby=nearby,
            )

    @property
    def best_guess(self) -> float | None:
        return self.prior

    def no_membership(
        self,
        people: bounds.ThreatToPeople | None,
        success: str | None,
        needless: Mapping[str, object] | None = None,
    ) -> str | None:
        """Return why the options exclude membership; None if they do not.

        ``needless`` are options about values only.
        """
        for option, value in {**(needless or {}), "--zipf": self.zipf}.items():
            if value is not None:
                return f"`{option}` does not go with it, drop it"
        if success is not None and success != "exact":
            return "`--success` must be exact, got any"
        if self.prior is not None and self.prior < 0.5:
            return (
                f"one of them has a prior of at least 0.5, and `--prior` is {self.prior:g}: where "
                "one in 100 is a member, the best guess is right with --prior 0.99"
            )
        count = 2
        if self.values is not None:
            count = len(self.values.split(","))
        elif people is not None:
            count = people.values
        if count == 2:
            return None
        return f"`{'--values' if people is None else '--priors'}` has {count}"


@dataclass(frozen=True)
class PriorOrBits(PriorKnowledge):
    """The same, or the number of random bits of the secret."""

    bits: float | None = None

    @property
    def best_guess(self) -> float | None:
        if self.bits is None:
            return self.prior
        if not 0 <= self.bits <= _MOST_BITS:
            raise InputError(f"`--bits` must be between 0 and {_MOST_BITS}, got {self.bits}")
        return 2.0**-self.bits


def zipf_law(text: str) -> priors.Zipf:
    """Parse ``--zipf S,N``: exponent and number of values."""
    parts = numbers("--zipf", text)
    if len(parts) != 2:
        raise InputError(f"`--zipf` must be S,N, such as 1.1,1e9; got {text!r}")
    with option_names(s="--zipf S", n="--zipf N"):
        return priors.Zipf.of(*parts)


def exact_match(success: str | None, *, known: str) -> bool:
    """Parse ``--success``, valid with ``--prior`` only; False where it was not given."""
    if success is None:
        return False
    if known != "--prior":
        raise InputError(
            f"`--success` goes with `--prior` only: with `{known}` a guess must name the very "
            "value, or a near one with `--within`; drop it"
        )
    return one_of("--success", success, ("exact", "any")) == "exact"


def criterion(threat: bounds.Threat) -> str:
    if threat.exact_match:
        return "exact match"
    return "any" if threat.values is None else "near match"


def criterion_text(threat: bounds.Threat) -> str:
    return {
        "exact match": "A guess is right if it names the very value.",
        "near match": "A guess is right if it comes near enough to the value.",
        "any": "A guess may be right about several values (any criterion of success).",
    }[criterion(threat)]


def more_provable(threat: bounds.Threat, exact: str | None) -> list[str]:
    """List options that would prove more; ``exact`` states what exact match would do."""
    if threat.known or threat.nearby is not None:
        return []
    notes: list[str] = []
    if exact is not None and not threat.exact_match:
        notes.append(f"If a guess must name the very value, --success exact {exact}.")
    return [*notes, "The whole distribution of the secret, as --values, may prove more."]


class Answer(NamedTuple):
    """The answer to one question: guarantee, JSON keys, lines of text."""

    guarantee: guarantees.Guarantee
    payload: dict[str, Any]
    lines: list[str]


def questions_of(secret: str | None, no_membership: str | None) -> tuple[guarantees.Secret, ...]:
    """Parse ``--secret``; None means every question that the other options leave open.

    ``no_membership`` is why they exclude membership; None if they do not.
    """
    if secret is None:
        return ("value",) if no_membership else ("value", "membership")
    if one_of("--secret", secret, SECRETS) == "value":
        return ("value",)
    if no_membership:
        raise InputError(f"`--secret membership` has two values, in and out; {no_membership}")
    return ("membership",)


def are_replaced(found: Sequence[guarantees.Guarantee]) -> bool:
    """Whether value and membership have one guarantee, about replaced records.

    Membership is then about this record or another in its place, which are two values: where a
    guess must name the value, both have one answer.
    """
    value, *membership = found
    return bool(membership) and replace(membership[0], secret="value") == value


def answer_all(
    questions: Sequence[guarantees.Secret],
    answer: Callable[[guarantees.Secret], Answer],
    *,
    shared: bool,
    as_json: bool,
) -> None:
    """Print the answers, each headed by its question; one ``shared`` by both comes alone."""
    is_shared = shared and len(questions) == 2
    replies = [answer(question) for question in (questions[:1] if is_shared else questions)]
    if is_shared:
        replies.append(Answer(replace(replies[0].guarantee, secret="membership"), *replies[0][1:]))
    about = [reply.guarantee for reply in replies]
    if as_json:
        keys = [
            {**reply.payload, "secret": guarantee.secret, "question": guarantee.question}
            for reply, guarantee in zip(replies, about, strict=True)
        ]
        print_json(keys[0] | ({"membership": keys[1]} if len(keys) == 2 else {}))
        return
    if is_shared:
        heading = f"Asked: {about[0].question}; or {about[1].question}. One answer to both."
        click.echo("\n".join([heading, *replies[0].lines]))
        return
    lines: list[str] = []
    for reply, guarantee in zip(replies, about, strict=True):
        option = f" (--secret {guarantee.secret})" if len(replies) == 2 else ""
        lines += [*([""] if lines else []), f"Asked: {guarantee.question}{option}.", *reply.lines]
    click.echo("\n".join(lines))


def percent(value: float, *, up: bool = False) -> str:
    """Format a probability, or an upper limit, as a share of 100 or of a million people."""

    def said(number: float) -> str:
        return upper(number, 3) if up else f"{number:.3g}"

    many = 100 if value == 0 or value >= 0.0095 else 10**6
    if 0 < value < 1e-6:
        return said(value)
    return f"{float(said(many * value)):,.10g} of {many:,}"


def of_people(people: bounds.ThreatToPeople, guarantee: guarantees.Guarantee) -> dict[str, Any]:
    """Return the mean over the people and the most exposed one, as JSON keys."""
    mean = people.mean(guarantee)
    each, gained = people.success(guarantee), people.advantage(guarantee)
    worst = int(gained.argmax())
    prior = float(people.prior.mean())
    return {
        "grade": mean.grade,
        "people": people.n,
        "prior": prior,
        "criterion": "exact match",
        "success": mean.value,
        "advantage": bounds.advantage(mean.value, prior),
        "most_exposed": {
            "row": worst + 1,
            "prior": float(people.prior[worst]),
            "success": float(each[worst]),
            "advantage": float(gained[worst]),
        },
        "theorem": mean.theorem,
        "assumptions": list(mean.assumptions),
    }


def mean_text(payload: dict[str, Any]) -> list[str]:
    worst = payload["most_exposed"]
    return [
        f"Without the release, the best guess is right about a share of {payload['prior']:.6g} of "
        f"{payload['people']:,} people on average ({percent(payload['prior'])}).",
        f"With it, no attacker is right about a share above {upper(payload['success'])} of them on "
        f"average ({percent(payload['success'], up=True)}).",
        f"Advantage at most {upper(payload['advantage'])} on average, "
        f"{upper(worst['advantage'])} on one person: row {worst['row']:,}, from "
        f"{worst['prior']:.6g} to {upper(worst['success'])}. A guess is right if it names the very "
        "value.",
    ]


def fall_text(
    payload: Mapping[str, Any], n: int, *, guesses: int, form: str = "", under: str = ""
) -> list[str]:
    """Describe how many of ``n`` people are reconstructed, and what some mechanism reaches."""
    many, far = format(n, form), ""
    if (count := payload.get("reached")) is not None:
        reach = f"{count:,}" if "at_most" in payload else lower(count)
        far = f" (proved); some mechanism with this guarantee reaches {reach}{under}"
    if "tail" in payload:
        return [
            f"That at least {payload['at_least']} of {many} people are reconstructed has "
            f"probability at most {upper(payload['tail'])}{far}."
        ]
    if "at_most" not in payload:
        return []
    level = f"{100 * payload['confidence']:g}% confidence"
    if payload["at_most"] >= guesses:
        return [
            f"Nothing is proved about how many of {many} people are reconstructed: "
            f"with {level} every guess may be right."
        ]
    count = format(payload["at_most"], form)
    return [f"With {level} at most {count} of {many} people are reconstructed{far}."]


def proved_text(payload: Mapping[str, Any]) -> list[str]:
    word = "PROVED IF the assumptions hold," if payload.get("grade") == "proved if" else "PROVED"
    theorem = ["", f"{word} by {payload['theorem']}"]
    return [*theorem, *(f"  assuming {assumption}" for assumption in payload["assumptions"])]


def notes_text(payload: Mapping[str, Any]) -> list[str]:
    notes = [f"Note: {note}" for note in payload["notes"]]
    return ["", *notes] if notes else []
