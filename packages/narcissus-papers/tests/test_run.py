"""Items are made on any engine, kept as they end, and a failing one does not stop the others."""

from __future__ import annotations

import json
from functools import partial

import pytest

from narcissus.errors import InputError, LongWorkError
from narcissus.game.executor import KeyLostError, Serial
from narcissus.observer import SilentObserver
from narcissus.study.engines import Processes
from narcissus_papers import ITEMS, Given, Held, Item, Needed, Reproduced, reproduce


class Heard(SilentObserver):
    """Keeps what it hears; may interrupt after so many steps."""

    def __init__(self, most=None):
        self.steps, self.most, self.notes, self.began = 0, most, [], []

    def start(self, what, total, done=0):
        self.began.append((total, done))

    def advance(self, steps=1):
        self.steps += steps
        if self.steps == self.most:
            raise KeyboardInterrupt

    def note(self, message):
        self.notes.append(message)


def mark(folder, text):
    with (folder / "marks").open("a") as file:
        file.write(text)


def counted(folder, number, _given):
    """Give a square, and leave a mark."""
    mark(folder, str(number))
    return [number, number**2]


def summed(folder, given):
    mark(folder, "m")
    return Reproduced(table=(("piece", "square"), *(tuple(one) for one in given.answers.values())))


def squares(folder, number="1", count=4):
    """Give an item of pieces that leave marks in a folder."""
    pieces = {f"{n} of them": partial(counted, folder, n) for n in range(count)}
    return Item("004", "table", number, "squares", 1.0, partial(summed, folder), pieces=pieces)


def marks(folder):
    path = folder / "marks"
    found = "".join(sorted(path.read_text())) if path.exists() else ""
    path.unlink(missing_ok=True)
    return found


def test_a_folder_holds_data_picture_and_verdict(tmp_path):
    items = [ITEMS["001/figure-2b"]]
    heard = Heard()
    [(_, made)] = reproduce(items, tmp_path, observer=heard)
    assert heard.began == [(1, 0)]
    assert heard.steps == 1
    assert heard.notes == ["001/figure-2b: differs"]
    said = json.loads((tmp_path / "001" / "figure-2b" / "data.json").read_text())
    assert said["verdict"] == made.verdict
    page = (tmp_path / "index.html").read_text()
    assert "What epsilon protects" in page
    assert "<svg" in page
    assert "https:" not in page
    assert "src=" not in page


def test_nothing_is_written_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(reproduce([ITEMS["001/figure-1"]])) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "001").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        reproduce([ITEMS["001/figure-1"]], tmp_path)


def test_pieces_are_done_before_and_hear_of_the_data(tmp_path):
    def piece(given: Given) -> list[str]:
        return [str(given.data)]

    def make(given: Given) -> Reproduced:
        return Reproduced(cannot=f"{given.answers['a']} {given.data == tmp_path}")

    item = Item("001", "statement", "Claim 1", "says", 1.0, make, pieces={"a": piece})
    [(_, made)] = reproduce([item], data=tmp_path)
    assert made.cannot == f"{[str(tmp_path)]} True"


def test_claims_stand_in_the_files_and_on_the_page(tmp_path):
    held = (Held("it is so", holds=False, shown="checked", because="it is not"),)
    item = Item("004", "statement", "Lemma 1", "says", 1.0, lambda _given: Reproduced(held=held))
    reproduce([item], tmp_path)
    said = json.loads((tmp_path / "004" / "statement-lemma-1" / "data.json").read_text())
    assert (said["verdict"], said["shown"]) == ("differs", "checked")
    assert said["held"][0]["because"] == "it is not"
    assert "no: it is not" in (tmp_path / "index.html").read_text()


def test_an_interrupted_run_continues_where_it_stopped(tmp_path):
    items, out = [squares(tmp_path), squares(tmp_path, "2", 2)], tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        reproduce(items, out, observer=Heard(most=3))
    assert marks(tmp_path) == "012"
    heard = Heard()
    made = reproduce(items, out, observer=heard)
    assert marks(tmp_path) == "013mm"
    assert heard.began == [(8, 3)]
    assert heard.steps == 5
    assert [one.table[-1] for _, one in made] == [(3, 9), (1, 1)]
    again = reproduce(items, out, observer=heard)
    assert marks(tmp_path) == ""
    assert heard.began[-1] == (8, 8)
    assert again == made


def test_a_run_that_stopped_before_the_last_step_only_takes_that(tmp_path):
    item, out = squares(tmp_path), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        reproduce([item], out, observer=Heard(most=5))
    (out / item.name / "kept" / "item.json").unlink()
    marks(tmp_path)
    [(_, made)] = reproduce([item], out)
    assert marks(tmp_path) == "m"
    assert made.table[0] == ("piece", "square")


def test_what_other_pieces_made_is_made_anew(tmp_path):
    out = tmp_path / "out"
    reproduce([squares(tmp_path)], out)
    marks(tmp_path)
    reproduce([squares(tmp_path, count=3)], out)
    assert marks(tmp_path) == "012m"


def test_files_that_are_gone_are_written_again_and_nothing_is_made(tmp_path):
    item, out = squares(tmp_path), tmp_path / "out"
    reproduce([item], out)
    marks(tmp_path)
    before = (out / item.name / "data.csv").read_bytes()
    (out / item.name / "data.csv").unlink()
    reproduce([item], out)
    assert marks(tmp_path) == ""
    assert (out / item.name / "data.csv").read_bytes() == before


def raises(_given):
    return {}["nothing"]


def test_others_play_and_a_failing_item_does_not_stop_them(tmp_path):
    pieces = {"a": raises, "b": partial(counted, tmp_path, 1)}
    bad = Item("004", "figure", "1", "raises", 1.0, partial(summed, tmp_path), pieces=pieces)
    out, heard = tmp_path / "out", Heard()
    (out / bad.name).mkdir(parents=True)
    (out / bad.name / "data.json").write_text("of an earlier version")
    items = [bad, squares(tmp_path), ITEMS["001/figure-2a"]]
    made = [one for _, one in reproduce(items, out, engine=Processes(2), observer=heard)]
    assert made[0].verdict == "failed"
    assert made[0].because.startswith("KeyError: 'nothing' (test_run.py, line ")
    assert made[1:] == [one for _, one in reproduce(items[1:])]
    assert not (out / bad.name / "data.json").exists()
    assert (out / "001" / "figure-2a" / "picture.svg").exists()
    assert "1 failed" in (out / "index.html").read_text()
    assert any(note.startswith("004/figure-1 failed: KeyError") for note in heard.notes)


class Deadly(Serial):
    """Loses every worker at some keys, and cannot tell which of those under way it was."""

    def __init__(self, *deadly):
        self.deadly = deadly

    def play(self, job, keys, observer=None):
        for place, key in enumerate(keys):
            if key in self.deadly:
                raise KeyLostError("workers ended", keys[place : place + 2])
            yield from super().play(job, [key])


def test_an_item_that_ends_workers_is_named_and_the_others_are_made(tmp_path):
    items = [squares(tmp_path), squares(tmp_path, "2"), squares(tmp_path, "3")]
    engine = Deadly("004/table-1:3 of them", "004/table-2:0 of them")
    made = [one for _, one in reproduce(items, engine=engine)]
    assert [one.failed for one in made] == ["workers ended", "workers ended", ""]
    assert marks(tmp_path) == "0011122233m"  # each of the others once


class Elsewhere(Serial):
    """Plays for us on another machine, which has not our files."""

    is_here = False

    def __init__(self):
        self.keys = []

    def play(self, job, keys, observer=None):
        self.keys += keys
        yield from super().play(job, keys)


def test_what_takes_files_of_the_users_is_made_where_they_are(tmp_path):
    (tmp_path / "people.csv").write_text("a")

    def make(given):
        return Reproduced(cannot=(given.data / "people.csv").read_text())

    needs = (Needed("people.csv", "", "nowhere"),)
    item = Item("001", "figure", "9", "takes a file", 1.0, make, needs=needs)
    others = Elsewhere()
    made = reproduce([item, ITEMS["001/figure-1"]], data=tmp_path, engine=others)
    assert made[0][1].cannot == "a"
    assert others.keys == ["001/figure-1"]


def test_how_long_it_takes_is_said_and_agreed_to_before():
    def never(_given):
        raise AssertionError

    long = Item("001", "figure", "8", "long", 40_000.0, never, pieces=dict.fromkeys("abcd", never))
    heard = Heard()
    with pytest.raises(LongWorkError, match=r"about 5.56 hours of work: 1 to make again, in 2 pr"):
        reproduce([long], engine=Processes(2), hours=1, observer=heard)
    assert heard.began == []
    heard = Heard()
    reproduce([ITEMS["001/figure-1"], ITEMS["001/figure-2a"]], engine="serial", observer=heard)
    assert heard.notes[0] == "about 2 seconds: 2 to make again, in 1 process"
