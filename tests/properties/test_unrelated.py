"""What has nothing to do with anybody changes no answer about the others in a published file."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.synthetic.copies import CountedQuestion, deciding_trace, unaccounted
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.traces import traces_of

ITEMS = [f"q{number}" for number in range(8)]
PEOPLE = 120
ERROR = 0.025
TABLE = dict(zip(range(1, 8), [3, 7, 1, 5, 2, 6, 4], strict=True))


def survey(seed, n=PEOPLE):
    """Give answers on a scale that hang together, and two columns about the person."""
    rng = np.random.default_rng(seed)
    answers = rng.normal(size=(n, 2)) @ np.random.default_rng(177).normal(0, 0.7, (2, len(ITEMS)))
    answers += np.random.default_rng(178).normal(0, 0.6, len(ITEMS)) + rng.normal(0, 0.9, (n, 8))
    scale = np.digitize(answers, [-1.8, -1, -0.3, 0.4, 1.1, 1.9]) + 1
    frame = pd.DataFrame(scale, columns=ITEMS)
    return frame.assign(age=rng.integers(18, 90, n), town=rng.choice([*"ABCDE"], n))


def payroll(seed, n=PEOPLE):
    """Give measures: each is one person's."""
    rng = np.random.default_rng(seed)
    level = rng.integers(1, 8, n)
    gross = (1500 * 1.14**level * np.exp(rng.normal(0, 0.09, n))).round(2)
    return pd.DataFrame({
        "unit": rng.choice([*"ABCDE"], n),
        "born": rng.integers(1959, 2006, n),
        "hours": rng.choice([40, 38, 30, 20], n),
        "gross": gross,
        "tax": (gross * 0.25 * np.exp(rng.normal(0, 0.05, n))).round(2),
        "bonus": rng.gamma(2, 90, n).round(2),
    })  # fmt: skip


def put_back(made, real, rows, columns=None):
    made = made.copy()
    for name in columns or real:
        made[name] = [*real[name][:rows], *made[name][rows:]]
    return made


def exact(draw):
    return draw(1), put_back(draw(2), draw(1), 24)


def rounded(draw):
    measures = ["gross", "tax", "bonus"]
    return draw(1), draw(1).assign(**draw(1)[measures].round(0))


def recoded(draw):
    some = draw(2)[["age", "town"]]
    return draw(1), draw(1).assign(**draw(1)[ITEMS].replace(TABLE), **some)


def some_recoded(draw):
    made = draw(2)
    made.loc[:49, ITEMS] = draw(1).loc[:49, ITEMS].replace(TABLE)
    return draw(1), made


def numbered(draw):
    """Put numbers of people back beside synthetic rows."""
    rng = np.random.default_rng(5)
    numbers = rng.choice(90_000_000, 2 * PEOPLE, replace=False) + 10_000_000
    theirs = [*numbers[:30], *numbers[PEOPLE : 2 * PEOPLE - 30]]
    return draw(1).assign(number=numbers[:PEOPLE]), draw(2).assign(number=theirs)


def joined(draw):
    """Join halves of different people."""
    some = ITEMS[4:]
    other = draw(1)[some].sample(frac=1, random_state=4).to_numpy()
    return draw(1), draw(1).assign(**dict(zip(some, other.T, strict=True)))


def some_columns(draw):
    return draw(1), put_back(draw(2), draw(1), 50, ["born", "gross", "unit"])


def mirrored(draw):
    return draw(1), draw(1).assign(**(8 - draw(1)[ITEMS]), age=draw(2)["age"])


HARMFUL = {
    "exact copies of some": (exact, payroll),
    "exact answers of some": (exact, survey),
    "all rounded": (rounded, payroll),
    "all recoded": (recoded, survey),
    "some recoded": (some_recoded, survey),
    "numbers put back": (numbered, payroll),
    "halves joined": (joined, survey),
    "some columns of some": (some_columns, payroll),
    "mirrored": (mirrored, survey),
}


def noise(seed, n, kind):
    rng = np.random.default_rng(seed)
    if kind == "letters":
        return rng.choice([*"uvwx"], n)
    return rng.normal(size=n).round(4) if kind == "measures" else rng.integers(0, 1000, n)


def with_noise(kind):
    return lambda real, made, _: (
        real.assign(noise=noise(11, len(real), kind)),
        made.assign(noise=noise(12, len(made), kind)),
    )


def with_column(value):
    return lambda real, made, _: (real.assign(more=value), made.assign(more=value))


def with_rows(to):
    """Add as many rows of other people, to the file or to the data."""

    def changed(real, made, draw):
        files = [real, made]
        other = draw(40 + to, len(files[to]))
        if "number" in real:
            other["number"] = np.random.default_rng(6).integers(10**8, 10**9, len(other))
        files[to] = pd.concat([files[to], other], ignore_index=True)[[*files[to]]]
        return tuple(files)

    return changed


UNRELATED = {
    "numbers": with_noise("numbers"),
    "measures": with_noise("measures"),
    "letters": with_noise("letters"),
    "rows of the file": with_rows(1),
    "people of the data": with_rows(0),
    "another order": lambda real, made, _: (
        real.sample(frac=1, random_state=9)[[*real][::-1]],
        made.sample(frac=1, random_state=8)[sorted(made)],
    ),
    "a constant": with_column("x"),
    "a number": with_column(1),
    "an empty column": with_column(np.nan),
}


def judged(real, made):
    """Return whether copies are shown or asked about, and how many people at most."""
    files = read_whole(real, made)
    traces = traces_of(files, files.names, files.names[-1:], entropy=1)
    trace = deciding_trace(traces, ERROR, 0.0, can_tell=False)
    is_shown = trace.excess(ERROR, beside=False)[1] > 0
    open_questions = list(unaccounted(files, traces, 0.0, can_tell=False, is_exceeded=is_shown))
    counts = [q.standing for q in open_questions if isinstance(q, CountedQuestion)]
    return is_shown or bool(open_questions), max([*counts, trace.copies.standing * is_shown])


@pytest.mark.nightly
@pytest.mark.parametrize("unrelated", UNRELATED)
@pytest.mark.parametrize("harm", HARMFUL)
def test_what_is_unrelated_takes_no_finding_away(harm, unrelated):
    """No harmful file is in favour, and nine in ten of its people are still counted."""
    change, draw = HARMFUL[harm]
    real, made = change(draw)
    is_found, people = judged(real, made)
    assert is_found
    is_still, others = judged(*UNRELATED[unrelated](real, made, draw))
    assert is_still
    assert others >= 0.9 * people


@pytest.mark.parametrize("value", [1, "x", None])
def test_a_column_of_one_value_changes_no_trace(value):
    """It was a column that any set of columns may have, and took verdicts away."""
    real, made = payroll(1, 30), put_back(payroll(2, 30), payroll(1, 30), 8)
    real, made = (frame[["unit", "born", "gross"]] for frame in (real, made))
    plain, more = (
        traces_of(read_whole(*files), ["born"], ["born"], entropy=1)
        for files in ((real, made), with_column(value)(real, made, None))
    )
    each = [
        [(t.how, t.columns, t.copies.standing) for t in traces.each] for traces in (plain, more)
    ]
    assert each[0] == each[1]
    assert plain.facts.copies == more.facts.copies
