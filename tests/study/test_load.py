"""A study from a file and from a dictionary: the same study, the same mistakes."""

import tomllib

import pytest

import narcissus
from narcissus.errors import InputError, StudyError
from narcissus.study.shipped import shipped_study

THREE = {
    "kind": "game",
    "world": {"name": "bits", "n": 3, "rate": 0.5},
    "mechanism": {"name": "identity"},
    "success": {"name": "prefix"},
    "attack": [{"name": "released-row", "row": "all"}],
    "statement": {"name": "narcissus", "epsilon": 1.0},
    "run": {"trials": 200, "seed": 1},
}


def test_a_file_and_its_dictionary_are_the_same_study(study, tmp_path):
    path = study(groups={"columns": ["job"]})
    read = tomllib.loads(path.read_text())
    of_file, of_dictionary = narcissus.load_study(path), narcissus.load_study(read)
    assert of_dictionary.settings == of_file.settings
    assert of_dictionary.digest == of_file.digest
    assert narcissus.run(of_dictionary).results == narcissus.run(of_file).results


def test_a_shipped_game_is_the_same_as_a_dictionary():
    path = shipped_study("known-rows").path
    of_file, read = narcissus.load_study(path), tomllib.loads(path.read_text(encoding="utf-8"))
    assert narcissus.load_study(read).digest == of_file.digest
    assert read["kind"] == "game"  # the dictionary is left as it was


def test_relative_paths_start_in_the_current_folder_or_the_given_one(study, tmp_path, monkeypatch):
    read = tomllib.loads(study().read_text())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"people\.csv"):
        narcissus.load_study(read)
    assert narcissus.load_study(read, folder=tmp_path).folder == tmp_path.resolve()
    assert narcissus.load_study(read, folder="..").folder == tmp_path.resolve()
    with pytest.raises(InputError, match=r"people\.csv"):
        narcissus.load_study(tmp_path / "s.toml", folder=".")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "tabel"}, "the study: `kind` must be one of"),
        ({"kind": 3}, "the study: `kind` must be one of"),
        ({"world": {"name": "bit"}}, "the study: `world.*did you mean `bits`"),
        ({"world": {"name": "bits", "n": 3, "rat": 0.5}}, "unknown key `world.rat`.*`rate`"),
        ({"attack": [{"name": "released-row", "rwo": 1}]}, "unknown key `attack.1.rwo`"),
        ({"wrold": {}}, "unknown key `wrold`; did you mean `world`"),
        ({"mechanism": {"name": "mine:Mine"}}, "runs its own code: mine:Mine"),
    ],
)
def test_a_mistake_in_a_dictionary_is_named_by_its_key(changes, message):
    with pytest.raises(StudyError, match=message):
        narcissus.load_study({**THREE, **changes})


def reverse(data, rng):
    return data[::-1]


class Coins:
    """Bits of a world of one's own."""

    def __init__(self, sides):
        self.sides = sides

    def __call__(self, rng):
        return rng.integers(0, self.sides, 3)


def test_a_game_takes_parts_as_objects():
    shipped = narcissus.worlds.Bits(3, 0.5)
    given = narcissus.run(narcissus.load_study({**THREE, "world": shipped}))
    named = narcissus.run(narcissus.load_study(THREE))
    assert given.record.rows == named.record.rows
    reversed_ = narcissus.run(narcissus.load_study({**THREE, "mechanism": reverse}))
    assert reversed_.record.rows != named.record.rows
    assert reversed_.record.study["mechanism"]["name"] == "python:mechanism"
    assert "object mechanism" in reversed_.record.provenance.digests
    own = {"world": Coins(2), "exact": {"when": "never"}}
    wins = narcissus.run(narcissus.load_study({**THREE, **own})).record.rows[0]
    assert (wins.of, wins.value) == ("success", pytest.approx(1))


def test_given_parts_are_played_by_worker_processes():
    study = narcissus.load_study({**THREE, "mechanism": reverse, "exact": {"when": "never"}})
    alone, together = (narcissus.run(study, workers=workers).results for workers in (1, 2))
    assert alone == together
