"""``narcissus FILE``: files are recognized, and what is asked of such files first is answered."""

import random
import re
import webbrowser

import pytest

COUNTS = "area,sex,count\nNorth,F,12\nNorth,M,x\nNorth,Total,15\n"


@pytest.fixture(autouse=True)
def opened(monkeypatch):
    """The addresses that a browser would have shown."""
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    monkeypatch.setenv("DISPLAY", ":0")
    return shown


def test_a_table_of_people_is_proposed_written_and_played(study, tmp_path, narcissus, opened):
    study()
    code, out, err = narcissus("people.csv", "--unknown", "ill")
    text = (tmp_path / "people.toml").read_text()
    assert code in (0, 1, 3)
    assert "the attacker seeks: `ill`" in err
    assert "and knows: `sex`" in err
    assert "left out: no column" in err
    assert "this is: narcissus audit people.toml --quick --out results/people-quick" in err
    assert 'unknown = ["ill"]' in text
    assert "The preset threshold" in out
    assert (tmp_path / "results" / "people-quick" / "report.html").is_file()
    assert not opened  # nobody sits at a terminal


def test_stays_of_patients_and_empty_cells_are_told(tmp_path, narcissus, monkeypatch):
    """Several rows of one person wait for a declaration, and are told of once."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(4)
    stays = [f"P{1000 + i // 3},{draw.choice('fm')},{draw.choice('abcd')}" for i in range(600)]
    draw.shuffle(stays)
    stays[7] = stays[7][:-1]
    (tmp_path / "stays.csv").write_text("\n".join(["patient_id,sex,ward", *stays]) + "\n")
    code, out, err = narcissus("stays.csv", "--unknown", "ward")
    assert code == 3
    assert "The rows of each `patient_id` are not accounted for" in out
    assert err.count("several") == 2  # of the column that is left out, and of its rows
    assert "empty cells, taken for a separate value: 1 in `ward`" in err
    study = tmp_path / "stays.toml"
    study.write_text(
        re.sub(r"\[data.left_out\]\n.*\n", "", study.read_text()).replace(
            "[data]\n", '[data]\nunit = "patient_id"\n'
        )
    )
    assert "not accounted for" not in narcissus("stays.csv")[1]


def test_a_changed_study_is_played_anew(study, tmp_path, narcissus):
    path = study("people.toml", run={"trials": 2})
    assert narcissus("people.csv")[0] in (0, 1, 3)
    before = (tmp_path / "results" / "people-quick" / "record.json").read_text()
    path.write_text(path.read_text().replace("ill", "town"))
    code, out, err = narcissus("people.csv")
    assert code in (0, 1, 3)
    assert "people.toml was changed: the quick look of before is replaced" in err
    assert "seeks town" in out
    assert (tmp_path / "results" / "people-quick" / "record.json").read_text() != before
    code, _, err = narcissus("people.csv", "--unknown", "ill")
    assert code == 2
    assert "change `unknown` in it" in err


def test_a_study_of_another_table_is_not_played(study, tmp_path, narcissus):
    study("people.toml")
    (tmp_path / "people.parquet").write_bytes(b"PAR1")
    code, _, err = narcissus("people.parquet")
    assert code == 2
    assert "is no study of people.parquet" in err


def test_a_page_is_opened_where_somebody_sees_it(study, narcissus, opened, monkeypatch):
    study("people.toml", run={"trials": 2})
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    narcissus("people.csv", "--no-browser")
    assert not opened
    narcissus("people.csv")
    assert [address.rpartition("/")[2] for address in opened] == ["report.html"]


def test_files_made_from_a_table_are_compared_with_it(study, tmp_path, narcissus):
    study()
    (tmp_path / "made.csv").write_bytes((tmp_path / "people.csv").read_bytes())
    code, out, err = narcissus("people.csv", "made.csv", "--unknown", "ill")
    assert "this is: narcissus synth people.csv made.csv --unknown ill" in err
    assert code in (1, 3)
    assert "made.csv" in out


def test_published_counts_are_derived(tmp_path, narcissus, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(COUNTS)
    code, _, err = narcissus("t.csv")
    assert code == narcissus("tables", "t.csv")[0] == 1
    assert "this is: narcissus tables t.csv" in err
    assert narcissus("t.csv", "--unknown", "sex")[0] == 2
    (tmp_path / "-t.csv").write_text(COUNTS)
    assert narcissus("./-t.csv")[0] == 1


def test_a_study_is_played_and_a_record_is_shown(study, tmp_path, narcissus):
    study("s.toml", run={"trials": 2})
    _, out, _ = narcissus("s.toml")
    assert (tmp_path / "results" / "s" / "record.json").is_file()
    _, shown, _ = narcissus("results/s/record.json")
    assert shown.splitlines()[:3] == out.splitlines()[:3]
    assert narcissus("results/s")[1] == shown
    assert narcissus("s.toml", "people.csv")[0] == 2
    assert narcissus("s.toml", "--unknown", "ill")[0] == 2


@pytest.mark.parametrize("words", [["nobody.csv"], ["people.csv", "nobody.csv"], ["./nobody"]])
def test_a_file_that_is_not_there_is_named(study, narcissus, words):
    study()
    code, _, err = narcissus(*words)
    assert code == 2
    assert f"no such file: {words[-1]}" in err
