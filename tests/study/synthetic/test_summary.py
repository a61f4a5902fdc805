"""From who was hit to limits: the levels of all claims together, groups, verdicts."""

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.evidence import clopper_pearson
from narcissus.evidence.intervals import TwoSamples
from narcissus.study.synthetic.kind import Levels, summarised
from narcissus.study.synthetic.schema import ExcessThreshold
from narcissus.synthetic import FileThreat, assess_file, read_files


def test_the_error_is_divided_among_what_decides():
    alone = Levels.of(0.95, 3, 4, groups_decide=False)
    assert alone.claims == 3
    assert alone.claim == pytest.approx(1 - 0.05 / 3)
    assert alone.group == pytest.approx(1 - 0.05 / 12)
    both = Levels.of(0.95, 3, 4, groups_decide=True)
    assert both.claims == 15
    assert both.claim == both.group == pytest.approx(1 - 0.05 / 15)
    assert Levels.of(0.9, 3, 0, groups_decide=False).group == pytest.approx(0.9, abs=0.07)


@pytest.fixture(scope="module")
def assessed(files):
    given = read_files(files["real"], files["real"], files["control"])
    return given, assess_file(given, FileThreat(("ill",)), entropy=1)


def results(assessed, columns=(), **threshold):
    accepted = ExcessThreshold.model_validate(threshold)
    return summarised(*assessed, accepted, confidence=0.95, columns=columns)


def test_numbers_are_those_of_the_people_scored(assessed):
    _, found = assessed
    for risk, said in zip(found.risks, results(assessed).risks, strict=True):
        limits = clopper_pearson(int(risk.real.sum()), risk.real.size)
        assert (said.real.share, said.real.low, said.real.high) == (
            risk.real.mean(), limits.low, limits.high
        )  # fmt: skip
        counts = TwoSamples(
            int(risk.real.sum()), risk.real.size, int(risk.control.sum()), risk.control.size
        )
        joint = counts.excess(confidence=1 - 0.05 / 3)
        assert (said.excess.low, said.excess.high) == (joint.low, joint.high)
        assert said.excess.fisher == counts.fisher
        assert said.verdict == ("exceeded" if joint.low > 0 else "not shown")
    guess = results(assessed).risks[0].guess
    gain = found.risks[0].real.mean() - found.risks[0].guessed_real.mean()
    assert guess.above.value == pytest.approx(gain)
    assert guess.above.low < gain < guess.above.high


def test_a_threshold_moves_the_verdict(assessed):
    free = results(assessed, at_most=0.9)
    assert free.verdicts == {"not shown"}
    some = results(assessed, at_most=0.9, linkability=0.0)
    assert [risk.verdict for risk in some.risks] == ["not shown", "not shown", "exceeded"]
    assert some.verdict == "exceeded"


def test_groups_are_people_with_one_value(assessed):
    given, found = assessed
    said = results(assessed, columns=["job"])
    jobs = given.table.codes[found.halves.scored, given.table.index("job")]
    for risk, numbers in zip(found.risks, said.risks, strict=True):
        assert [g.group for g in numbers.groups] == ["clerk", "cook", "nurse"]
        assert sum(g.real.people for g in numbers.groups) == risk.real.size
        for code, group in enumerate(numbers.groups):
            assert group.real.successes == risk.real[jobs == code].sum()
            own = TwoSamples(
                group.real.successes, group.real.people,
                group.control.successes, group.control.people,
            ).excess(confidence=1 - 0.05 / 9)  # fmt: skip
            assert (group.excess.low, group.excess.high) == (own.low, own.high)


def test_a_group_beyond_what_is_accepted_decides(assessed):
    said = results(assessed, columns=["job"], at_most=0.95, worst_group=0.0)
    beyond = [risk for risk in said.risks if risk.groups_beyond]
    assert beyond
    assert all(risk.verdict == "exceeded" for risk in beyond)
    assert said.claims == 12
    assert results(assessed, columns=["job"], at_most=0.95).verdict == "not shown"


def test_a_group_that_the_control_has_nobody_of_has_no_excess(files):
    real = files["real"].copy()
    real.loc[np.arange(60), "job"] = "smith"
    given = read_files(real, files["fresh"], files["control"])
    found = assess_file(given, FileThreat(("ill",)), entropy=1)
    groups = summarised(
        given, found, ExcessThreshold.model_validate({}), confidence=0.95, columns=["job"]
    ).risks[0].groups  # fmt: skip
    (smith,) = [g for g in groups if g.group == "smith"]
    assert (smith.control, smith.excess) == (None, None)


def test_a_control_of_other_people_leaves_no_verdict(files):
    other = files["control"].assign(town=5)
    given = read_files(files["real"], files["real"], other)
    found = assess_file(given, FileThreat(("ill",)), entropy=1)
    said = summarised(given, found, ExcessThreshold.model_validate({}), confidence=0.95)
    assert said.unlike.is_shown
    assert said.verdict == "not assessed"
    assert any(risk.is_beyond for risk in said.risks)


def test_groups_of_few_of_the_data_or_of_the_control_are_merged():
    rng = np.random.default_rng(8)

    def file(*sizes):
        place = rng.permutation(np.repeat([*"abcde"], sizes))
        return pd.DataFrame({"place": place, "age": rng.integers(0, 3, len(place)),
                             "ill": rng.integers(0, 2, len(place))})  # fmt: skip

    def groups_of(least, *files):
        study = narcissus.load_study({
            "kind": "synthetic",
            "data": dict(zip(["real", "synthetic", "control"], files, strict=True)),
            "threat": {"unknown": ["ill"]},
            "groups": {"columns": ["place"], "least_group": least},
            "run": {"seed": 1},
        })  # fmt: skip
        results = narcissus.run(study).record.results
        return {g.group: g for g in results.risks[0].groups}, results.merged

    files = file(80, 60, 40, 16, 4), file(60, 60, 30, 5, 5), file(90, 60, 8, 30, 4)
    fine, none = groups_of(1, *files)
    assert (len(fine), none.merged) == (5, {})
    found, merged = groups_of(10, *files)
    small = [label for label in "abcde" if label not in found]
    assert {"c", "e"} <= set(small)  # of c the control has few, of e both sides
    assert merged.merged == {"place": len(small)}
    few = found["smaller groups"]
    parts = [fine[label] for label in small]
    assert few.real.successes == sum(part.real.successes for part in parts)
    assert few.real.people == sum(part.real.people for part in parts) >= 10
    assert few.control.people == sum(part.control.people for part in parts) >= 10
    assert found["a"].real == fine["a"].real
