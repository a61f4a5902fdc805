"""Tables of all forms, against integer programs: protected ones are met, others never.

The forms: long and wide, percentages with printed and hidden wholes, groups, codes, columns of
chance, footnotes and titles, rows that are left out. Questions are answered by the truth.
"""

import random
import re

import numpy as np
import pytest

from narcissus.counts import Publication, SizeRule, audit_tables, small_groups
from narcissus.errors import InputError

from .layouts import TOTALS, draw_layout, narrowest
from .test_layouts import PROTECTED, WIDTH, write

MOST = 2
FOOTNOTES = [
    [],
    ["1) provisional", "Source: Office, 2024"],
    ["* revised, see page 3", "Source: Office of Ayton, Office of Beeton, 2023", "(2) own count"],
    ["Note: people are counted once, at home, since 2011"],
]


def judge(path, width, below=None, **given):
    """Return the answer of `narcissus tables`, and the questions that are open."""
    tables = Publication(texts_tell_nothing=True, below=below, **given).understand([path])
    rule = SizeRule(below or 10, width)
    audit = audit_tables(*tables.sure, sizes=rule if below else None)
    known = small_groups(audit, tables.structure, rule) if below else []
    known = [] if tables.are_labels_open else known
    if known or any(one.width < width for one in audit.hidden):
        return "exceeded", ()
    if tables.unaccounted:
        return "undeclared", tables.unaccounted
    is_open = audit.groups_left or any(one.may_be_within(width) for one in audit.hidden)
    return "open" if is_open else "met", ()


def trees_of(layout):
    """Return the declarations of all groups."""
    return [
        f"{one.name}:{whole}={','.join(parts)}"
        for one in layout.dimensions
        for whole, parts in one.groups.items()
    ]


def answer(layout, question):
    """Return the option and the value that answer a question by the truth."""
    options = dict(re.findall(r"`--(\w+) \"?(.+?)\"?`", question.declaration))
    grouped = next((one.name for one in layout.dimensions if one.groups), "")
    truths = layout.truths | {one.name: "flat" for one in layout.dimensions if not one.shows_total}
    truths |= {one.name: "flat" for one in layout.dimensions if one.total in TOTALS}
    truths.pop(grouped, None)
    asked = next((one for one in layout.dimensions if f"`{one.name}`" in question.subject), None)
    is_unknown = asked is not None and asked.shows_total and asked.total not in TOTALS
    if "total" in options and is_unknown:
        return "total", asked.total
    if "percent" in options and truths.get(options["percent"].partition("=")[0]) == "percent":
        return "percent", f"{options['percent'].partition('=')[0]}={layout.whole}"
    option = next((k for k, v in options.items() if truths.get(v) == k), "hierarchy")
    if option != "hierarchy":
        return option, options[option]
    return option, "groups" if grouped else ""


def conclude(folder, layout, text, width):
    """Answer questions by the truth, and return the answer with the number of declarations."""
    path, given = write(folder, text), {}
    for declarations in range(MOST + 1):
        try:
            verdict, left = judge(path, width, **given)
        except InputError:
            if any(one.groups for one in layout.dimensions) and "hierarchy" not in given:
                given["hierarchy"] = trees_of(layout)
                continue
            return "refused", declarations
        if verdict != "undeclared" or declarations == MOST:
            return verdict, declarations
        option, value = answer(layout, left[0])
        if not value or value in given.get(option, ()) or (value == "groups" and option in given):
            return verdict, declarations
        given.setdefault(option, []).extend(trees_of(layout) if value == "groups" else [value])
    return "undeclared", MOST


def with_notes(text, seed):
    rng = random.Random(seed)
    title = rng.choice(["", "Table 3: people by area\n\n"])
    gap = rng.choice(["", "\n"])
    mark = ";" if ";" in text else "\t"
    notes = [note.replace(",", mark if rng.random() < 0.5 else ",") for note in FOOTNOTES[seed % 4]]
    return title + text + gap + "".join(f"{note}\n" for note in notes)


@pytest.mark.repeats(3, len(PROTECTED), "many")
def test_protected_tables_of_all_forms_are_met(tmp_path, many):
    for at, seed in enumerate(PROTECTED[:many]):
        layout = draw_layout(seed, ordinary=True, hidden=0.5)
        assert narrowest(layout) >= WIDTH
        verdict, _ = conclude(tmp_path, layout, with_notes(layout.text, at), WIDTH)
        assert verdict == "met", f"seed {seed}\n{layout.text}"


@pytest.mark.repeats(8, 400, "seeds")
def test_tables_with_a_cell_that_follows_are_never_met(tmp_path, seeds):
    """Also where the steward answers up to two questions, each by the truth."""
    tally = dict.fromkeys(("exceeded", "undeclared", "refused", "open", "met"), 0)
    derivable = 0
    for seed in range(seeds):
        layout, width = draw_layout(10_000 + seed), 1 + seed % 4
        verdict, _ = conclude(tmp_path, layout, with_notes(layout.text, seed), width)
        tally[verdict] += 1
        truth = narrowest(layout)
        derivable += truth < width
        assert verdict != "met" or truth >= width, f"seed {seed}: {truth}\n{layout.text}"
        assert verdict != "exceeded" or truth < width, f"seed {seed}: {truth}\n{layout.text}"
    assert derivable > seeds / 4
    print(tally)


@pytest.mark.repeats(20, 400, "seeds")
def test_no_declaration_that_is_false_hides_a_percentage(tmp_path, seeds):
    """A steward who declares percentages of the counts irrelevant gets no verdict in favour."""
    tried = 0
    for seed in range(seeds):
        layout = draw_layout(20_000 + seed)
        name = next((k for k, v in layout.truths.items() if v == "percent"), None)
        if name is None:
            continue
        tried += 1
        try:
            verdict, _ = judge(write(tmp_path, layout.text), 1, irrelevant=[name])
        except InputError:
            continue
        assert verdict != "met" or narrowest(layout) >= 1, f"seed {seed}\n{layout.text}"
    assert tried > seeds / 10


def draw_small(seed):
    """A table whose small group follows: its row is left out, or hidden alone in a sum."""
    rng = np.random.default_rng([9, seed])
    counts = rng.integers(10, 90, (3, int(rng.integers(2, 4))))
    at = tuple(int(rng.integers(n)) for n in counts.shape)
    counts[at] = rng.integers(1, 5)
    is_wide, is_left_out, has_percent = rng.random(3) < (0.4, 0.5, 0.4)
    total = counts.sum()
    rows = []
    for i in range(4):
        for j in range(counts.shape[1] + 1):
            some = counts[i if i < 3 else slice(None), j if j < counts.shape[1] else slice(None)]
            labels = f"a{i}" if i < 3 else "*", f"g{j}" if j < counts.shape[1] else "*"
            shown = "x" if (i, j) == at else str(int(some.sum()))
            percent = f"{100 * some.sum() / total + 1e-9:.1f}" if (i, j) != at else "x"
            rows.append((labels, shown, percent, is_left_out and (i, j) == at))
    if is_wide:
        names = ["area", *(f"age g{j}" for j in range(counts.shape[1])), "Total"]
        lines = [
            ",".join([f"a{i}" if i < 3 else "Total", *(
                row[1] for row in rows if row[0][0] == (f"a{i}" if i < 3 else "*")
            )])
            for i in range(4)
        ]  # fmt: skip
        names[1:-1] = [f"g{j}" for j in range(counts.shape[1])]
        return "\n".join([",".join(names), *lines]) + "\n", {"across": ["t.csv=age"]}
    lines = [
        ",".join([*labels, shown, *([percent] if has_percent else [])])
        for labels, shown, percent, is_out in rows
        if not is_out
    ]
    head = "area,age,count" + ",percent" * bool(has_percent)
    return "\n".join([head, *lines]) + "\n", {}


@pytest.mark.repeats(20, 400, "seeds")
def test_tables_with_a_small_group_that_follows_are_never_met(tmp_path, seeds):
    exceeded = 0
    for seed in range(seeds):
        text, given = draw_small(seed)
        notes = "".join(f"{note}\n" for note in FOOTNOTES[seed % 4])
        verdict, left = judge(write(tmp_path, text + notes), 1, below=5, **given)
        assert verdict in ("exceeded", "undeclared"), f"seed {seed}: {left}\n{text}"
        exceeded += verdict == "exceeded"
    assert exceeded > 0.9 * seeds
