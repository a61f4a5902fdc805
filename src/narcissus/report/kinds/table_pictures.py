"""The pictures of a table's audit, each with the table behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from narcissus.report.format import limits, number, percent
from narcissus.report.kinds.table_results import (
    attack_name,
    best_count,
    best_of,
    edge_of,
    gain_of,
    grade_of,
    is_noiseless,
    label_of,
    share_allowed,
    share_proved,
    threshold_of,
    without_release,
)
from narcissus.report.page import Figure, Table
from narcissus.results import Grade
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.report.charts import Range

Answer = dict[str, Any]


def _range(value: Answer | None) -> Range | None:
    from narcissus.report.charts import Range

    return None if value is None else Range(value["share"], value.get("low"), value.get("high"))


def _axis(results: Sequence[Answer]) -> tuple[list[float], str, int | None]:
    """Give where each setting stands, the title of the axis, and the setting without noise."""
    apart = next((i for i, r in enumerate(results) if is_noiseless(r)), None)
    noisy = [r for r in results if not is_noiseless(r)]
    title, places = "setting", [float(i) for i in range(len(results))]
    for key, words in (("epsilon", "epsilon"), ("mu", "mu")):
        values = [r.get(key) for r in noisy]
        if noisy and all(isinstance(v, int | float) and v > 0 for v in values):
            title = f"{words} (log scale); less noise to the right"
            places = [0.0 if is_noiseless(r) else math.log10(r[key]) for r in results]
            break
    else:
        scales = [r["noise"]["scale"] for r in noisy]
        if noisy and all(s > 0 for s in scales):
            title = "noise scale (log scale); less noise to the right"
            places = [0.0 if is_noiseless(r) else -math.log10(r["noise"]["scale"]) for r in results]
    if apart is not None:
        others = [p for i, p in enumerate(places) if i != apart]
        span = max(others) - min(others) if others else 0.0
        places[apart] = (max(others) if others else 0.0) + max(0.22 * span, 0.3)
    return places, title, apart


def _tick(result: Answer, title: str) -> str:
    """Give the short name of a setting below its place on the axis."""
    if is_noiseless(result):
        return "no\nnoise"
    if title.startswith("epsilon"):
        return number(result["epsilon"])
    if title.startswith("mu"):
        return number(result["mu"])
    if title.startswith("noise"):
        return number(result["noise"]["scale"])
    return label_of(result)


def curves_picture(record: Record, results: Sequence[Answer]) -> Figure:
    """Draw the best attack, its baseline, the ceiling and what is proved, over the settings."""
    places, title, apart = _axis(results)
    sure = [edge_of(share_proved(r), r) for r in results]
    proved = [None if b is None else b["share_at_most"] for b in sure]
    threshold = share_allowed(record, results[0])
    known = [(r, b) for r in results if (b := best_of(r)) is not None]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import CEILING, WITH, WITHOUT, Curve, Range, curves

        own = [
            None
            if (b := best_of(r)) is None or b.get("baseline") is None
            else Range(b["baseline"], b.get("baseline_low"), b.get("baseline_high"))
            for r in results
        ]
        curves(
            figure,
            [
                Curve("ceiling", [_range(r.get("ceiling")) for r in results], CEILING, "-."),
                Curve("best attack", [_range(best_of(r)) for r in results], WITH),
                Curve("its own baseline", own, WITHOUT, "--"),
            ],
            places=places,
            labels=[_tick(r, title) for r in results],
            apart=apart,
            axis=title,
            proved=proved,
            threshold=threshold,
        )

    rows = [
        [
            label_of(r),
            None if b is None else b["share"],
            "" if b is None else limits(b.get("low"), b.get("high")),
            None if b is None else b.get("baseline"),
            None if (c := r.get("ceiling")) is None else c["share"],
            "" if c is None else limits(c.get("low"), c.get("high")),
            "" if p is None else percent(p, "up"),
        ]
        for r, b, p in ((r, best_of(r), p) for r, p in zip(results, proved, strict=True))
    ]
    headline = "What is recovered at each setting, and what no attacker can recover"
    if len(known) > 1:
        (first, a), (last, z) = known[0], known[-1]
        headline = (
            f"The best attack recovers {percent(a['share'])} at {label_of(first)} and "
            f"{percent(z['share'])} at {label_of(last)}"
        )
    return Figure(
        headline,
        "Share of secrets recovered against the setting of the release. A line with circles is the "
        "best attack with its confidence band, a dashed line with squares the same guesses on "
        "people who had no part in the release, a line with triangles the ceiling."
        + (
            " The hatched area above the heavy line is where it is proved that no attacker is, on "
            "average."
            if any(p is not None for p in proved)
            else ""
        ),
        draw,
        Table(
            "Recovered, ceiling and proved, for each setting",
            (
                "Setting",
                "Best attack",
                "Its limits",
                "Its own baseline",
                "Ceiling",
                "Limits of the ceiling",
                "Proved at most",
            ),
            rows,
            percent=("Best attack", "Its own baseline", "Ceiling"),
        ),
        (7.4, 4.3),
        "settings",
    )


def attacks_picture(record: Record, result: Answer, *, is_sweep: bool) -> Figure:
    """Draw every attack at one setting."""
    attacks: dict[str, Answer] = result.get("attacks", {})
    order = sorted(attacks, key=lambda name: -attacks[name]["share"])
    ceiling, bound = result.get("ceiling"), share_proved(result)
    where = f"At {label_of(result)}" if is_sweep else "In this release"
    best = best_of(result)

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import Row, dot_plot

        rows = [] if ceiling is None else [Row("ceiling", None, None, _range(ceiling))]
        rows += [
            Row(
                attack_name(name),
                attacks[name].get("baseline"),
                _range(attacks[name]),
                bold=name == result.get("best"),
            )
            for name in order
        ]
        dot_plot(
            figure,
            rows,
            without="the same guesses on fresh people",
            edge=None if (e := edge_of(bound, result)) is None else e["share_at_most"],
            threshold=share_allowed(record, result),
        )

    rows: list[list[str | float | None]] = []
    grades: list[Grade] = []
    if bound is not None:
        rows.append(["no attacker, on average", bound["share_at_most"], "at most", None, None])
        grades.append(grade_of(bound, result))
    listed = [] if ceiling is None else [("ceiling", ceiling)]
    for name, a in [*listed, *((name, attacks[name]) for name in order)]:
        level = limits(a.get("low"), a.get("high"))
        rows.append([attack_name(name), a["share"], level, a.get("baseline"), a.get("trials")])
        grades.append("sampled")
    headline = f"{where}, the attacks beside the ceiling and what is proved"
    without = without_release(result)
    if best is not None and without is not None:
        headline = (
            f"{where}, the best attack ({attack_name(str(result.get('best')))}) recovers "
            f"{percent(best['share'])}; {percent(without['share'])} is guessed without the release"
        )
    return Figure(
        headline,
        "One row for each attack: a circle is the share recovered with its confidence limits, an "
        "open square the attack's own baseline on fresh people, a triangle the ceiling."
        + (
            " The heavy line with hatching to its right is proved: no attacker is beyond it, on "
            "average."
            if edge_of(bound, result) is not None
            else ""
        ),
        draw,
        Table(
            "Attacks beside the ceiling",
            ("Attack", "Share recovered", "Limits", "Own baseline", "Trials"),
            rows,
            grades=grades,
            percent=("Share recovered", "Own baseline"),
        ),
        (7.4, 1.4 + 0.36 * (len(order) + 1)),
        "attacks",
    )


def distribution_picture(record: Record, result: Answer) -> Figure:
    """Draw how many targets each attack recovered from trial to trial."""
    allowed = (threshold_of(record) or {}).get("targets")
    answers = [(name, a) for name, a in result.get("attacks", {}).items() if a.get("distribution")]
    answers.sort(key=lambda pair: -pair[1]["share"])
    ceiling = result.get("ceiling")
    if ceiling is not None and ceiling.get("distribution"):
        answers.insert(0, ("ceiling", ceiling))
    bound = edge_of(best_count(result), result)
    people = int(result.get("people") or max(max(a["distribution"]["targets"]) for _, a in answers))
    most = max(max(a["distribution"]["targets"]) for name, a in answers if name != "ceiling")

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import histograms

        rows = [
            (
                attack_name(name),
                a["distribution"]["targets"],
                a["distribution"]["trials"],
                name == "ceiling",
            )
            for name, a in answers
        ]
        words = "" if bound is None else f"proved: beyond in at most {_rest(bound)} of releases"
        edge = None if bound is None else int(bound["at_most"])
        histograms(figure, rows, people=people, edge=edge, edge_words=words, threshold=allowed)

    rows = [
        [attack_name(name), *_quantiles(a["distribution"]), sum(a["distribution"]["trials"])]
        for name, a in answers
    ]
    tail = ""
    if bound is not None:
        tail = (
            f"; no attacker gets more than {number(bound['at_most'])} in more than "
            f"{_rest(bound)} of releases"
        )
    return Figure(
        f"In its luckiest trial an attack recovered {number(most)} of {number(people)} targets"
        + tail,
        "One row for each attack: the height of a bar is the number of trials in which so many "
        "targets were recovered."
        + (
            " The heavy line with hatching to its right is proved: whoever attacks, at most the "
            "part of releases written there goes beyond it."
            if bound is not None
            else ""
        ),
        draw,
        Table(
            "Targets recovered in one release",
            ("Attack", "Least", "A quarter below", "Middle", "A quarter above", "Most", "Trials"),
            rows,
        ),
        (7.4, 1.2 + 0.5 * len(answers)),
        "targets",
    )


def _rest(bound: Answer) -> str:
    """Give the part of releases in which a bound on the count may fail."""
    return f"{100 * (1 - bound['confidence']):.4g}%"


def _quantiles(distribution: Answer) -> list[int]:
    """Give least, lower quartile, median, upper quartile and most of a distribution."""
    pairs = sorted(zip(distribution["targets"], distribution["trials"], strict=True))
    total = sum(count for _, count in pairs)
    found: list[int] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        seen = 0
        for value, count in pairs:
            seen += count
            if seen >= share * total and count:
                found.append(int(value))
                break
    return found


def columns_picture(result: Answer) -> Figure:
    """Draw each unknown column: the best attack and the ceiling."""
    best, ceiling = best_of(result) or {}, result.get("ceiling") or {}
    columns: dict[str, Answer] = best.get("columns") or {}
    above: dict[str, Answer] = ceiling.get("columns") or {}
    order = sorted(columns, key=lambda name: -columns[name]["share"])

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import Row, dot_plot

        rows = [
            Row(name, columns[name].get("baseline"), _range(columns[name]), _range(above.get(name)))
            for name in order
        ]
        dot_plot(figure, rows)

    rows = [
        [
            name,
            columns[name].get("baseline"),
            columns[name]["share"],
            limits(columns[name].get("low"), columns[name].get("high")),
            None if name not in above else above[name]["share"],
        ]
        for name in order
    ]
    most = max(order, key=lambda n: columns[n]["share"] - (columns[n].get("baseline") or 0.0))
    return Figure(
        f"Of the unknown columns, the release gives away most about {most}",
        "One row for each unknown column: an open square is the baseline, a circle what the best "
        "attack recovers, a triangle the ceiling.",
        draw,
        Table(
            "Each unknown column",
            ("Column", "Baseline", "Best attack", "Limits", "Ceiling"),
            rows,
            percent=("Baseline", "Best attack", "Ceiling"),
        ),
        (7.4, 1.2 + 0.36 * len(order)),
        "columns",
    )


def groups_picture(result: Answer) -> Figure:
    """Draw the groups beside the average; the one that the release costs most stands out."""
    groups: list[Answer] = result.get("groups", [])
    name = str(result.get("best"))
    best = best_of(result)
    average: Answer = {
        "by": "everyone",
        "group": "average",
        "share_of_people": 1.0,
        "attacks": result.get("attacks", {}),
        "ceiling": result.get("ceiling"),
        "guess": result.get("guess"),
        "best": name,
    }

    def attack(group: Answer) -> Answer | None:
        return group.get("attacks", {}).get(name)

    def without(group: Answer) -> float | None:
        found = without_release({**group, "best": name})
        return None if found is None else found["share"]

    def sure_gain(group: Answer) -> float:
        """Give what the release adds, at the low limit: few people must not look worst by luck."""
        found, base = attack(group), without(group)
        if found is None or base is None:
            return -1.0
        if found.get("over_guess_low") is not None:  # of the same people, so tighter
            return found["over_guess_low"]
        low = found.get("low")
        return (found["share"] if low is None else low) - base

    worst = max(groups, key=sure_gain)

    def label(group: Answer) -> str:
        share = group.get("share_of_people")
        if group is average:
            return "everyone (100% of people)"
        return group["group"] if share is None else f"{group['group']} ({100 * share:.2g}%)"

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import Row, dot_plot

        rows: list[Row] = []
        before = ""
        for group in [average, *groups]:
            is_new = group["by"] != before and group is not average
            heading, before = (group["by"] if is_new else ""), group["by"]
            rows.append(
                Row(
                    label(group),
                    without(group),
                    _range(attack(group)),
                    _range(group.get("ceiling")),
                    bold=group is worst,
                    heading=heading,
                )
            )
        dot_plot(figure, rows)

    rows = [
        [
            group["by"],
            group["group"],
            group.get("share_of_people"),
            without(group),
            None if (a := attack(group)) is None else a["share"],
            "" if a is None else limits(a.get("low"), a.get("high")),
            None if (c := group.get("ceiling")) is None else c["share"],
        ]
        for group in [average, *groups]
    ]
    headline = "The groups beside the average"
    found = attack(worst)
    if found is not None and best is not None:
        change = (
            f"“{worst['by']}: {worst['group']}”: from {percent(without(worst))} to "
            f"{percent(found['share'])}, where the average goes from {percent(without(average))} "
            f"to {percent(best['share'])}"
        )
        clear = sure_gain(worst) > (gain_of(result, best) or 0.0)
        headline = (
            f"The release adds most for {change}"
            if clear
            else f"No group clearly loses more than the average; most is added for {change}"
        )
    bys = len({group["by"] for group in groups})
    return Figure(
        headline,
        "One row for each group, the average first: an open square is what is guessed without the "
        "release, a circle what the best attack recovers with its limits, a triangle the ceiling. "
        "The group for which the release adds most is in bold.",
        draw,
        Table(
            "Each group beside the average",
            ("By", "Group", "Of people", "Without", "Best attack", "Limits", "Ceiling"),
            rows,
            percent=("Of people", "Without", "Best attack", "Ceiling"),
        ),
        (7.4, 1.2 + 0.34 * (len(groups) + 1) + 0.32 * bys),
        "groups",
    )
