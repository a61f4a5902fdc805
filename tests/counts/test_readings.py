"""A verdict in favour holds under every reading of labels that nothing excludes.

Labels may hold others by name, code, range or indentation; an unknown word may be the total. The
people whom no label shows are then a difference, and a table is never met where they are few.
"""

import random

import pytest

from narcissus.counts import Publication, audit_tables, with_own_labels
from narcissus.counts.marks import Rules
from narcissus.errors import InputError

from .test_forms import judge
from .test_layouts import write

LONG = "{},sex,count\n"
WORDS = ["Tutti", "Quanti", "\u0412\u0441\u0435\u0433\u043e", "\u5408\u8a08", "Any"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("extra", [[], ["maybe,31"]])
def test_a_total_whose_other_category_is_left_out(tmp_path, word, extra):
    whole = 23 + 31 * len(extra)
    path = write(tmp_path, "\n".join(["ill,count", "no,20", *extra, f"{word},{whole}"]) + "\n")
    if Rules().is_total(word):  # a known word, which the numbers contradict
        with pytest.raises(InputError, match="--others"):
            judge(path, 1, below=5)
    else:
        verdict, left = judge(path, 1, below=5)
        assert verdict == "undeclared"
        assert f"--total {word}" in left[0].declaration
    assert judge(path, 1, below=5, part=[word])[0] == "met"
    assert judge(path, 1, below=5, total=[word], others=["ill"])[0] == "exceeded"


NESTED = {
    "colon": ("Nord", "Nord: Alba", "Nord: Brod"),
    "code": ("DE1", "DE11", "DE12"),
    "points": ("1", "1.1", "1.2"),
    "of which": ("Nord", "of which Alba", "of which Brod"),
    "davon": ("Nord", "davon Alba", "davon Brod"),
    "dash": ("Nord", "- Alba", "- Brod"),
    "indented": ("Nord", "   Alba", "   Brod"),
    "ranges": ("adults", "18-39", "40-64"),
}


@pytest.mark.parametrize("kind", NESTED)
def test_labels_that_hold_others_and_a_few_more_are_asked_for(tmp_path, kind):
    whole, one, other = NESTED[kind]
    rows = [f"{whole},F,40", f"{whole},M,53", f"{one},F,20", f"{one},M,19", f"{other},F,17"]
    rows += [f"{other},M,22", "Sud,F,30", "Sud,M,41"]
    path = write(tmp_path, LONG.format("area") + "\n".join(rows) + "\n")
    verdict, left = judge(path, 1, below=5)
    assert verdict == "undeclared"
    assert any(f"--part {whole}" in question.declaration for question in left)
    assert judge(path, 1, below=5, part=[whole])[0] == "met"
    tree = f"area:{whole}={one.strip()},{other.strip()},others"
    assert judge(path, 1, below=5, hierarchy=[tree])[0] == "exceeded"
    safe = path.read_text().replace("F,40", "F,95").replace("M,53", "M,99")
    assert judge(write(tmp_path, safe), 1, below=5)[0] == "met"


HIDDEN = [
    ("Alba,x\nBrod,x\nCern,x\nDova,x\nNord,x\nSud,x\nTotal,8\n", {"no_zeros": True}),
    ("Alba,c\nCern,15\nDova,c\nNord,c\nSud,20\nTotal,45\n", {"mark": ["c=any"]}),
    ("1,x\n1.1,x\n1.2,x\n2,x\n2.1,x\n2.2,x\nTotal,8\n", {}),
]


@pytest.mark.parametrize(("rows", "given"), HIDDEN)
def test_hidden_labels_that_may_be_sums_of_others_are_asked_for(tmp_path, rows, given):
    path = write(tmp_path, "area,count\n" + rows)
    assert judge(path, 1, below=5, **given)[0] == "undeclared"
    assert judge(path, 1, below=5, flat=["area"], **given)[0] == "met"


def test_a_row_that_is_printed_whole_excludes_groups(tmp_path):
    rows = ["Alba,c,9,c,50", "Brod,c,8,c,60", "Cern,20,7,9,36", "Total,71,24,51,146"]
    text = "\n".join(["area,F,M,D,Total", *rows]) + "\n"
    given = {"below": 5, "mark": ["c=any"], "across": ["t.csv=sex"]}
    assert judge(write(tmp_path, text), 1, **given)[0] == "met"


def draw_nested(rng):
    """A table with labels that hold others, or a total, and people whom no label shows."""
    kind = rng.choice([*NESTED, "total"])
    few = rng.random() < 0.5
    words = rng.sample(["Ambo", "Berol", "Calen", "Dorit"], 3)
    contexts = ["u", "v", "w"][: rng.randint(1, 3)]
    rests = [rng.randint(12, 60) for _ in contexts]
    if few:
        rests[rng.randrange(len(rests))] = rng.randint(1, 4)
    rows = []
    for context, rest in zip(contexts, rests, strict=True):
        parts = [rng.randint(5, 90) for _ in range(2)]
        labels = words if kind == "total" else list(NESTED[kind])
        rows.append((context, labels[0], sum(parts) + rest))
        rows += [(context, label, count) for label, count in zip(labels[1:], parts, strict=True)]
        if kind != "total":
            rows.append((context, "Elsewhere", rng.randint(200, 900)))
    if kind == "total" and rng.random() < 0.5:
        rows = [
            *(row for row in rows if row[1] != words[0]),
            *(r for r in rows if r[1] == words[0]),
        ]
    return few, "\n".join(["area,group,count", *(f"{b},{a},{n}" for a, b, n in rows)]) + "\n"


@pytest.mark.repeats(20, 1000, "seeds")
def test_few_people_whom_no_label_shows_are_never_met(tmp_path, seeds):
    """Nor are many of them asked for where they are not few."""
    asked = harmless = 0
    for seed in range(seeds):
        few, text = draw_nested(random.Random(seed))
        verdict, _ = judge(write(tmp_path, text), 1, below=5)
        assert not few or verdict != "met", f"seed {seed}\n{text}"
        harmless += not few
        asked += not few and verdict != "met"
    assert asked <= harmless / 5


OPEN = "area,F,M,Total\nAlba,x,17,20\nBrod,12,19,31\nNord,x,x,x\nCern,8,x,30\n"


@pytest.mark.parametrize("more", ["", "Tutti,x,x,x\n", "Tutti,43,x,133\n"])
def test_what_follows_whatever_a_label_is_exceeds_without_a_declaration(tmp_path, more):
    """`Nord` may hold others; the women of Alba are 3 all the same."""
    path = write(tmp_path, OPEN + more)
    read = Publication(across=["t.csv=sex"]).understand([path])
    assert read.are_labels_open
    audit = audit_tables(*read.sure)
    known = {
        (cell.labels.get("area"), cell.labels.get("sex")): one.low
        for one in audit.hidden
        if one.determined and (cell := with_own_labels(one.cell))
    }
    assert known.items() >= {("Alba", "F"): 3, ("Cern", "M"): 22}.items()
    assert ("Nord", "F") not in known
    assert judge(path, 1, across=["t.csv=sex"])[0] == "exceeded"


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.one_in(2)
def test_no_more_than_what_holds_under_every_reading_exceeds(tmp_path, seed):
    """An open label is a total, a group or none: limits hold of the truth each time."""
    rng = random.Random(seed)
    parts = [[rng.randint(1, 30) for _ in range(2)] for _ in range(5)]
    kind = rng.choice(["total", "group", "none"])
    chosen = {"total": parts, "group": parts[:3], "none": [[7, 9]]}[kind]
    rows = [*parts, [sum(some) for some in zip(*chosen, strict=True)]]
    lines = ["area,F,M,Total"]
    for name, (f, m) in zip(["Alba", "Brod", "Cern", "Dova", "Esta", "Tutti"], rows, strict=True):
        shown = [str(n) if rng.random() < 0.6 else "x" for n in (f, m, f + m)]
        lines.append(",".join([name, *shown]))
    path = write(tmp_path, "\n".join(lines) + "\n")
    read = Publication(across=["t.csv=sex"]).understand([path])
    truth = {}
    for line, (f, m) in enumerate(rows, 2):
        truth |= {(line, "F"): f, (line, "M"): m, (line, "Total"): f + m}
    if read.are_labels_open:
        for one in audit_tables(*read.sure).cells:
            true = truth[one.cell.line, one.cell.column]
            assert one.low <= true <= (true if one.high is None else one.high)
