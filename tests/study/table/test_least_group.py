"""Groups of few real people in an audit: merged in the record, whoever is played."""

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.errors import StudyError
from narcissus.study.merging import SMALLER
from narcissus.study.table.least_group import ShownGroups, shown
from narcissus.study.table.prepare import prepare

SIZES = {"a": 30, "b": 12, "c": 4, "d": 2, "e": 1}


def people(sizes=SIZES, seed=4):
    rng = np.random.default_rng(seed)
    place = np.repeat([*sizes], [*sizes.values()])
    n = len(place)
    columns = {"place": place, "age": rng.integers(0, 3, n), "ill": rng.integers(0, 2, n)}
    return pd.DataFrame(columns).sample(frac=1, random_state=1, ignore_index=True)


def study(rows, *, who="all", groups=None, **more):
    return narcissus.load_study({
        "data": {"frame": rows},
        "threat": {"unknown": ["ill"], "people": who,
                   **({} if who == "all" else {"targets": 20})},
        "mechanism": {"k": 2, "epsilon": 1.0},
        "groups": {"columns": ["place"], **(groups or {})},
        "run": {"trials": 4, "seed": 3, "workers": 1},
        **more,
    })  # fmt: skip


def of(setting, by="place"):
    return {group.group: group for group in setting.groups if group.by == by}


def test_of_all_people_small_groups_are_one_and_it_is_said():
    one = narcissus.run(study(people())).record.results.settings[0]
    # 4 + 2 + 1 are fewer than 10: the next smallest is merged with them
    assert [*of(one)] == ["a", SMALLER]
    assert of(one)[SMALLER].share_of_people == pytest.approx(19 / 49)
    assert one.merged.least == 10
    assert one.merged.merged["place"] == 4
    assert one.merged.people == 49
    text = " ".join(narcissus.report.render_text(
        narcissus.run(study(people())).record).split())  # fmt: skip
    assert "4 groups by “place” are one" in text
    assert "fewer than 10 people" in text


def test_a_merged_group_has_the_numbers_of_its_members_together():
    fine = narcissus.run(study(people(), groups={"least_group": 1})).record.results.settings[0]
    one = narcissus.run(study(people())).record.results.settings[0]
    small = [of(fine)[label] for label in "bcde"]
    parts = [group.share_of_people for group in small]
    merged = of(one)[SMALLER]

    def together(number):
        return sum(p * number(g) for p, g in zip(parts, small, strict=True)) / sum(parts)

    assert merged.share_of_people == pytest.approx(sum(parts))
    assert merged.guess.share == pytest.approx(together(lambda g: g.guess.share))
    for name, attack in merged.attacks.items():
        assert attack.share == pytest.approx(together(lambda g, n=name: g.attacks[n].share))
        assert attack.people == sum(g.attacks[name].people for g in small)
    assert merged.ceiling.share == pytest.approx(together(lambda g: g.ceiling.share))


def test_nothing_else_changes():
    """Numbers about everybody, and about groups that are large, stay to the last digit."""
    fine, one = (
        narcissus.run(study(people(), groups=groups)).record.results.settings[0]
        for groups in ({"least_group": 1}, {})
    )
    assert of(fine)["a"] == of(one)["a"]
    assert (fine.guess, fine.attacks, fine.bounds) == (one.guess, one.attacks, one.bounds)


def test_drawn_people_are_in_groups_of_any_size():
    one = narcissus.run(study(people(), who="prior")).record.results.settings[0]
    assert one.merged is None
    assert len(of(one)) == 5


def test_of_drawn_rows_the_different_people_count_who_were_played():
    loaded = study(people(), who="rows")
    record = narcissus.run(loaded).record.results.settings[0]
    with loaded.code.in_use():
        experiment = prepare(loaded.settings, loaded.folder, 3)
    # the same by the worlds themselves: rows are told apart by numbers that stand in place of age
    numbered = people().assign(age=np.arange(49).astype(str))
    other = study(numbered, who="rows")
    with other.code.in_use():
        apart = prepare(other.settings, other.folder, 3)
    place = apart.table.index("age")
    seen = {int(row[place]) for t in range(4) for row in apart.crowd(t).deal.draw.data[0]}
    assert record.merged.people == len(seen)
    assert experiment.targets * 4 > len(seen) > 20
    for label, group in of(record).items():
        assert label == SMALLER or group.share_of_people * 80 >= 10


def test_two_divisions_that_differ_by_one_person_are_not_both_shown():
    rows = people({"a": 30, "b": 20})
    rows["school"] = rows["place"]
    rows.loc[rows.index[rows["place"] == "b"][0], "school"] = "a"
    groups = {"columns": ["place", "school"], "unusual": False, "singled_out": False}
    one = narcissus.run(study(rows, groups=groups)).record.results.settings[0]
    assert {group.by for group in one.groups} == {"place"}
    assert one.merged.left_out == ("school",)
    shown_all = narcissus.run(study(rows, groups={**groups, "least_group": 1}))
    assert {g.by for g in shown_all.record.results.settings[0].groups} == {"place", "school"}


def test_where_all_are_few_no_group_is_shown():
    groups = {"unusual": False, "singled_out": False}
    record = narcissus.run(study(people({"a": 12, "b": 8}), groups=groups)).record
    one = record.results.settings[0]
    assert one.groups == ()
    assert one.merged.left_out == ("place",)
    assert "the groups are of too few people to be shown" in " ".join(
        narcissus.report.render_text(record).split()
    )


def test_the_worst_group_is_one_that_may_be_shown():
    more = {"threshold": {"share": 0.9, "worst_group": 0.9}}
    one = narcissus.run(study(people(), **more)).record.results.settings[0]
    groups = {excess.group for excess in one.excesses if excess.group.startswith("place")}
    assert groups == {"place: a", f"place: {SMALLER}"}


def test_trials_are_kept_whole_so_that_another_least_size_needs_no_new_ones(tmp_path):
    narcissus.run(study(people()), folder=tmp_path)
    fine = study(people(), groups={"least_group": 1})
    again = narcissus.run(fine, folder=tmp_path)  # another study would be refused
    assert len(of(again.record.results.settings[0])) == 5
    assert again.record.results == narcissus.run(fine).record.results


def test_a_least_size_is_one_or_more():
    with pytest.raises(StudyError, match="least_group"):
        study(people(), groups={"least_group": 0})


def test_groups_are_merged_once():
    loaded = study(people())
    with loaded.code.in_use():
        experiment = prepare(loaded.settings, loaded.folder, 3)
    trials = {f"{t}/0": experiment.play(f"{t}/0") for t in range(4)}
    merged, kept = shown(experiment, trials)
    assert isinstance(merged.groups, ShownGroups)
    assert shown(merged, kept) == (merged, kept)
    assert len(merged.groups.names) == len(merged.groups.parts_of) == len(kept["0/0"]["groups"])
    assert merged.groups.asked == experiment.groups.asked > len(merged.groups.names)
