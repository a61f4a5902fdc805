"""What a record of an audit holds: rows that cannot be of one setting are refused."""

import json
from pathlib import Path

import pytest

from narcissus.errors import InputError
from narcissus.kinds.table.found import OwnRelease, distinct_labels
from narcissus.kinds.table.kind import KIND
from narcissus.study.keyed import WITHHELD
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of

KEPT = Path(__file__).parents[2] / "study" / "records" / "last" / "sweep.json"


def setting(data):
    return data["result"]["settings"][0]


def bound(data, *, is_share):
    return next(one for one in setting(data)["bounds"] if ("people" in one) != is_share)


def excesses(data, role):
    return [one for one in setting(data)["excesses"] if one["role"] == role]


def group_attack(data):
    return next(iter(setting(data)["groups"][0]["attacks"].values()))


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: setting(d).update(best="nobody"),
        lambda d: setting(d).pop("best"),
        lambda d: setting(d)["attacks"].popitem(),
        lambda d: setting(d).update(trials=1),
        lambda d: setting(d).update(share_of_columns=True),
        lambda d: setting(d)["attacks"]["posterior"]["distribution"].update(
            targets=[10**6], trials=[1]
        ),
        lambda d: setting(d)["attacks"]["posterior"].pop("distribution"),
        lambda d: setting(d)["attacks"]["posterior"].pop("gain"),
        lambda d: group_attack(d)["over_guess"].update(low=0.9),
        lambda d: bound(d, is_share=False).update(reached=10**6),
        lambda d: bound(d, is_share=True).update(of_population=1.5),
        lambda d: bound(d, is_share=True)["quantity"].update(grade="proved if"),
        lambda d: setting(d)["excesses"].remove(excesses(d, "attack")[0]),
        lambda d: excesses(d, "attack")[0].update(role="nobody"),
    ],
)
def test_what_cannot_be_of_one_setting_is_refused(edit, tmp_path):
    data = read_record(KEPT).to_dict()
    edit(data)
    data["digest"] = digest_of(data)
    (tmp_path / "record.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"result|those of its kind"):
        read_record(tmp_path)


def test_a_lower_limit_that_is_raised_is_another_status(tmp_path):
    data = read_record(KEPT).to_dict()
    excesses(data, "attack")[0]["quantity"] |= {"value": 0.2, "low": 0.1, "high": 0.3}
    data["digest"] = digest_of(data)
    (tmp_path / "record.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match="the status is 'met', and that of the rows 'exceeded'"):
        read_record(tmp_path)


def test_of_the_file_that_was_released_neither_digest_nor_folder_is_shown():
    own = OwnRelease(path="/home/ann/counts.csv", digest="d", people=3, guessed=2, by_the_prior=1.5,
                     attacks=())  # fmt: skip
    result = read_record(KEPT).result
    shown = KIND.to_show(result.model_copy(update={"own_release": own}))
    assert (shown.own_release.path, shown.own_release.digest) == ("counts.csv", WITHHELD)
    assert KIND.to_show(result) == result


def test_settings_with_one_label_are_told_apart():
    assert distinct_labels(["a", "b", "a"]) == ["a (1)", "b", "a (2)"]
