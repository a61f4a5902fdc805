"""Forged text: in no output does a character act, hide, or begin a line."""

import io
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus._visible import Unguarded, show_visibly, visible
from narcissus.errors import InputError
from narcissus.tables import read_table

FORGED = "\x1b[2J\x1b]0;t\x07\u202eevil\u2066\u200b\ufeff\r\x85\u2028\x9b1m\nFORGED line"


@given(st.text())
def test_what_is_shown_can_be_seen_and_is_json(text):
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    if not set(text) & set('"\\'):
        assert json.loads(f'"{shown}"') == text


@pytest.mark.parametrize(
    "text", ["ε = 1.5, 66%", "naïve Ångström", "出生地", "Ελλάδα", "שלום", "नमस्ते", "😀", "“a” – b…"]
)
def test_words_of_people_stay(text):
    assert visible(text) == text


def test_a_guarded_stream_lets_nothing_through_but_our_bars():
    raw = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    show_visibly(raw)
    print(FORGED, "ε", file=raw)
    Unguarded(raw).write("\x1b[1A")
    written = raw.buffer.getvalue()
    assert written.endswith(b"\\u03b5\n\x1b[1A")
    assert not set(written[:-5]) & {*range(10), *range(11, 32), 127}


TEXTS = {
    "title": lambda text: {"title": text},
    "reason": lambda text: {"threshold": {"share": 0.9, "reason": text, "origin": text}},
    "a key": lambda text: {text: 1},
    "a key of a section": lambda text: {"threat": {text: "x"}},
    "a column": lambda text: {"threat": {"unknown": [text]}},
    "a path": lambda text: {"data": {"path": text}},
    "a part": lambda text: {"attacks": {text: {}}},
    "a column to drop": lambda text: {"data": {"drop": [text]}},
    "a label": lambda text: {"data": {"missing": [text]}},
}


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def study_of(changes):
    study = {
        "data": {"path": "people.csv"},
        "threat": {"unknown": ["ill"], "targets": 10},
        "mechanism": {"k": 2, "epsilon": [1], "delta": 1e-5},
        "run": {"trials": 3, "seed": 1},
    }
    for name, more in changes.items():
        study[name] = {**study.get(name, {}), **more} if isinstance(more, dict) else more
    return "\n".join(f"{json.dumps(k)} = {toml(v)}" for k, v in study.items())


def outputs(folder, *words):
    """Run a command; give all that it prints, and all that it writes."""
    code = "from narcissus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words], cwd=folder, check=False, capture_output=True
    )
    assert b"internal error" not in done.stderr, done.stderr
    pages = [path.read_bytes() for path in folder.rglob("*.html")]
    return [done.stdout, done.stderr, *pages]


def require_harmless(texts):
    for text in texts:
        shown = text.decode()
        for line in shown.split("\n"):
            assert shown.startswith("<!DOCTYPE html>") or not line.startswith("FORGED"), line
        hidden = {c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}}
        assert hidden <= {"\n", "\t", "\N{WORD JOINER}"}, hidden


@pytest.fixture
def people(tmp_path):
    rows = "".join(f"{'mf'[i % 2]},{i % 5},{(i // 3) % 2}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("sex,age,ill\n" + rows)
    return tmp_path


@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)
def test_text_of_a_study_is_harmless(people, change):
    (people / "study.toml").write_text(study_of(change(FORGED)))
    require_harmless(outputs(people, "audit", "study.toml", "--out", "out"))
    if Path(people / "out" / "record.json").exists():
        require_harmless(outputs(people, "report", "out/record.json", "--text"))


@pytest.mark.parametrize("where", ["a name", "a value", "both"])
def test_text_of_a_table_is_harmless(people, where):
    name = FORGED if where != "a value" else "ill"
    value = FORGED if where != "a name" else "1"
    rows = "".join(f'{"mf"[i % 2]},{i % 5},"{value if (i // 3) % 2 else 0}"\n' for i in range(60))
    (people / "people.csv").write_text(f'sex,age,"{name}"\n{rows}', newline="")
    (people / "study.toml").write_text(
        study_of({"threat": {"unknown": [visible(name)]}, "groups": {"columns": ["sex"]}})
    )
    require_harmless(outputs(people, "audit", "study.toml", "--out", "out"))
    require_harmless(outputs(people, "init", "people.csv", "--unknown", "sex"))
    require_harmless(outputs(people, "synth", "people.csv", "people.csv", "--unknown", "sex"))


@pytest.mark.parametrize("where", ["title", "verdict", "status", "kind", "assessed", "schema"])
def test_text_of_a_record_is_harmless(people, where):
    from narcissus.study.record import digest_of

    (people / "study.toml").write_text(study_of({}))
    outputs(people, "audit", "study.toml", "--out", "out")
    path = people / "out" / "record.json"
    record = json.loads(path.read_text())
    record[where] = [FORGED] if where == "assessed" else FORGED
    record["digest"] = digest_of(record)
    path.write_text(json.dumps(record))
    require_harmless(outputs(people, "report", "out/record.json"))
    require_harmless(outputs(people, "report", "out/record.json", "--text"))


def test_messages_quote_no_cell_of_people_unless_told(tmp_path, monkeypatch):
    """The column or the line is named; the value only where it was asked for."""
    cases = {"a,b\nSECRET,x\nSECRET,y\n": "`a`", 'a,b\nSECRET"x",2\n3,4\n': "line 2"}
    monkeypatch.delenv("NARCISSUS_SHOW_VALUES", raising=False)
    monkeypatch.chdir(tmp_path)
    for text, place in cases.items():
        (tmp_path / "people.csv").write_text(text)
        with pytest.raises(InputError, match=place) as hidden:
            read_table("people.csv")
        assert "SECRET" not in str(hidden.value)
        monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")
        with pytest.raises(InputError, match="SECRET"):
            read_table("people.csv")
        monkeypatch.delenv("NARCISSUS_SHOW_VALUES")
