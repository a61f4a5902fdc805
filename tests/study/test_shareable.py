"""What may be shown of a record: no digest of data, no seed, no folders, no pictures; the rest."""

import json
from pathlib import Path

import pytest

from narcissus.study.keyed import WITHHELD
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of, portable_digest_of
from narcissus.study.shareable import depends_on_records, shareable, to_show

FOLDER = Path(__file__).parent
KEPT = [
    *sorted((FOLDER / "records" / "last").glob("*.json")),
    *sorted((FOLDER / "kept").glob("*.json")),
]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.one_in(3)
def test_it_can_be_read_again_and_says_nothing_that_others_could_test_guesses_by(path, tmp_path):
    record = read_record(path)
    shown = shareable(record)
    (tmp_path / "record.json").write_text(shown.to_json())
    assert read_record(tmp_path) == shown  # sealed, and agrees with itself
    assert shareable(shown) == shown
    if not depends_on_records(record):
        assert shown == record
        return
    made = shown.provenance
    assert made.entropy == ""
    assert {v for k, v in made.digests.items() if k not in {"study", "policy"}} == {WITHHELD}
    assert (shown.study.get("run") or {}).get("seed") is None
    text = shown.to_json()
    assert "iVBORw0KGgo" not in text  # a PNG
    assert not any(d in text for k, d in record.provenance.digests.items() if k != "policy")
    assert shown.digest == digest_of(shown.to_dict())
    assert shown.portable_digest in ("", portable_digest_of(shown.to_dict()))
    assert to_show(record).digest == record.digest


def changed(tmp_path, edit):
    data = json.loads((FOLDER / "kept" / "synthetic.json").read_text())
    edit(data)
    record = read_record(FOLDER / "kept" / "synthetic.json")
    return record.model_copy(update={"study": data["study"]})


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("/home/ann/secret/people.csv", "people.csv"),
        ("C:\\Users\\Ann\\people.csv", "people.csv"),
        ("~/secret/people.csv", "people.csv"),
        ("../secret/people.csv", "people.csv"),
        ("data/people.csv", "data/people.csv"),  # as in the study that is handed on
        ("people.csv", "people.csv"),
        ("statsmodels:fair", "statsmodels:fair"),
    ],
)
def test_folders_of_the_machine_are_left_out(tmp_path, given, shown):
    record = changed(tmp_path, lambda data: data["study"]["data"].update(real=given))
    assert shareable(record).study["data"]["real"] == shown


@pytest.mark.parametrize("name", ["/seen/by/a doctor", "../a", "C:\\x\\y"])
def test_a_column_that_is_called_like_a_folder_keeps_its_name(tmp_path, name):
    def edit(data):
        data["study"]["threat"].update(unknown=[name])
        data["study"]["data"].update(columns=[name], read_as={name: "text"})

    shown = shareable(changed(tmp_path, edit)).study
    assert shown["threat"]["unknown"] == shown["data"]["columns"] == [name]
    assert shown["data"]["read_as"] == {name: "text"}


def test_drawn_people_may_be_in_small_groups():
    record = read_record(FOLDER / "kept" / "table.json")
    assert shareable(record).rows == record.rows
