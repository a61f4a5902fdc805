"""Studies of published tables: certainty and the game as rows, thresholds, words, refusals."""

import itertools

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.counts import AsPublished, Publication, TablesGame, WantedSecret, play, posterior
from narcissus.errors import InputError, StudyError
from narcissus.kinds.published.kind import KIND
from narcissus.kinds.published.result import (
    CERTAIN,
    DETERMINED,
    EXPECTED,
    GAIN,
    GAME,
    GROUPS,
    HIDDEN,
    SHARE,
    THESE,
)
from narcissus.report import page_of, render_html, render_text
from narcissus.study.reading import read_record

DATA = {"tables": ["area.csv", "sex.csv"], "people": "people.csv"}
MADE = {"below": 4}
THREAT = {"secret": "ill", "known": ["area", "sex"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("published"), np.random.default_rng(3)
    people = pd.DataFrame({
        "area": rng.choice(["North", "South", "West"], 40), "sex": rng.choice(["F", "M"], 40),
        "ill": rng.choice(["no", "yes"], 40, p=[0.75, 0.25]),
        "row": np.arange(40) // 5, "seat": np.arange(40) % 5,
    })  # fmt: skip
    people.to_csv(place / "people.csv", index=False)
    people.assign(ill=rng.choice(["a", "b"], 40)).to_csv(place / "own.csv", index=False)
    for first in ("area", "sex"):
        lines = [f"{first},ill,count"]
        for own in itertools.product(["*", *sorted(set(people[first]))], ["*", "no", "yes"]):
            pairs = zip((first, "ill"), own, strict=True)
            count = int(np.all([(people[k] == v) | (v == "*") for k, v in pairs], axis=0).sum())
            lines.append(f"{own[0]},{own[1]},{'x' if 0 < count < 4 else count}")
        (place / f"{first}.csv").write_text("\n".join(lines))
    return place


def played(folder, **sections):
    settings = {"kind": "published-tables", "data": DATA, "made": MADE, "threat": THREAT,
                "run": {"trials": 6, "seed": 1}} | sections  # fmt: skip
    settings = {k: v for k, v in settings.items() if v is not None}
    return narcissus.run(narcissus.load_study(settings, folder=folder))


@pytest.fixture(scope="module")
def record(folder):
    return played(folder, threshold={"gain": 0.9, "share": 0.99, "people": 10**6}).record


def rows(record, **wanted):
    return [row for row in record.rows if all(getattr(row, k) == v for k, v in wanted.items())]


def test_nothing_is_proved_of_sums_while_a_label_may_be_the_total(tmp_path):
    (tmp_path / "e.csv").write_text("area,count\nA,c\nB,c\nC,c\nEngland,82\n")
    sections = {"data": {"tables": ["e.csv"]}, "threshold": {"people": 0}}
    sections["threat"] = {"secret": "area", "known": []}
    made = {"below": 5, "mark": ["c=any"], "texts_tell_nothing": True}
    record = played(tmp_path, made=made, **sections).record
    assert record.status == "inconclusive"
    assert not any(row.quantity.value for row in rows(record, of=DETERMINED))
    record = played(tmp_path, made=made | {"total": ["England"]}, **sections).record
    assert record.status == "met"


def test_its_rows_are_those_of_the_game(folder, record):
    declared = Publication(texts_tell_nothing=True, below=4)
    cells = declared.read([folder / "area.csv", folder / "sex.csv"])
    people = pd.read_csv(folder / "people.csv")
    game = TablesGame(people, AsPublished(cells, declared.structure, declared.rules),
                      WantedSecret("ill", ("area", "sex")))  # fmt: skip
    found = play(game, trials=6, rng=1)
    [most] = rows(record, role="bound")
    assert most.value == found.ceiling
    for one in found.attacks:
        [these, seen] = rows(record, of=SHARE, role="attack", name=one.name)
        [gain] = rows(record, of=GAIN, name=one.name)
        assert these.value == one.these <= found.ceiling
        assert these.is_exact
        # the study's stream is another one
        assert gain.quantity.low <= one.gain.high
        assert gain.quantity.high >= one.gain.low
        assert gain.value == pytest.approx(seen.value - seen.baseline)
        assert sum(seen.about.readings.values()) == 6


def test_the_same_seed_plays_the_same_whoever_plays(folder, record):
    again = played(folder, threshold={"gain": 0.9, "share": 0.99, "people": 10**6},
                   run={"trials": 6, "seed": 1, "workers": 2})  # fmt: skip
    assert again.record.rows == record.rows


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("threshold", "status"), [
    ({"people": 0}, "exceeded"), ({"people": 0, "groups": 99}, "met"), ({"share": 0.99}, "met"),
    ({"share": 0.3}, "exceeded"), ({"gain": 0.9}, "not shown"), (None, "no threshold"),
    ({"share": 0.99, "gain": 0.9}, "not shown"),
])  # fmt: skip
def test_status_follows_from_what_is_accepted(folder, threshold, status):
    record = played(folder, threshold=threshold).record
    assert record.status == status
    accepted = {
        "gain": {GAIN},
        "share": {SHARE},
        "people": {DETERMINED, CERTAIN, GROUPS},
        "groups": {GROUPS},
    }
    deciding = {one.of for one in record.criteria if one.decides}
    asked = threshold or {"gain", "share"}
    assert deciding == set().union(*(accepted[key] for key in asked)) | (
        set() if threshold else {DETERMINED, GROUPS}
    )


@pytest.mark.parametrize(("most", "steps", "status"), [
    (0, 10**5, "exceeded"), (6, 10**5, "exceeded"), (7, 10**5, "met"), (7, 0, "inconclusive"),
    (6, 0, "exceeded"),
])  # fmt: skip
def test_nobody_is_determined_and_a_secret_follows(folder, most, steps, status, monkeypatch):
    """All seven people of N are ill, and each of them has an age that is hidden."""
    monkeypatch.setattr(posterior, "LARGEST_SAMPLED", 1)  # what is not found is fitted
    ages = ["young", "old"] * 15
    pd.DataFrame({"area": ["N"] * 7 + ["S"] * 23, "ill": ["yes"] * 18 + ["no"] * 12, "age": ages}
                 ).to_csv(folder / "all_ill.csv", index=False)  # fmt: skip
    (folder / "ill.csv").write_text("area,ill,count\nN,yes,7\nN,no,0\nS,yes,11\nS,no,12\n")
    (folder / "age.csv").write_text("area,age,count\nN,young,c\nN,old,c\nS,young,c\nS,old,c\n")
    record = played(
        folder, data={"tables": ["ill.csv", "age.csv"], "people": "all_ill.csv"},
        made={"mark": ["c=any"], "flat": ["area", "age"], "texts_tell_nothing": True},
        threat={"secret": "ill", "known": ["area"]},
        threshold={"people": most}, run={"trials": 2, "seed": 1, "steps": steps},
    ).record  # fmt: skip
    assert record.status == status
    assert [one.value for one in rows(record, of=DETERMINED)] == [0]
    assert [one.value for one in rows(record, of=CERTAIN)] == [7 / 30]
    text = " ".join(render_text(record).split())
    assert "The ill of 23 of 100 people follows from the tables with certainty." in text
    assert ("7 people whose ill is certain, is kept" in text) == (status == "met")
    assert ("for whom else the ill is certain" in text) == (status == "inconclusive")


def test_a_gain_that_is_shown_exceeds(folder):
    """Everybody has a row and seat of their own, and the table shows what is the case of each."""
    cells = [f"{one.row},{one.seat},{label},{int(one.ill == label)}"
             for one in pd.read_csv(folder / "own.csv").itertuples() for label in "ab"]  # fmt: skip
    (folder / "seats.csv").write_text("\n".join(["row,seat,ill,count", *cells]))
    found = played(folder, data={"tables": ["seats.csv"], "people": "own.csv"},
                   threat={"secret": "ill", "known": ["row", "seat"]},
                   threshold={"gain": 0.1, "people": 39},
                   run={"trials": 40, "seed": 1})  # fmt: skip
    assert {one.status for one in KIND.judged(found.record).deciding} == {"exceeded"}
    [sure] = rows(found.record, of=CERTAIN)
    assert sure.value == 1
    text = render_text(found.record)
    assert "right about 100 of 100 people in the tables of the game" in text
    text = " ".join(text.split())
    assert "Your threshold for the gain, 10 of 100 people, is exceeded: it is 45" in text
    assert "All labels of at least 40 people follow from the tables" in text


def test_without_records_there_is_certainty_and_a_prior(folder):
    data = DATA | {"people": None}
    found = played(folder, data=data).record
    assert {row.of for row in found.rows} == {DETERMINED, GROUPS, HIDDEN, EXPECTED}
    hidden = rows(found, of=HIDDEN)
    assert len(hidden) == found.result.hidden.total > 0
    assert all(row.quantity.low <= row.quantity.high <= 3 for row in hidden)
    assert {row.quantity.grade for row in hidden} == {"proved if"}  # two tables are joined
    assert all(row.quantity.grade == "approximate" for row in rows(found, of=EXPECTED))
    assert "name `people` in [data]" in found.not_assessed[0].remedy
    assert "expects to be right for" in " ".join(render_text(found).split())
    assert page_of(found).first.with_it is None  # without a baseline nothing is added
    accepted = {"people": 0, "groups": 99}
    certain = played(folder, data=data, threat=None, threshold=accepted).record
    assert {row.of for row in certain.rows} == {DETERMINED, GROUPS, HIDDEN}
    assert (certain.status, certain.grade) == ("met", "proved if")
    assert certain.assumptions[0].startswith("all tables are about the same people")
    assert "All labels of" in render_text(certain)


@pytest.mark.parametrize(
    ("cell", "said"),
    [("x", "No cell of these tables is printed as a number"), ("0", "The tables have no people")],
)
def test_a_publication_of_nothing_says_so(tmp_path, cell, said):
    rows = [f"{a},{b},{cell}\n" for a, b in itertools.product("FM", ["no", "yes"])]
    (tmp_path / "t.csv").write_text("sex,ill,count\n" + "".join(rows))
    data, threat = {"tables": ["t.csv"]}, {"secret": "ill", "known": ["sex"]}
    found = played(tmp_path, data=data, threat=threat, made=None).record
    text = " ".join(render_text(found).split())
    assert said in text
    assert "right for 0 of 100" not in text


def test_its_page_says_what_its_rows_say(record, tmp_path):
    (tmp_path / "record.json").write_text(record.to_json())
    assert read_record(tmp_path) == record
    assert KIND.judged(record).status == record.status
    page = page_of(record)
    for word in ("is right about", "no attacker who knows the same columns", "People whose ill"):
        assert word in " ".join(render_text(record).split())
    assert "<html" in render_html(record)
    assert page.first.without is not None
    # the gain decided: the picture is of the tables of the game, which no limit is about
    surest = KIND.judged(record).worst.surest
    [inside] = [row for row in rows(record, of=SHARE, role="attack", name=surest.name)
                if row.at == GAME]  # fmt: skip
    assert (page.first.with_it, page.first.most) == (round(100 * inside.value), None)


@pytest.mark.parametrize(("sections", "error", "words"), [
    ({"threshold": {}}, StudyError, "give `gain`, `share`, `people` or"),
    ({"threat": None}, StudyError, "needs \\[threat\\]"),
    ({"data": DATA | {"people": None}, "threshold": {"gain": 0.1}}, InputError, "name `people`"),
    ({"threat": {"secret": "il", "known": []}}, InputError, "did you mean `ill`"),
    ({"threat": {"secret": "ill", "known": ["height"]}}, InputError, "height"),
    ({"made": {"below": 2}}, InputError, "of the people are there"),
    ({"data": DATA | {"people": "own.csv"}}, InputError, "ill = [ab], which no table shows"),
    ({"data": DATA | {"tables": ["none.csv"]}}, InputError, "none.csv"),
    ({"made": {"belw": 2}}, StudyError, "did you mean `below`"),
])  # fmt: skip
def test_mistakes_are_named(folder, sections, error, words):
    with pytest.raises(error, match=words):
        played(folder, **sections)


def test_the_gain_is_at_its_own_place(record):
    """What no attacker exceeds is about these tables, not about those with people left out."""
    gain = next(one for one in KIND.judged(record).each if one.criterion.of == GAIN)
    assert gain.criterion.at == GAME
    assert gain.bound is None


def test_statistics_that_the_attack_does_not_use_are_named_at_each_figure(folder):
    rng, people = np.random.default_rng(2), pd.read_csv(folder / "people.csv")
    people.assign(age=rng.integers(20, 60, 40)).to_csv(folder / "aged.csv", index=False)
    own = pd.read_csv(folder / "aged.csv").groupby("ill").age.agg(["size", "mean"])
    rows_ = [f"{label},{one['size']:.0f},{one['mean'] + 1e-9:.1f}" for label, one in own.iterrows()]
    (folder / "mean.csv").write_text("\n".join(["ill,count,mean", *rows_]) + "\n")
    more = "An attacker who uses all means, medians and totals may"
    data = {"tables": ["area.csv", "mean.csv"], "people": "aged.csv"}
    threat = {"secret": "ill", "known": ["area"]}
    for people_, figures in (("aged.csv", 3), (None, 1)):
        found = played(folder, data=data | {"people": people_}, threat=threat,
                       made=MADE | {"variable": "age=0:99"}).record  # fmt: skip
        assert found.status in ("no threshold", "not assessed")
        words = " ".join(render_text(found).split())
        assert words.count(more) >= figures
        assert found.result.leaves_statistics_out
        read_alone = [row for row in found.rows if getattr(row.about, "read", "") == "counts alone"]
        these = [row for row in read_alone if row.at == THESE]
        assert these
        assert all(not row.is_exact and row.quantity.grade != "proved" for row in these)
        assert any("who uses all means" in str(one) for one in found.not_assessed)
    assert "An attacker who uses" not in " ".join(render_text(played(folder).record).split())


# The first screen is the row that decided


def exposed(folder, **sections):
    """Play a study of a table whose two hidden counts follow by subtraction."""
    people = [("N", "yes")] * 2 + [("N", "no")] * 12 + [("S", "yes")] * 3 + [("S", "no")] * 20
    pd.DataFrame(people, columns=["area", "ill"]).to_csv(folder / "exposed.csv", index=False)
    (folder / "sums.csv").write_text(
        "area,ill,count\nN,yes,x\nN,no,12\nN,*,14\nS,yes,x\nS,no,20\nS,*,23\n"
    )
    data = {"tables": ["sums.csv"], "people": "exposed.csv"}
    return played(
        folder,
        data=data,
        made=MADE | {"texts_tell_nothing": True},
        threat={"secret": "ill", "known": ["area"]},
        run={"trials": 30, "seed": 1},
        **sections,
    ).record


@pytest.mark.parametrize(("threshold", "said"), [
    ({"people": 3}, "All labels of 37 people follow from the tables"),
    ({"share": 0.1}, "right about 86 of 100 people in these tables"),
    ({"gain": 0.9}, "people in the tables of the game"),
])  # fmt: skip
def test_the_first_screen_is_of_the_row_that_decided(folder, threshold, said):
    record = exposed(folder, threshold=threshold)
    screen, worst = page_of(record).first, KIND.judged(record).worst
    words = " ".join(text for text, _ in screen.sentences)
    assert said in words
    assert screen.hardest.startswith("All 2 hidden counts can be recomputed exactly.")
    assert "Nobody was found" not in " ".join(render_text(record).split())
    if worst.criterion.of == SHARE:
        assert screen.with_it == round(100 * worst.best.value)
    if worst.criterion.of == GAIN:
        [inside] = [row for row in rows(record, of=SHARE, role="attack", name=worst.surest.name)
                    if row.at == GAME]  # fmt: skip
        assert screen.with_it == round(100 * inside.value)


def test_a_secret_that_is_certain_is_the_figure_of_the_screen(folder):
    people = [("N", "yes", f"r{n}") for n in range(7)] + [("S", "no", f"r{n}") for n in range(9)]
    pd.DataFrame(people, columns=["area", "ill", "room"]).to_csv(folder / "rooms.csv", index=False)
    (folder / "areas.csv").write_text("area,ill,count\nN,yes,7\nN,no,0\nS,yes,0\nS,no,9\n")
    labels = [(area, f"r{n}") for area in "NS" for n in range(9)]
    (folder / "room.csv").write_text(
        "area,room,count\n" + "".join(f"{area},{room},c\n" for area, room in labels)
    )
    record = played(
        folder,
        data={"tables": ["areas.csv", "room.csv"], "people": "rooms.csv"},
        made={"mark": ["c=any"], "flat": ["room"], "texts_tell_nothing": True},
        threat={"secret": "ill", "known": ["area"]},
        threshold={"people": 3},
        run={"trials": 2, "seed": 1},
    ).record
    assert record.status == "exceeded"
    assert KIND.judged(record).worst.criterion.of == CERTAIN
    screen = page_of(record).first
    assert screen.with_it == 100
    assert "follows from the tables with certainty" in screen.sentences[1][0]


def test_what_is_not_understood_is_never_met(folder):
    text = (folder / "area.csv").read_text().splitlines()
    noted = [text[0] + ",remarks", *(f"{line},{'see page 3' * (k % 2)}"
                                     for k, line in enumerate(text[1:]))]  # fmt: skip
    (folder / "noted.csv").write_text("\n".join(noted))
    data = {"tables": ["noted.csv", "sex.csv"], "people": "people.csv"}
    made = MADE | {"texts_tell_nothing": True}
    record = played(folder, data=data, threshold={"share": 0.99}, made=made).record
    assert record.status == "undeclared"
    text = " ".join(render_text(record).split())
    assert "column `remarks` of noted.csv is not accounted for" in text.replace("Column", "column")
    assert 'irrelevant = ["remarks"]' in text
    made |= {"irrelevant": ["remarks"]}
    record = played(folder, data=data, threshold={"share": 0.99}, made=made).record
    assert record.status == "met"
    assert "irrelevant: `remarks`" in " ".join(render_text(record).split())
    assert any("dimension: `area`" in line for line in record.result.layout)


def test_a_hidden_cell_that_subtraction_tells_is_a_known_group(folder):
    record = played(folder, threshold={"people": 0}, data=DATA | {"people": None}).record
    [groups] = rows(record, of=GROUPS)
    hidden = [row for row in rows(record, of=HIDDEN) if row.quantity.low == row.quantity.high]
    assert groups.value == len([row for row in hidden if 0 < row.value < 4]) > 0
    assert record.status == "exceeded"
    assert "Your threshold, 0 small groups known, is exceeded." in render_text(record)
    sizes = f"The size of {groups.value:.0f} group"
    assert sizes in " ".join(render_text(record).split())


def test_groups_that_decide_are_told_and_no_attack_is_drawn_in_their_place(folder):
    """The headline was about small groups, and picture and sentences about an attack."""
    record = played(folder, threshold={"people": 0}).record
    first = page_of(record).first
    assert first.decided_by.of == GROUPS
    assert "small groups known" in first.answer
    assert first.sentences[1][0].startswith("The size of ")
    assert (first.without, first.with_it, first.most) == (None, None, None)


def test_a_threshold_that_nothing_says_is_asked_for(folder):
    """What a difference of two tables tells is not counted in favour, whatever it is called."""
    text = "age,count\n0-15,40\n16-17,{}\n18+,50\n"
    (folder / "all.csv").write_text(text.format(12))
    (folder / "rest.csv").write_text(text.format(10))
    made = {"within": ["rest.csv:area!=North"], "texts_tell_nothing": True}
    sections = {"data": {"tables": ["all.csv", "rest.csv"]}, "threat": None}
    accepted = {"people": 200, "groups": 0}
    asked = played(folder, made=made, threshold=accepted, **sections)
    assert asked.record.status == "undeclared"
    [left] = asked.record.result.unaccounted
    assert "age = 16-17" in left.reason
    assert left.declaration == "`below = 5` in `[made]`"
    made["below"] = 2
    assert played(folder, made=made, threshold=accepted, **sections).record.status == "met"
    made["below"] = 3
    assert played(folder, made=made, threshold=accepted, **sections).record.status == "exceeded"


def test_a_fitted_reading_says_nothing(folder, monkeypatch):
    monkeypatch.setattr(posterior, "LARGEST_SAMPLED", 1)
    record = played(folder, data=DATA | {"people": None}, run={"steps": 0}).record
    readings = rows(record, of=EXPECTED)
    assert {row.about.read for row in readings} == {"fitted"}
    assert {row.quantity.grade for row in readings} == {"not assessed"}
    assert "expects to be right" not in render_text(record)


@pytest.mark.parametrize("secret", [False, True])
def test_no_fact_in_favour_stands_beside_an_open_question(tmp_path, secret):
    """A column that is not understood, labels that may be a total: hidden counts are undecided."""
    column = "area,count,more\nA,x,3\nB,x,a\nC,90,b\nTotal,150,c\n"
    labels = "area,count\nA,c\nB,c\nC,c\nEngland,82\n"
    threat = {"secret": "area", "known": []} if secret else None
    for table in (column, labels):
        (tmp_path / "t.csv").write_text(table)
        record = played(tmp_path, data={"tables": ["t.csv"]}, made={"mark": ["c=any"]},
                        threat=threat, threshold={"people": 10**6}).record  # fmt: skip
        assert record.status in ("undeclared", "inconclusive")
        text = " ".join(render_text(record).split())
        assert "No hidden count can be recomputed" not in text
        assert "no others" not in text
        assert "This holds for every attacker" not in text
        assert "Whether hidden counts can be recomputed exactly is not decided." in text
