"""An audit of a table in sentences: first screen, evidence for and against, the study itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from narcissus._outwards import upper
from narcissus.game.looks import rounded_trials
from narcissus.kinds.table.features import TRIED
from narcissus.kinds.table.found import (
    EQUAL,
    Accepted,
    Excess,
    GroupAttack,
    GroupFound,
    OtherPrior,
    PlayedAttack,
    TableResult,
    known,
)
from narcissus.kinds.table.judgement import JudgedSetting, TableJudgement
from narcissus.report.about import EveryAttacker
from narcissus.report.first_screen import (
    NO_GROUP,
    NO_GROUPS,
    Glance,
    placed,
    seeks,
    surely_largest,
)
from narcissus.report.format import NO_BREAK, list_names, number, percent
from narcissus.report.reach import (
    SHARE,
    Reach,
    RowView,
    compared_of_100,
    decided,
    of_100,
    three,
    written,
)
from narcissus.results import NotAssessed
from narcissus.rows import Quantity
from narcissus.study.plugins import GIVEN
from narcissus.study.record import Record
from narcissus.study.sections import PRESET


def most_vulnerable(numbers: JudgedSetting) -> tuple[GroupFound, str, GroupAttack] | None:
    """Return the group, and the attack on it, that surely gains most of its partition, if any.

    Its gain is above that of all other groups by the same property, whatever attack is best on
    them. The limits hold jointly for all groups, attacks and settings, which is what is chosen
    from.
    """
    partitions: dict[str, list[GroupFound]] = {}
    for group in numbers.result.groups:
        partitions.setdefault(group.by, []).append(group)
    candidates: list[tuple[GroupFound, str, GroupAttack]] = []
    for groups in partitions.values():
        place = surely_largest([_gains(group) for group in groups])
        if place is not None:
            attacks = groups[place].attacks
            name = max(attacks, key=lambda key: attacks[key].sure_gain)
            if attacks[name].sure_gain > 0:
                candidates.append((groups[place], name, attacks[name]))
    return max(candidates, key=lambda candidate: candidate[2].sure_gain, default=None)


def _gains(group: GroupFound) -> tuple[float, float] | None:
    """Return the limits of what the best attack on a group gains; None without attacks."""
    attacks = group.attacks.values()
    if not attacks:
        return None
    low = max(attack.sure_gain for attack in attacks)
    return low, max(low, *(attack.most_gain for attack in attacks))


_NAMES = {
    "prior": "prior alone",
    "posterior": "posterior, mean field",
    "gibbs": "posterior, Gibbs",
    "rap": "RAP, as published",
    "rap_from_prior": "RAP from the prior",
    "ceiling": "ceiling",
}


def attack_name(name: str) -> str:
    return _NAMES.get(name.replace("-", "_"), name.replace("_", " "))


def label_of(setting: JudgedSetting) -> str:
    text = setting.label
    return text.replace(" ", NO_BREAK) if len(text) < 16 else text


def share_allowed(setting: JudgedSetting) -> float | None:
    """Return the threshold as a share recovered, where it is one on a mean."""
    threshold = setting.threshold
    if threshold is None:
        return None
    if threshold.advantage is not None:
        # an advantage is the part of what could not be guessed that is recovered
        return setting.result.guess.share + threshold.advantage * (1 - setting.result.guess.share)
    return threshold.share


def best_name(setting: JudgedSetting) -> str:
    """Name the attack whose numbers are quoted: one with less evidence may have a larger share."""
    best = setting.result.best_attack
    if setting.result.best is None or best is None:
        return "the best attack"
    if all(attack.share <= best.share for attack in setting.result.attacks.values()):
        return "the best attack"
    return f"the attack with most evidence ({attack_name(setting.result.best)})"


def above_guess(setting: JudgedSetting) -> float | None:
    """Return how much more the best attack recovers than can be guessed without the release."""
    best = setting.result.best_attack
    return None if best is None else best.share - setting.result.guess.share


Answer = dict[str, Any]
Rows = Iterator[tuple[str, str]]


def _section(record: Record, name: str) -> Answer:
    value: Any = record.study.get(name)
    return value if isinstance(value, dict) else {}


def _table(data: Answer) -> Rows:
    if source := data.get("path") or data.get("table"):
        is_frame = str(source).startswith(GIVEN)
        yield "Table", "a data frame, given from Python" if is_frame else str(source)
    if columns := data.get("columns"):
        yield "Columns", ", ".join(columns)
    if drop := data.get("drop"):
        yield "Columns left out", ", ".join(drop)
    if bins := data.get("bins"):
        yield "Columns in bins", "; ".join(f"{c}: {_bins(b)}" for c, b in bins.items())
    if data.get("missing") in ("drop", "category"):
        how = {"drop": "their rows are left out", "category": "a separate value"}
        yield "Missing values", how[data["missing"]]


def _bins(spec: Answer) -> str:
    options = {key: value for key, value in spec.items() if value is not None}
    for key, value in options.items():
        if key == "edges":
            return "a new bin from " + ", ".join(number(edge) for edge in value)
        if key == "quantiles":
            return f"{value} bins of equal share"
        return f"{'above' if key == 'above' else 'bins of width'} {number(value)}"
    return "as they are"


def _attacker(threat: Answer) -> Rows:
    if unknown := threat.get("unknown"):
        yield "Unknown to the attacker", ", ".join(unknown)
        yield "Known to the attacker", "all other columns"
    elif known := threat.get("known"):
        yield "Known to the attacker", ", ".join(known)
        yield "Unknown to the attacker", "all other columns"
    if targets := threat.get("targets"):
        yield "People in one release", f"{number(targets)}, each of them a target"
    if people := threat.get("people"):
        where = {
            "prior": "drawn from the prior, which is then known exactly",
            "rows": "real rows of the table",
            "all": "all rows of the table",
        }
        yield "Where they come from", where.get(people, str(people))
    within: Answer = threat.get("within") or {}
    far = "; ".join(f"{c} up to {number(places)} off" for c, places in within.items())
    if minimum := threat.get("at_least"):
        counts = f"at least {number(minimum)} of the unknown columns are right"
    else:
        counts = "every unknown column is right"
    label = "A target counts as recovered when"
    if threat.get("share_of_columns"):
        label, counts = "What is scored", "the share of a person's unknown columns that is right"
    yield label, counts + (f" ({far})" if far else "")


def _prior(prior: Answer) -> Rows:
    kind = prior.get("name", prior.get("kind"))  # "kind" in version 0.1
    if kind is None:
        return
    words = {
        "bayesian-network": "a Bayesian network fitted to the table, at most "
        f"{prior.get('parents', '?')} parents for each column",
        "independent": "the table's columns, taken as independent",
        "empirical": "the table's own rows",
    }
    yield "What the attacker knows beforehand", words.get(kind, f"{kind} (the user's own)")


def _level(value: float | None, name: str) -> str:
    # a record holds no infinity: None among the levels is the one without noise
    if value is None or (name == "scale" and value == 0):
        return "no noise"
    return number(value)


def _release(mechanism: Answer, setting: JudgedSetting) -> Rows:
    if setting.result.noise is None:
        yield "What is released", setting.result.released
        options = {k: v for k, v in mechanism.items() if k != "name" and v not in (None, [], {})}
        yield from ((f"Option {key}", _option(value)) for key, value in options.items())
        return
    if k := mechanism.get("k"):
        noise = str(mechanism.get("noise") or "").capitalize()
        text = f"all {k}-way tables of counts that touch an unknown column"
        yield "What is released", text + (f", {noise} noise on each cell" if noise else "")
    elif sets := mechanism.get("sets"):
        text = "; ".join(", ".join(names) for names in sets)
        yield "What is released", f"tables of counts: {text}"
    for name in ("epsilon", "mu", "scale"):
        value: Any = mechanism.get(name)
        if value is not None:
            levels: list[Any] = value if isinstance(value, list) else [value]
            title = "Noise scale" if name == "scale" else f"Privacy level ({name})"
            yield title, ", ".join(_level(v, name) for v in levels)
    if (delta := mechanism.get("delta")) is not None:
        yield "delta", f"{delta:g}"


def _option(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_option(option) for option in cast("list[Any]", value))
    return "yes" if value is True else "no" if value is False else str(value)


def _limits(threshold: Accepted) -> list[str]:
    means = (
        ("share", threshold.share),
        ("advantage", threshold.advantage),
        ("gain over fresh people", threshold.gain),
    )
    phrases = [f"a mean {n} of at most {percent(limit)}" for n, limit in means if limit is not None]
    if threshold.targets is not None:
        phrases.append(f"at most {number(threshold.targets)} targets in one release")
    return phrases


def _threshold(record: Record, setting: JudgedSetting) -> Rows:
    threshold = setting.threshold
    if threshold is not None:
        text = "; ".join(_limits(threshold))
        if threshold.worst_group is not None:
            text += f"; in each group that can be told beforehand {percent(threshold.worst_group)}"
        yield "Threshold", text
        if threshold.decided_at is not None:
            yield "Decided at the level", threshold.decided_at
        for text, title in ((threshold.reason, "Its reason"), (threshold.origin, "Who set it")):
            if text:
                yield title, text
    if policy := record.study.get("policy"):
        yield "Policy", str(policy)


def are_real(record: Record) -> bool:
    """Return whether the targets are real people, rows of the table."""
    return _section(record, "threat").get("people") in ("rows", "all")


def threat_facts(record: Record, setting: JudgedSetting) -> list[tuple[str, str]]:
    """Return the study as terms and what they are; a section that is missing is left out."""
    return [
        *_table(_section(record, "data")),
        *_attacker(_section(record, "threat")),
        *_prior(_section(record, "prior")),
        *_release(_section(record, "mechanism"), setting),
        *_threshold(record, setting),
    ]


def refutation(one: JudgedSetting) -> str:
    """Say what refutes the prior; empty where no guess of rows of the table does."""
    refuting = [guess for guess in one.result.held_out if guess.refutes]
    if not refuting:
        return ""
    worst = max(refuting, key=lambda guess: guess.share - guess.at_most)
    share, limit = compared_of_100(worst.share, worst.at_most)
    return (
        f"The prior is refuted, so nothing here holds of these people: {worst.by} guesses "
        f"{share}{worst.of_group} right without the release, where the prior allows {limit}."
    )


def remedy(one: JudgedSetting, others: Sequence[OtherPrior]) -> str:
    """Say which prior to take in place of one that is refuted; empty where none is."""
    if not one.result.is_prior_refuted:
        return ""
    if others and others[-1].passes:
        return f"To decide, write under [prior]: {others[-1].options}. The rows do not refute it."
    if any(guess.by == EQUAL and guess.refutes for guess in one.result.held_out):
        return "To decide, name the person of each row, as `unit` in [data], or take fewer columns."
    return (
        "To decide, take coarser bins or fewer columns, or say how far off the prior may be: "
        "`prior_distance` in [threat]."
    )


def unresolved(settings: Sequence[JudgedSetting]) -> Iterator[NotAssessed]:
    """List where the guess, or a search of an attack, is not known to be the best."""
    guess = settings[0].result.guess  # the same at every setting
    if guess.is_best_found:
        limit = guess.at_most
        beyond = (
            ""
            if limit is None
            else (f", but none with a larger mean chance than {upper(100 * limit, places=1)}%")
        )
        yield NotAssessed(
            "the best guess without the release",
            "of so many joint values the guess is the best that was found; its chance is exact, "
            f"and a better guess may exist{beyond}",
            "take fewer unknown columns, or coarser ones; or all of them and exact matches, or "
            "`share_of_columns`, where the best guess is known",
        )
    for setting in settings:
        for name, attack in setting.result.attacks.items():
            if (search := attack.search) is not None and search.stuck and attack.trials:
                yield NotAssessed(
                    f"what exact counts determine at '{setting.label}', by the attack `{name}`",
                    f"its search stuck in {search.stuck} of {attack.trials} releases, at a "
                    f"residual of {search.residual:.4g} people in all counts together: "
                    "values that agree with every count exist, and may give away more",
                    "take fewer unknown columns, or release tables of more columns",
                )


def name_release(settings: Sequence[JudgedSetting], setting: JudgedSetting) -> str:
    """Name what is released, and the setting or their number."""
    result = setting.result
    if result.released and result.noise is None:
        released = f"{result.released[0].lower()}{result.released[1:]}"
    else:
        exact = "exact" if result.noiseless else "noisy"
        released = f"{number(result.marginals)} {exact} marginals"
    if len(settings) > 1:
        return f"{released}, {len(settings)} settings"
    return released if setting.label in released else f"{released}, {label_of(setting)}"


def every_attacker(one: JudgedSetting) -> tuple[EveryAttacker, ...]:
    """Word what no attacker exceeds, of the mean share and of the count in one release."""
    share, count = one.result.share_bound, one.result.count_bound
    limits: list[EveryAttacker] = []
    if share is not None and share.at_most < 1:
        text = f"At most {percent(share.at_most, 'up')} of these {one.result.whose} on average"
        if share.of_population is not None and not one.result.everybody:
            text += f"; of all like them {percent(share.of_population, 'up')} (estimated)"
        assumptions = share.assumptions + share.takes_as_given
        limits.append(EveryAttacker(f"{text}.", one.grade_of(share), assumptions))
    if count is not None and count.at_most < count.of:
        text = f"In one release at most {number(count.at_most)} of {number(count.of)}"
        text += f", with {100 * count.confidence:g}% confidence."
        assumptions = count.assumptions + count.takes_as_given
        limits.append(EveryAttacker(text, one.grade_of(count), assumptions))
    return tuple(limits)


def glance(case: TableJudgement) -> Glance:
    """Word the setting that the status rests on, and there the excess that decided."""
    setting = case.worst
    bound = setting.result.share_bound
    refuted, better = refutation(setting), remedy(setting, case.result.other_priors)
    decision, named = setting.decision, case.result.unit
    unit = "answers" if setting.result.share_of_columns else "people"
    at = f" {_at_level(setting)}" if len(case.each) > 1 else ""
    about = None if decision is None else decision.row.about
    excess = about if isinstance(about, Excess) else None
    view = _view(setting, excess)
    group = _group_of(setting, excess)
    in_releases = excess is not None and excess.of == "targets"
    without = _guessed(setting, unit, group, is_open=bool(case.result.unaccounted or refuted))
    attacks, called = setting.result.attacks, setting.result.best
    if excess is not None and excess.name in attacks:
        called = excess.name
    with_it = _reached(setting, excess, called, f"With the release{at},", view)
    limit = _limited(setting, excess, view) or _most(setting)
    if in_releases:
        without = replace(without, is_drawn=False)
        with_it = replace(with_it, is_drawn=with_it.is_decided)
        limit = limit and replace(limit, is_drawn=limit.is_decided)
        unit = "releases"
    return Glance(
        unit=unit if group is None else f"{unit} of the group “{group.by}: {group.group}”",
        without=without,
        with_it=with_it,
        most=limit,
        unlimited=f"Any attacker might get all 100 {unit} right: no lower limit is proved.",
        hardest=_hardest(setting),
        unseen=_unseen(case.result),
        accepted=_accepted(setting, excess),
        asked="The preset threshold" if _is_preset(setting) else Glance.asked,
        view=view,
        interval=_interval(excess),
        level=_confidence(setting, excess),
        added=_added(None if called is None else attacks[called], excess, group),
        where=_where(case),
        undecided=_undecided(setting),
        contradicted=refuted or Glance.contradicted,
        notes=[better] if better else [],
        given=() if bound is None else bound.takes_as_given,
        about=_about(setting),
        implied=() if named is None else [f"one row of each `{named}` is released, and no more"],
    )


def _is_preset(setting: JudgedSetting) -> bool:
    return setting.threshold is not None and setting.threshold.origin == PRESET


UNSEEN = (
    "what the attacker learns elsewhere, other releases about the same people, side channels of "
    "the computer"
)


def _unseen(result: TableResult) -> str:
    """Say what no number is about, and what was examined, tells nothing and was left out."""
    named = list_names(result.examined)
    left = [named] if named else []
    left += ["exact values behind bins"] if result.behind_bins else []
    left += ["the order of rows"] if result.order_examined else []
    if not left:
        return UNSEEN
    tried = f" We tried {TRIED}." if named else ""
    return (
        f"{UNSEEN}. Examined and left out: {', '.join(left)}.{tried} Another function of these "
        "values could tell more"
    )


INTERVALS = {
    "gain": "The gain from the release",
    "advantage": "The excess over your threshold",
    "targets": "The share of such releases",
}


def _interval(excess: Excess | None) -> str:
    if excess is not None and excess.role == "bound":
        return "The bound on every attacker"
    if excess is not None and excess.role == "ceiling":
        return "The share of an attacker who knows everybody else's secrets"
    return INTERVALS.get("" if excess is None else excess.of, "The share of the attack")


def _confidence(one: JudgedSetting, excess: Excess | None) -> float:
    """Return the confidence of an excess: attacks share the error, so that all limits hold."""
    is_attack = excess is not None and excess.role == "attack"
    return one.result.joint if is_attack else one.result.confidence


def _about(one: JudgedSetting) -> str:
    """Name the secret, what is known and what is released, in a sentence."""
    result = one.result
    played = {} if one.result.best_attack is None else one.result.best_attack.columns
    columns = [*(one.result.guess.columns or played)] or ["the unknown columns"]
    named = list_names(columns)
    release = result.released
    if result.noise is not None or not release:
        exact = "exact" if result.noiseless else "noisy"
        release = f"{number(result.marginals)} {exact} tables of counts"
    return seeks("all other columns", named, f"{release}, {_at_level(one)}")


def _at_level(one: JudgedSetting) -> str:
    """Name the level of a setting, after a noun: "at ε = 1", "without noise"."""
    return f"at {one.label}" if one.label != "no noise" else "without noise"


def _chance_allowed(one: JudgedSetting) -> float:
    """Return in how many releases more people than accepted may be recovered."""
    counts = [bound.confidence for bound in one.result.bounds if not bound.is_share]
    return 1 - counts[0] if counts else 0.0


def _view(one: JudgedSetting, excess: Excess | None) -> RowView:
    """Say how an excess is read: with what is accepted, it is the share or the gain itself."""
    threshold = one.threshold
    if excess is None or threshold is None:
        return SHARE
    if excess.of == "targets":
        return RowView(offset=_chance_allowed(one))
    accepted = threshold.worst_group if excess.group else getattr(threshold, excess.of)
    if excess.of == "share":
        return RowView(offset=accepted or 0.0)
    if excess.of == "gain":
        return RowView(offset=accepted or 0.0, form="more")
    group = _group_of(one, excess)
    guess = one.result.guess.share if group is None else group.guess.share
    return RowView(offset=guess + (accepted or 0.0) * (1 - guess))


def _group_of(one: JudgedSetting, excess: Excess | None) -> GroupFound | None:
    if excess is None or not excess.group:
        return None
    return next((g for g in one.result.groups if f"{g.by}: {g.group}" == excess.group), None)


def _guessed(
    one: JudgedSetting, unit: str, group: GroupFound | None, *, is_open: bool = False
) -> Reach:
    """Word the best guess; where something tells more than the prior knows, whose guess it is."""
    note = " that we found" if one.result.guess.is_best_found else ""
    note += " by the prior" if is_open else ""
    if group is not None:
        text = f"Without the release, the best guess{note} gets {{}} {unit} of this group right."
        return Reach.of(text, group.guess_row(one.label))
    text = f"Without the release, the best guess{note} gets {{}} {unit} right."
    return Reach.of(text, one.result.guess.row(one.label))


def _reached(
    one: JudgedSetting, excess: Excess | None, called: str | None, head: str, view: RowView
) -> Reach:
    """Word what the attack reached: of the excess that decided, if it is an attack's."""
    if called is None:
        return Reach("No attack was run.")
    best = one.result.attacks[called]
    name = best_name(one) if best is one.result.best_attack else f"the attack {called}"
    plain = Reach.of(f"{head} {name} gets {{}} right.", best.row(one.label, "attack", called))
    if excess is None or excess.role != "attack":
        return plain
    if excess.of == "targets" and one.threshold is not None:
        limit = one.threshold.targets
        return decided(f"{head} {name} gets more than {limit} people right in {{}} releases.", view)
    group = _group_of(one, excess)
    if group is not None and excess.of == "gain" and excess.name in group.attacks:
        text = f"{head} {name} gets {{}} of this group right."
        row = group.row(one.label, "attack", excess.name, group.attacks[excess.name])
        return Reach.of(text, row)
    if excess.of in ("share", "advantage"):
        of = " of this group" if group is not None else ""
        return decided(f"{head} {name} gets {{}}{of} right.", view)
    return plain


def _limited(one: JudgedSetting, excess: Excess | None, view: RowView) -> Reach | None:
    """Word the bound or the ceiling, where that decided."""
    if excess is None or excess.role == "attack":
        return None
    aid = "told everybody else's secrets, " if excess.role == "ceiling" else ""
    if_so = f"if {one.result.proved_if}, " if one.result.proved_if and not aid else ""
    if excess.of == "targets" and one.threshold is not None:
        limit = one.threshold.targets
        text = (
            f"{if_so}{aid}an attacker gets more than {limit} people right in at most {{}} releases."
        )
        return decided(text, view, is_limit=True)
    who = f"{if_so}{aid}{'nobody' if aid else 'no attacker'} gets"
    of = " of this group" if excess.group else ""
    if excess.of in ("share", "advantage"):
        how = f". {_theorem(one)}" * (excess.role == "bound" and not one.result.everybody)
        return decided(f"{who} more than {{}}{of} right on average{how}.", view, is_limit=True)
    return decided(f"{who} more than {{}}{of} from the release.", view, is_limit=True)


def _theorem(one: JudgedSetting) -> str:
    """Say of whom a limit on everybody holds: of people whom the prior describes."""
    if one.result.prior_is_exact:  # else "if the prior is right" stands before it
        return "This is a theorem, if people are as the prior says, and estimated from a sample"
    return "This is a theorem, estimated from a sample of people"


def _added(
    best: PlayedAttack | None, excess: Excess | None, group: GroupFound | None
) -> Quantity | None:
    """Return what the release surely adds to the attack of the picture."""
    if best is None:
        return None
    gain, sure = known(best.gain.value), best.sure_gain
    if group is not None and excess is not None and excess.name in group.attacks:
        attack = group.attacks[excess.name]
        gain, sure = attack.share - group.guess.share, attack.sure_gain
    return Quantity(value=gain, low=min(gain, sure), grade="sampled")


def _most(one: JudgedSetting) -> Reach | None:
    """Word what no attacker exceeds, where something else decided."""
    share, count = one.result.share_bound, one.result.count_bound
    if_so = f"if {one.result.proved_if}, " if one.result.proved_if else ""
    if share is not None and not one.result.everybody and share.of_population is not None:
        limit = Quantity(value=share.of_population, grade="sampled")
        text = f"{if_so}no attacker gets more than {{}} right on average. {_theorem(one)}."
        return Reach(text, limit, share.row(one.label))
    if share is not None:
        limit = Quantity(value=share.at_most, grade=one.grade_of(share))
        return Reach(
            f"{if_so}no attacker gets more than {{}} right on average.", limit, share.row(one.label)
        )
    if count is None:
        return None
    limit = Quantity(value=count.at_most / count.of, grade=one.grade_of(count))
    times = f"{100 * count.confidence:g} of 100"
    text = f"In {times} releases, {if_so}no attacker gets more than {{}} right."
    return Reach(text, limit, count.row(one.label))


def _accepted(one: JudgedSetting, excess: Excess | None) -> str:
    """Word the threshold of the excess that decided."""
    threshold = one.threshold
    if threshold is None:
        return ""
    if excess is None:
        limits = {name: getattr(threshold, name) for name in ("share", "gain", "advantage")}
        name = next((name for name, limit in limits.items() if limit is not None), "targets")
        nothing = Quantity(value=0.0, grade="sampled")
        placeholder = Excess(role="attack", name="", of=name, group="", quantity=nothing)
        return _accepted(one, placeholder).replace("{}", written(0.0, _view(one, placeholder)))
    if excess.of == "targets":
        return f"{threshold.targets} people in one release"
    words = {
        "share": "{} right on average",
        "gain": "{} than among people outside the release",
    }
    text = words.get(excess.of)
    if text is None:
        part = threshold.worst_group if excess.group else threshold.advantage
        text = f"{three(100 * (part or 0.0))}% of the gap between guessing and certainty"
    return f"{text}, in {excess.group}" if excess.group else text


def _where(case: TableJudgement) -> str:
    alike = [setting.label for setting in case.deciding if setting.status == case.status]
    return placed(alike, len(case.each))


def _undecided(one: JudgedSetting) -> str:
    if one.held_back_by is not None:
        return (
            f"{one.label} is not decided: {one.held_back_by} has more protection, and "
            "misses the threshold."
        )
    if one.trials_needed:
        needed = rounded_trials(one.trials_needed)
        return f"{one.result.trials:,} trials are too few; about {needed:,} would probably do."
    return ""


def _hardest(one: JudgedSetting) -> str:
    if not one.result.groups:
        return (
            NO_GROUPS
            if one.result.merged is None
            else ("We cannot say who is hit hardest: the groups are too small to show.")
        )
    if (worst := most_vulnerable(one)) is None:
        return NO_GROUP
    group, _, attack = worst
    without = max(group.guess.share, attack.chance or 0.0)
    return (
        f"Hit hardest: the group “{group.by}: {group.group}”, {of_100(group.share_of_people)} "
        f"people. The attack gets {of_100(attack.share)} of them right, guessing "
        f"{of_100(without)}."
    )
