"""Nodes of a table's result from made-up numbers, by their names."""

from narcissus.kinds.table.found import (
    BelowGuess,
    ColumnRecovered,
    Decoy,
    Excess,
    GroupAttack,
    GroupChance,
    GroupFound,
    GuessFound,
    HitCounts,
    Limited,
    PlayedAttack,
    PriorOff,
    SearchLeft,
    TableBound,
)
from narcissus.rows import Quantity

ABOUT = ("title", "uses", "method", "low_joint", "gain_low_joint", "gain_low_apart", "is_estimated")


def quantity(found, of="share", *, level=0.95, **more):
    """Take a number and its limits, that are named after it but for those of a share."""
    low, high = ("low", "high") if of == "share" else (f"{of}_low", f"{of}_high")
    ends = {"low": found.get(low), "high": found.get(high)}
    return Quantity(value=found[of], **ends, grade="sampled", confidence=level, **more)


def off_of(found):
    about = {key: found.get(key) for key in ("by_the_prior", "chance_off")}
    return PriorOff(**about, off=quantity(found, "off", level=found["confidence"]))


def guess_of(found, level=0.95):
    test = found["by_the_prior"]
    return GuessFound(
        quantity=quantity(found, level=level),
        is_best_found=bool(found.get("is_best_found")),
        at_most=found.get("at_most"),
        by_the_prior=None if test is None else off_of(test),
        columns=found.get("each_column") or {},
    )


def attack_of(found, level=0.95):
    rough, counts, decoy = (found.get(key) for key in ("approximate", "distribution", "decoy"))
    search, below = found.get("search"), found.get("below")
    ends = None if rough is None else (rough["low"], rough["high"])
    return PlayedAttack(
        **{key: found[key] for key in ABOUT if key in found},
        quantity=quantity(found, level=level, trials=found["trials"], approximate=ends),
        without=quantity(found, "baseline", level=level),
        baseline_exact=found["baseline_exact"],
        gain=quantity(found, "gain", level=level),
        advantage=quantity(found, "advantage", level=level),
        decoy=None
        if decoy is None
        else Decoy(quantity=quantity(decoy, level=level), test=off_of(decoy)),
        search=None if search is None else SearchLeft(**search),
        below=None if below is None else BelowGuess(**below),
        distribution=None
        if counts is None
        else HitCounts(targets=tuple(counts["targets"]), trials=tuple(counts["trials"])),
        columns={
            name: ColumnRecovered(quantity=quantity(one, level=level), baseline=one["baseline"])
            for name, one in found["columns"].items()
        },
    )


def group_of(found, level=0.95):
    def attack(one):
        chance = one.get("by_chance")
        return GroupAttack(
            quantity=quantity(one, level=level),
            baseline=one["baseline"],
            over_guess=quantity(one, "over_guess", level=level),
            people=one.get("people"),
            by_chance=None if chance is None else GroupChance(**chance),
        )

    ceiling = found["ceiling"]
    return GroupFound(
        **{key: found[key] for key in ("by", "group", "by_secret", "share_of_people")},
        guess=Limited(quantity=quantity(found["guess"], level=level)),
        attacks={name: attack(one) for name, one in found["attacks"].items()},
        ceiling=None if ceiling is None else attack(ceiling),
    )


def bound_of(found):
    is_share = found["limits"] == "share"
    return TableBound(
        quantity=Quantity(
            value=found["share_at_most" if is_share else "at_most"],
            grade=found["grade"],
            confidence=None if is_share else found["confidence"],
            id=found.get("id", ""),
            assumptions=tuple(found["assumptions"]),
            takes_as_given=tuple(found["takes_as_given"]),
        ),
        **{key: found[key] for key in ("theorem", "name", "guarantee", "for_comparison")},
        people=None if is_share else found["of"],
        of_population=found["share_of_population" if is_share else "at_most_of_population"],
        reached=found.get("reached"),
    )


def excess_of(role, name, of, group, value, low, high, *, kind="sampled", **more):
    numbers = Quantity(value=value, low=low, high=high, grade=kind)
    return Excess(role=role, name=name, of=of, group=group, quantity=numbers, **more)
