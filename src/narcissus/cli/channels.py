"""``narcissus channel``, ``compose``, ``refine``, ``design``, ``estimate``: leakage of channels."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click

from narcissus._outwards import lower, upper
from narcissus._pandas import pd
from narcissus._validation import did_you_mean
from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.options import (
    COUNT,
    FILE,
    INSIDE,
    SEED,
    AsJson,
    InFile,
    Opt,
    Report,
    asked,
    command,
    given_options,
    save_figure,
    write_page,
)
from narcissus.cli.progress import progress
from narcissus.cli.questions import (
    Answer,
    GivenGuarantee,
    answer_all,
    are_replaced,
    dp_sgd_settings,
    of_guarantee,
    option_names,
    questions_of,
)
from narcissus.cli.rooms import channels, drawing, guarantees, leakage, results
from narcissus.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NOTE = (
    "A guarantee limits Bayes security from below. How low it really is depends on the data and "
    "on the release."
)


@dataclass(frozen=True, kw_only=True)
class ChannelOptions:
    mechanism: str | None = None
    prior: Path | None = None
    times: Annotated[int | None, Opt(click.IntRange(1, 1_000_000), name="--repeat")] = None
    tolerance: Annotated[float, Opt(click.FloatRange(0, 0.01))] = 1e-9
    all_pairs: bool = False
    more: Annotated[bool, Opt(name="--all")] = False
    exact: bool = False
    plot: Path | None = None
    groups: InFile = None
    loss: InFile = None
    guarantee: GivenGuarantee
    secret: str | None = None
    report: Report = None
    as_json: AsJson = False


@command
def channel(file: Path | None = None, *, of: ChannelOptions) -> None:
    aside: dict[str, object] = {
        "--mechanism": of.mechanism,
        "--repeat": of.times,
        "--plot": of.plot,
        "--groups": of.groups,
        "--loss": of.loss,
        "--all-pairs": of.all_pairs or None,
        "--all": of.more or None,
    }
    if of.guarantee.named:
        _refuse(
            aside | {"FILE": file, "--prior": of.prior, "--exact": of.exact or None}, "a guarantee"
        )
        _neighbours(of.guarantee, of.secret, of.report, as_json=of.as_json)
        return
    _refuse({"--secret": of.secret}, "a channel, whose secrets are its rows")
    if of.guarantee.delta is not None:
        raise InputError("`--delta` goes with `--epsilon` only; drop it")
    if of.exact:
        _refuse(aside | {"--report": of.report}, "--exact")
        _in_fractions(file, of.prior, as_json=of.as_json)
        return
    source, name = _source(file, of.mechanism, of.tolerance)
    prior = None if of.prior is None else channels.read_prior(of.prior)
    if of.times is not None:
        try:
            whole = channels.repeat(source, of.times)
        except InputError:  # noise on numbers, or too many outputs: no table of them all
            needless = {**aside, "--prior": of.prior, "--report": of.report}
            del needless["--mechanism"], needless["--repeat"]
            _composed(
                source, f"{of.mechanism or file}={of.times}", of.times, needless, as_json=of.as_json
            )
            return
        source, name = whole, f"{name}, {of.times} outputs"
    files = {"the channel": file, "the prior": of.prior}
    if of.groups is not None:
        needless = {"--plot": of.plot, "--loss": of.loss, "--all-pairs": of.all_pairs or None}
        _refuse({**needless, "--all": of.more or None}, "--groups")
        made = source.channel() if isinstance(source, channels.ClosedForm) else source
        by_group = channels.analyse_groups(made, channels.read_groups(of.groups), prior)
        click.echo(_as_json(by_group.to_dict()) if of.as_json else str(by_group))
        if of.report is not None:
            where = asked({**files, "the groups": of.groups})
            page = leakage.groups_page(by_group, of.groups.name, where)
            write_page(of.report, page, silent=of.as_json)
        return
    with progress() as observer:
        summary = channels.analyse(source, prior, name=name, observer=observer)
    result = summary.to_dict()
    result |= _beyond(summary, prior, all_pairs=of.all_pairs, plot=of.plot, loss=of.loss)
    if of.as_json:
        click.echo(_as_json(result | ({"more": summary.more()} if of.more else {})))
    else:
        click.echo(_text(summary, result))
    if of.report is not None:
        where = asked({**files, "the losses": of.loss})
        page = leakage.channel_page(summary, where, prior, result.get("loss"))
        write_page(of.report, page, silent=of.as_json)


def _as_json(found: Mapping[str, Any]) -> str:
    """Write what is proved of a channel, with what a program must do for it to hold."""
    return json.dumps({**found, "assumptions": [channels.AS_WRITTEN]})


def _refuse(needless: Mapping[str, object], what: str) -> None:
    for name, value in needless.items():
        if value is not None:
            raise InputError(f"`{name}` does not go with {what}; drop one of them")


def _source(
    file: Path | None, mechanism: str | None, tolerance: float
) -> tuple[channels.Channel | channels.ClosedForm, str]:
    if mechanism is not None and file is None:
        return _mechanism(mechanism), mechanism
    if file is not None and mechanism is None:
        return channels.read_channel(file, tolerance=tolerance), file.name
    raise click.UsageError("give a FILE or --mechanism, one of them, or a guarantee")


def _mechanism(text: str) -> Any:
    from narcissus.study.part_section import part_from_text

    return part_from_text("channel-mechanism", text).build()


def _beyond(
    summary: channels.ChannelSummary,
    prior: Any,
    *,
    all_pairs: bool,
    plot: Path | None,
    loss: Path | None,
) -> dict[str, Any]:
    additions: dict[str, Any] = {}
    if not all_pairs and plot is None and loss is None:
        return additions
    if summary.channel is None:
        raise InputError(
            "--all-pairs, --plot and --loss need a channel as a matrix; this mechanism is too "
            "large or continuous (in a symmetric mechanism all pairs are alike)"
        )
    if all_pairs:
        additions["pairs"] = [list(p) for p in channels.tied_pairs(summary.channel)]
    if plot is not None:
        save_figure("--plot", plot, lambda axes: summary.plot(ax=axes))
    if loss is not None:
        additions["loss"] = _of_loss(summary.channel, loss, prior)
    return additions


def _of_loss(c: channels.Channel, path: Path, prior: Any) -> dict[str, Any]:
    costs, _, answers = channels.read_losses(path, c.secrets)
    loss = costs.T
    weights = channels.prior_for(c, prior)
    bound = channels.l_beta_bound(c, loss)
    return {
        "risk": channels.l_risk(c, loss, weights),
        "prior_risk": channels.prior_l_risk(loss, weights),
        "beta_l": channels.l_beta(c, loss, weights),
        "at_least": bound.value,
        "family": channels.loss_family(loss),
        "theorem": bound.theorem,
        "answers": answers,
        "example": f"answer {answers[-1]!r} costs {costs[0, -1]:g} where the secret is "
        f"{c.secrets[0]!r}",
    }


def _text(summary: channels.ChannelSummary, result: dict[str, Any]) -> str:
    lines = [str(summary)]
    if "pairs" in result:
        lines.append("  worst pairs: " + "; ".join(" and ".join(p) for p in result["pairs"]))
    if "loss" in result:
        loss = result["loss"]
        family = f" ({loss['family']})" if loss["family"] else " (as for every loss)"
        lines += [
            "",
            f"  expected loss of the best guess  {loss['risk']:.6g} with the output, "
            f"{loss['prior_risk']:.6g} without; their ratio {loss['beta_l']:.6g}",
            f"    of {len(summary.channel.secrets) if summary.channel else 0} secrets and "
            f"{len(loss['answers'])} answers: {loss['example']}",
            f"    whatever the prior, the ratio is at least {lower(loss['at_least'])}{family}",
        ]
    return "\n".join(lines)


def _in_fractions(file: Path | None, prior: Path | None, *, as_json: bool) -> None:
    if file is None:
        raise click.UsageError("--exact takes FILE, --prior and --json alone")
    weights = None if prior is None else channels.read_rational_prior(prior)
    summary = channels.exact_summary(channels.read_rational(file), weights)
    click.echo(_as_json(summary.to_dict()) if as_json else str(summary))


def _composed(
    source: channels.Channel | channels.ClosedForm,
    use: str,
    times: int,
    needless: Mapping[str, object],
    *,
    as_json: bool,
) -> None:
    """Bound the joint leakage of repeated outputs without a table, as `narcissus compose` does."""
    see = f"`narcissus compose {use}`"
    _refuse(needless, f"{times} outputs that are too many for a table, which {see} composes")
    security = channels.repeated_security(source, times)
    text = f"{security}\n  {times} outputs are too many for a table of them: see {see}"
    click.echo(json.dumps({**asdict(security), "gap": security.gap}) if as_json else text)


def _neighbours(
    given: GivenGuarantee, secret: str | None, report: Path | None, *, as_json: bool
) -> None:
    """Print what a guarantee says of two neighbouring data sets."""
    questions = questions_of(secret, None)
    secure = {question: _secured(given, question) for question in questions}

    def answer(question: guarantees.Secret) -> Answer:
        guarantee, security, reached = secure[question]
        payload = {
            "grade": security.grade,
            "beta_star_at_least": security.value,
            "beta_star_at_most": None if reached is None else reached.value,
            "advantage_at_most": security.advantage.value,
            "tight": security.tight,
            "theorem": security.theorem,
            "assumptions": list(security.assumptions),
            **of_guarantee(guarantee),
        }
        return Answer(guarantee, payload, _secured_text(security, reached))

    shared = are_replaced([guarantee for guarantee, _, _ in secure.values()])
    answer_all(questions, answer, shared=shared, as_json=as_json)
    if report is not None:
        guarantee, security, reached = secure[questions[0]]
        where = asked({"the profile": given.profile, "the losses": given.pld})
        page = leakage.guarantee_page(security, guarantee, reached, where)
        write_page(report, page, silent=as_json)


def _secured(
    given: GivenGuarantee, secret: guarantees.Secret
) -> tuple[guarantees.Guarantee, channels.SecurityBound, results.Bound | None]:
    """Return the guarantee, the bound it proves, and for DP-SGD what two data sets reach.

    The reached value is known for replaced records only.
    """
    guarantee = given.make(secret)
    reached = None
    if given.dp_sgd is not None and secret == "value":
        settings = dp_sgd_settings(given.dp_sgd, ("noise", "rate", "steps"))
        if settings.get("sampling", "poisson") == "poisson":
            of_pair = {name: settings[name] for name in ("noise", "rate", "steps")}
            with option_names():
                reached = channels.dp_sgd_reached(**of_pair)
    return guarantee, channels.from_guarantee(guarantee), reached


def _secured_text(found: channels.SecurityBound, reached: results.Bound | None) -> list[str]:
    correct = upper(100 - 50 * found.value, places=1)
    lines = [
        str(found),
        f"  of 100 attempts to tell two neighbouring data sets apart, at most {correct} are right "
        "(50 by guessing)",
    ]
    if reached is None:
        return [*lines, "", NOTE]
    lines += ["", f"PROVED: some two such data sets have beta* at most {upper(reached.value)}"]
    lines += [
        f"  by {reached.theorem}",
        *(f"  assuming {assumption}" for assumption in reached.assumptions),
    ]
    return lines


@dataclass(frozen=True, kw_only=True)
class ComposeOptions:
    tolerance: Annotated[float, Opt(INSIDE)] = 1e-6
    shuffled: Annotated[int | None, Opt(click.IntRange(1, 1_000_000_000))] = None
    report: Report = None
    as_json: AsJson = False


@command
def compose(uses: tuple[str, ...], *, of: ComposeOptions) -> None:
    pairs: list[tuple[channels.Channel | channels.ClosedForm, int]] = []
    if of.shuffled is None:
        pairs = [_use(text) for text in uses]
        security = channels.mixed_security(pairs, tolerance=of.tolerance)
    elif of.report is not None:
        raise click.UsageError("--report draws uses; it does not go with --shuffled")
    elif len(uses) == 1 and uses[0].startswith("randomized-response:"):
        security = channels.shuffled_security(_mechanism(uses[0]), of.shuffled)
    else:
        raise click.UsageError(
            "--shuffled takes one USE, once: randomized-response:values=10,epsilon=1"
        )
    click.echo(
        json.dumps({**asdict(security), "gap": security.gap}) if of.as_json else str(security)
    )
    if of.report is not None:
        curve = channels.security_over_uses(pairs)
        write_page(of.report, leakage.compose_page(security, curve, asked({})), silent=of.as_json)


def _use(text: str) -> tuple[channels.Channel | channels.ClosedForm, int]:
    """Parse ``SOURCE=TIMES``; a mechanism's own options contain an equals sign as well."""
    source, _, tail = text.rpartition("=")
    is_counted = bool(source) and tail.isdecimal() and _is_whole(source)
    times = int(tail) if is_counted else 1
    source = source if is_counted else text
    if Path(source).is_file():
        return channels.read_channel(source), times
    if ":" not in source and (Path(source).suffix or "/" in source):
        raise InputError(f"there is no file {source}; USE is a file or a mechanism, then =TIMES")
    made = _mechanism(source)
    is_noise = isinstance(made, channels.Laplace | channels.Gaussian)
    return (made if is_noise else made.channel()), times


def _is_whole(source: str) -> bool:
    """Whether the text before ``=TIMES`` is a file or a mechanism with all its values."""
    last = source.partition(":")[2].rsplit(",", 1)[-1]
    return ":" not in source or "=" in last or not last


@dataclass(frozen=True, kw_only=True)
class RefineOptions:
    out: Path | None = None
    back: Path | None = None
    exact: bool = False
    report: Report = None
    as_json: AsJson = False


@command
def refine(
    first: Path,
    second: Path,
    *,
    of: RefineOptions,
) -> None:
    read = channels.read_rational if of.exact else channels.read_channel
    a, b = read(first), read(second)
    names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    comparison = channels.compare_channels(a, b, names=names, exact=of.exact)
    for path, option, refinement in (
        (of.out, "--out", comparison.forwards),
        (of.back, "--back", comparison.backwards),
    ):
        if path is not None:
            _write_witness(path, option, refinement, a.secrets)
    click.echo(_as_json(comparison.to_dict()) if of.as_json else str(comparison))
    if of.report is not None:
        ways: list[leakage.Direction] = []
        ends = (*names, comparison.forwards), (*names[::-1], comparison.backwards)
        for one_name, other_name, refinement in ends:
            by = None if isinstance(refinement, results.NotAssessed) else refinement.by
            drawn = by if isinstance(by, channels.Channel) else None  # one in fractions is not
            ways.append(leakage.Direction(one_name, other_name, refinement, drawn))
        where = asked({names[0]: first, names[1]: second})
        write_page(of.report, leakage.refinement_page(ways, a.secrets, where), silent=of.as_json)


def _write_witness(
    path: Path, option: str, found: channels.OneWay, secrets: tuple[str, ...]
) -> None:
    if isinstance(found, results.NotAssessed):
        raise InputError(f"{option}: there is no witness to write, since {found.reason}")
    if found.holds and found.by is not None:
        channels.write_channel(path, found.by)
    else:
        channels.write_gain(path, found.gain, secrets)


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    most_loss: float | None = None
    beta_star: float | None = None
    vulnerability: float | None = None
    wanted: Annotated[str, Opt(click.Choice(["beta-star", "vulnerability", "information"]))] = (
        "beta-star"
    )
    gain: InFile = None
    most_at_once: float | None = None
    epsilon: float | None = None
    prior: Path | None = None
    out: Path | None = None
    curve: Path | None = None
    report: Report = None
    as_json: AsJson = False


@command
def design(loss: Path, *, of: DesignOptions) -> None:
    _check_design(of)
    costs, secrets, answers = channels.read_losses(loss)
    prior = None if of.prior is None else channels.read_prior(of.prior)
    solution = _designed(costs, of, {"prior": prior, "secrets": secrets, "answers": answers})
    if of.curve is not None:
        points = channels.trade_off(costs, prior=prior, epsilon=of.epsilon)

        def draw(axes: Axes) -> None:
            axes.plot(*points)
            axes.set_xlabel("expected loss")
            axes.set_ylabel("largest Bayes security")
            axes.set_ylim(0, 1.02)
            axes.grid(visible=True)

        save_figure("--curve", of.curve, draw)
    if solution is not None:
        if of.out is not None:
            channels.write_channel(of.out, solution.channel)
        click.echo(_as_json(_of_design(solution)) if of.as_json else str(solution))
    if of.report is not None:
        curve = channels.trade_off(costs, 11, prior=prior, epsilon=of.epsilon)
        nothing = channels.loss_of_nothing(costs, prior)
        where = asked({"the losses": loss, "the prior": of.prior, "the gain": of.gain})
        page = leakage.design_page(solution, curve, nothing, where)
        write_page(of.report, page, silent=of.as_json)


def _check_design(of: DesignOptions) -> None:
    limits = [of.most_loss, of.beta_star, of.vulnerability]
    asked_for = sum(limit is not None for limit in limits)
    if asked_for != 1 and (asked_for or (of.curve or of.report) is None):
        raise click.UsageError(
            "give one of --most-loss, --beta-star and --vulnerability, or --curve or --report alone"
        )
    if of.vulnerability is None and of.wanted != "vulnerability":
        _refuse({"--gain": of.gain}, "--beta-star or --wanted, unless that is vulnerability")
    if of.wanted != "beta-star" and of.most_loss is None:
        raise InputError(f"`--wanted {of.wanted}` needs `--most-loss`, the largest expected loss")
    if of.wanted == "information":
        needless = {"--epsilon": of.epsilon, "--most-at-once": of.most_at_once}
        _refuse(needless, "--wanted information")


def _designed(costs: Any, of: DesignOptions, how: dict[str, Any]) -> channels.Design | None:
    if of.gain is not None:
        how["gain"] = gain_from(of.gain).reindex(columns=how["secrets"])
    if of.wanted == "information":
        return channels.least_informative(costs, cast("float", of.most_loss), **how)
    how["epsilon"] = of.epsilon
    if of.most_at_once is not None:
        how["most_at_once"] = of.most_at_once
    if of.most_loss is not None:
        is_security = of.wanted == "beta-star"
        make: Any = channels.most_secure if is_security else channels.least_vulnerable
        return make(costs, of.most_loss, **how)
    if of.vulnerability is None and of.beta_star is None:
        return None
    limits = {"beta_star": of.beta_star or 0.0, "vulnerability": of.vulnerability}
    return channels.least_loss(costs, **limits, **how)


def _of_design(found: channels.Design) -> dict[str, Any]:
    numbers = {key: getattr(found, key) for key in ("beta_star", "loss", "limit", "wanted")}
    numbers |= {} if found.leakage is None else {found.measured.split()[0]: found.leakage}
    c = found.channel
    names = {"secrets": list(c.secrets), "answers": list(c.outputs)}
    return {**numbers, **names, "channel": c.dense.tolist()}


OF_PROGRAM = ("secrets", "given", "observe", "width", "most_runs", "time_limit", "runs", "yes")
OF_FILE = ("secret", "group", "symmetric", "monotone", "among", "pair")


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    secret: str | None = None
    confidence: float = 0.95
    estimators: Annotated[tuple[str, ...], Opt(name="--estimator")] = ()
    kind: Annotated[
        str, Opt(click.Choice(["auto", "discrete", "continuous"]), name="--outputs")
    ] = "auto"
    seed: Annotated[int, Opt(SEED)] = 0
    group: str | None = None
    symmetric: bool = False
    monotone: bool = False
    among: tuple[str, ...] = ()
    pair: tuple[str, str] | None = None
    measures: Annotated[tuple[str, ...], Opt(name="--measure")] = ()
    prior: InFile = None
    gain: InFile = None
    test: bool = False
    program: str | None = None
    secrets: str | None = None
    given: Annotated[str, Opt(click.Choice(["argument", "stdin", "lines"]))] = "argument"
    observe: Annotated[str, Opt(click.Choice(["output", "time", "cpu"]))] = "output"
    width: float = 0.1
    most_runs: Annotated[int, Opt(COUNT)] = 20_000
    time_limit: float = 10.0
    runs: Annotated[Path, Opt(FILE)] = Path("runs.csv")
    yes: bool = False
    report: Report = None
    as_json: AsJson = False


@command
def estimate(samples: Path | None = None, *, of: EstimateOptions) -> None:
    if (samples is None) == (of.program is None):
        raise click.UsageError("give SAMPLES or --program, one of them")
    idle, other = (OF_PROGRAM, "--program") if of.program is None else (OF_FILE, "SAMPLES")
    for parameter in given_options(click.get_current_context()):
        if parameter.name in idle:
            raise click.UsageError(f"{parameter.opts[0]} is for {other}, which is not given")
    prior = None if of.prior is None else channels.read_prior(of.prior)
    everything = of.gain is not None or (prior is not None and of.program is None)
    options = {
        "measures": wanted_measures(of.measures, everything=everything, gain=of.gain is not None),
        "gain": gain_from(of.gain),
        "estimators": list(of.estimators) or None,
        "kind": of.kind,
        "rng": of.seed,
    }
    files = {"the prior": of.prior, "the gain": of.gain}
    with option_names():
        if samples is None:
            evidence = _of_program(of, prior, options)
            parts, name, files = (
                evidence.parts,
                evidence.program,
                {"the runs": evidence.runs, **files},
            )
            payload, text = evidence.to_dict(), str(evidence)
        else:
            head, parts = _of_file(samples, of, prior, options)
            name, files = samples.name, {"the samples": samples, **files}
            keys = {"SampledLeakage": "leakage", "NoLeakageTest": "no_leakage"}
            named = {keys[type(part).__name__]: part.to_dict() for part in parts[1:]}
            payload, text = (
                {**parts[0].to_dict(), **named},
                f"{head}\n" + "\n\n".join(map(str, parts)),
            )
    click.echo(json.dumps(payload) if of.as_json else text)
    if of.report is not None:
        page = _page_of_estimate(parts, name, asked(files, of.seed))
        write_page(of.report, page, silent=of.as_json)


def _of_file(
    samples: Path, of: EstimateOptions, prior: Any, more: dict[str, Any]
) -> tuple[str, Sequence[results.Result]]:
    """Estimate from a file; return what was read, and the results."""
    names = ("symmetric", "monotone", "among", "pair")
    restrictions = {name: value for name in names if (value := getattr(of, name))}
    if of.group is not None:
        for name, value in {"measure": more["measures"], "test": of.test, **restrictions}.items():
            if value:
                raise click.UsageError(f"--{name} does not go with --group")
    secrets, outputs, column = channels.read_samples(samples, secret=of.secret)
    people = None if of.group is None else taken(outputs, of.group, column)
    head = f"{samples.name}: secrets in the column {column!r}, {outputs.shape[1]} output columns"
    with progress() as observer:
        more |= {"confidence": of.confidence, "observer": observer}
        asked_for = {"measures": more.pop("measures"), "gain": more.pop("gain"), "prior": prior}
        if people is not None:
            return head, [channels.estimate_groups(secrets, outputs, people, **more)]
        parts: list[results.Result] = [channels.estimate(secrets, outputs, **more, **restrictions)]
        if asked_for["measures"]:
            parts.append(channels.sampled_leakage(secrets, outputs, **asked_for, **more))
        if of.test:
            how: dict[str, Any] = {"rng": of.seed, "observer": observer}
            parts.append(channels.no_leakage_test(secrets, outputs, **how))
    return head, parts


def _of_program(of: EstimateOptions, prior: Any, more: dict[str, Any]) -> channels.ProgramLeakage:
    """Run the program until the limits are narrow enough; ask first if that takes long."""
    from narcissus.cli.playing import agreed

    how: dict[str, Any] = {"given": of.given, "observe": of.observe, "seconds": of.time_limit}
    program = program_from(of.program or "", of.secrets, prior, **how)

    def play(hours: float | None) -> channels.ProgramLeakage:
        stop = channels.StopWhen(of.width, of.confidence, of.most_runs, hours)
        with progress() as observer:
            return channels.program_leakage(
                program, path=of.runs, stop=stop, observer=observer, **more
            )

    on_interrupt(f"runs are kept in {of.runs}; the same command goes on from there")
    return agreed(play, yes=of.yes)


def program_from(
    line: str, secrets: str | None, prior: Any, *, given: str, observe: str, seconds: float
) -> channels.Program:
    """Build a program from the command line without starting it.

    ``secrets`` are separated by commas, or ``@FILE`` with one a line; None takes the names of the
    prior (from `narcissus.channels.read_prior`).
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InputError(f"`--program` is no command: {error}") from error
    if not words:
        raise InputError("`--program` is empty: give a command, such as 'python check.py'")
    return channels.Program(words, _secrets(secrets, prior), prior, given, observe, seconds)


def _secrets(text: str | None, prior: Any) -> list[str]:
    if text is None:
        if isinstance(prior, dict):
            return list(prior)
        raise InputError(
            "`--secrets` is missing: what the program is told, such as --secrets yes,no (or "
            "@FILE, one a line, or a `--prior` that names them)"
        )
    parts = text.split(",")
    if text.startswith("@"):
        from narcissus._files import read_bytes

        path = Path(text[1:])
        try:
            parts = read_bytes(path).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 text") from error
    return [part.strip() for part in parts if part.strip()]


def gain_from(path: Path | None) -> Any:
    """Read a gain file (a row per secret, a column per guess), transposed for the measures."""
    if path is None:
        return None
    gains, secrets, guesses = channels.read_losses(path)
    return pd.DataFrame(gains.T, index=guesses, columns=secrets)


def wanted_measures(names: tuple[str, ...], *, everything: bool, gain: bool) -> list[str]:
    if "all" in names or (not names and everything):
        return [name for name, m in channels.MEASURES.items() if gain or "gain" not in m.needs]
    return list(names)


def taken(outputs: pd.DataFrame, group: str, secret: str) -> pd.Series[Any]:
    """Remove the column of groups from the outputs, and return it."""
    if group == secret:
        raise InputError(f"`--group` names the column of secrets, {secret!r}; name another one")
    if group not in outputs:
        near = did_you_mean(group, list(outputs.columns))
        raise InputError(f"`--group`: there is no column {group!r} next to the secret{near}")
    if outputs.shape[1] == 1:
        raise InputError(f"next to {secret!r} and {group!r} there is no column of outputs")
    return outputs.pop(group)


def _page_of_estimate(
    parts: Sequence[results.Result], name: str, where: leakage.Asked
) -> drawing.Page:
    main_part, *rest = parts
    if isinstance(main_part, channels.GroupLeakage):
        return leakage.groups_page(main_part, name, where)
    assert isinstance(main_part, channels.LeakageEstimate)
    others = next((part for part in rest if isinstance(part, channels.SampledLeakage)), None)
    tests = (p for p in rest if isinstance(p, channels.NoLeakageTest | channels.LeakageEvidence))
    return leakage.estimate_page(main_part, name, where, others, next(tests, None))
