"""Forged text: in no output does a character act, hide, or begin a line."""

import contextlib
import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import narcissus
from narcissus import channels, guarantees
from narcissus._visible import (
    WORD_JOINER,
    Unguarded,
    csv_text,
    heading,
    marked,
    plain_markdown,
    quoted,
    show_visibly,
    unmarked,
    visible,
)
from narcissus.cli.main import main
from narcissus.errors import InputError
from narcissus.membership import read_shadow_scores
from narcissus.priors import read_priors
from narcissus.priors.secrets import read_values
from narcissus.study.record import digest_of
from narcissus.tables import Bins, read_table
from narcissus.tables.spelling import respellings

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
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return "inf" if value == math.inf else json.dumps(value)


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


def in_a_process(folder, words):
    code = "from narcissus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words], cwd=folder, check=False, capture_output=True
    )
    return done.stdout, done.stderr


def here(folder, words):
    """Run a command in this process, its streams guarded as those of its own are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            show_visibly(stream)
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit):
            main(list(words))
    return [stream.buffer.getvalue() for stream in streams]


def outputs(folder, *words, how=here):
    """Run a command; give all that it prints, and all that it writes."""
    out, errors = how(folder, words)
    assert b"internal error" not in errors, errors
    return [out, errors, *(path.read_bytes() for path in folder.rglob("*.html"))]


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


def on_a_terminal(folder, words):
    """Run a command whose standard output and error are a terminal; give what it shows."""
    import pty

    here, there = pty.openpty()
    code = "from narcissus.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code, *words], cwd=folder, stdout=there, stderr=there
    )
    os.close(there)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(here, 4096):
            shown += part
    os.close(here)
    process.wait()
    return shown.replace(b"\r\n", b"\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
@pytest.mark.parametrize(
    "words",
    [
        ("\x1b[31mno\x1b]0;t\x07.csv",),
        ("init", "\x1b[31mno.csv"),
        ("audit", "\x1b[31mno.toml"),
        ("bound", "--priors", "\x1b[31mno.csv", "--epsilon", "1"),
        ("bound", "--adjacency", "\x1b[31mno"),
        ("report", "--shema", "\x1b[31mno"),
    ],
)
@pytest.mark.one_in(3)
def test_a_pipe_shows_what_a_terminal_shows(tmp_path, words):
    """Names that differ in escapes alone would look alike in a log."""
    printed, shown = (
        text[text.index(b"rror: ") :]
        for text in (in_a_process(tmp_path, words)[1], on_a_terminal(tmp_path, words))
    )
    assert printed == shown
    assert all(visible(word) in printed.decode() for word in words if "\x1b" in word)


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_a_verdict_on_a_terminal_is_text(people):
    (people / "study.toml").write_text(study_of({}))
    shown = on_a_terminal(people, ("audit", "study.toml", "--out", "out", "--quiet"))
    assert b"\xe2\x96\xa0" in shown or b"EXCEEDED" in shown or b"MET" in shown, shown
    assert b"u001b" not in shown


@pytest.mark.parametrize("encoding", ["ascii", "", "latin-1"])
@pytest.mark.one_in(3)
def test_no_locale_leads_past_the_guard(people, monkeypatch, encoding):
    """In a locale of ASCII click wrote to what lies behind the stream."""
    (people / "study.toml").write_text(study_of({"title": FORGED}))
    for name, value in {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    words = ("audit", "study.toml", "--out", "out")
    shown, errors, *_ = outputs(people, *words, how=in_a_process)
    assert b"u202eevil" in shown
    require_harmless(
        [text.decode(errors="replace").replace("\ufffd", "").encode() for text in (shown, errors)]
    )


@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)
@pytest.mark.one_in(2)
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
@pytest.mark.one_in(3)
def test_text_of_a_record_is_harmless(people, where):
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


@pytest.mark.parametrize("bins", [{"width": 10}, {"edges": [1, 2]}, {"quantiles": 3}])
def test_a_column_that_is_no_number_for_one_cell_does_not_quote_it(tmp_path, monkeypatch, bins):
    (tmp_path / "people.csv").write_text("age,b\n31,x\n32,y\nSECRET,y\n33,x\n")
    monkeypatch.delenv("NARCISSUS_SHOW_VALUES", raising=False)
    with pytest.raises(InputError, match="`age`, which is not numbers") as hidden:
        read_table(tmp_path / "people.csv", bins={"age": Bins(**bins)})
    assert "SECRET" not in str(hidden.value)


FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "'=1",
    "''=1",
    "-",
    "\uff1d1",
]


@given(st.text() | st.builds("{}{}".format, st.sampled_from(FORMULAS), st.text()))
def test_a_mark_is_taken_off_again_and_nothing_else_is(text):
    assert unmarked(marked(text)) == text
    first = str(marked(text)).lstrip(" ")[:1]
    assert first not in set("=@\t\r\uff1d\uff0b\uff0d\uff20")
    assert first not in {"+", "-"} or float(text) is not None


@given(
    st.lists(st.text(";,\t\r\n\"' =+-@1x", max_size=8), min_size=1, max_size=3),
    st.sampled_from([",", ";", "\t"]),
)
@example(["x;=1"], ";")
@example(['x;"=1'], ";")
@example(["x\n=1", "1"], ";")
@example(["-1;-2"], ";")
@example([";\t'=1"], "\t")
def test_no_spreadsheet_computes_a_cell_however_it_separates_them(row, delimiter):
    """Excel separates by semicolons where a comma is the mark of decimals."""
    text = csv_text([row], exact=True)
    assert [*map(unmarked, next(csv.reader(io.StringIO(text, newline=""))))] == row
    for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        for cell in line:
            is_number = re.fullmatch(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell) is not None
            assert is_number or cell.lstrip(" ")[:1] not in {*"=+-@"}, (text, cell)


def test_numbers_are_no_formulas():
    assert csv_text([["-1.5", "+2e-7", -0.5, "-x"]]) == "-1.5,+2e-7,-0.5,'-x\n"
    assert csv_text([["a\u202e"]]) == "a\\u202e\n"
    assert csv_text([["a\u202e"]], exact=True) == "a\u202e\n"


HOSTILE = [*FORMULAS, FORGED.strip(), "=" + FORGED.strip(), "a\x85b\u2028c", "plain", "-5"]


def harmless_csv(path):
    """See that no cell of a CSV is one that a spreadsheet computes."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            for cell in row:
                started = cell.lstrip(" ")[:1] in set("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
                assert not started or float(cell) is not None, cell


def test_names_come_back_as_they_were(tmp_path):
    """Of channels, losses, groups, priors and kept runs; readers take blanks off their ends."""
    from narcissus.channels.programs import KeptRuns, Program

    names = [name for name in HOSTILE if name == name.strip()]
    made = channels.channel(
        [[1 / len(names)] * len(names)] * len(names), secrets=names, outputs=[*names[1:], "other"]
    )
    channels.write_channel(tmp_path / "c.csv", made)
    harmless_csv(tmp_path / "c.csv")
    again = channels.read_channel(tmp_path / "c.csv")
    assert (again.secrets, again.outputs) == (made.secrets, made.outputs)
    channels.write_gain(tmp_path / "g.csv", [[0.5] * len(names)], names)
    harmless_csv(tmp_path / "g.csv")
    assert channels.read_losses(tmp_path / "g.csv")[1] == names
    rows = [["secret", "group"], *([name, name] for name in names)]
    (tmp_path / "groups.csv").write_text(csv_text(rows, exact=True))
    assert channels.read_groups(tmp_path / "groups.csv") == dict(zip(names, names, strict=True))
    rows = [[name, 1 / len(names)] for name in names]
    (tmp_path / "prior.csv").write_text(csv_text(rows, exact=True))
    assert list(channels.read_prior(tmp_path / "prior.csv")) == names
    words = [name for name in HOSTILE if "\n" not in name and "\r" not in name and name != "-5"]
    program = Program(["echo"], words)
    for _ in range(2):  # the second reads what the first kept
        told = KeptRuns(program, lambda secret: (secret,), tmp_path / "runs.csv", 0)(50, None)
        assert [row[0] for row in told[1]] == told[0]
    harmless_csv(tmp_path / "runs.csv")
    secrets, outputs, _ = channels.read_samples(tmp_path / "runs.csv")
    assert secrets.tolist() == told[0] == outputs["output"].tolist()


FORK = """
import json, os, sys
import narcissus
import narcissus.audits.play, narcissus.cli.playing, narcissus.report
from narcissus.cli import main
from narcissus.errors import InputError
from narcissus.study.kinds import KINDS, study_kind
for kind in KINDS:  # what is loaded here is not loaded by each
    study_kind(kind)
for path in json.loads(sys.argv[1]):
    try:
        narcissus.load_study(path)
    except InputError:
        pass
import narcissus.report.html, narcissus.report.text
for number, words in enumerate(json.load(sys.stdin)):
    if os.fork() == 0:
        for descriptor, kind in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"said/{number}.{kind}", os.O_CREAT | os.O_WRONLY), descriptor)
        if words[0] == "audit":  # what can be read is shown, and not played
            def run(study, **more):
                raise InputError(str(study.settings))
            narcissus.run = sys.modules["narcissus.audits"].run = run
            import narcissus.audits.play as play
            play.run = run
        sys.argv[1:] = words
        try:
            main()
        finally:
            sys.stdout.flush(); sys.stderr.flush(); os._exit(0)
    os.wait()
"""


def said(folder, lines, first=()):
    """Run commands, each in a process of its own; give all that they said, and wrote."""
    (folder / "said").mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, "-P", "-c", FORK, json.dumps(first)],
        cwd=folder,
        check=True,
        input=json.dumps(lines),
        text=True,
    )
    found = [path.read_bytes() for path in sorted((folder / "said").iterdir())]
    assert len(found) == 2 * len(lines)
    assert not [one for one in found if b"internal error" in one or b"Traceback" in one]
    written = [p for p in folder.rglob("*") if p.suffix in {".html", ".svg"}]
    return [*found, *(path.read_bytes() for path in written)]


def texts_in(value, path=()):
    """Places of all texts and names within a value, each kind of place once."""
    found = {}
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        here = (*path, key)
        if isinstance(value, dict):
            found[(*path, "name", key if len(path) < 2 else "")] = (here, True)
        if isinstance(inner, dict | list):
            found |= texts_in(inner, here)
        elif isinstance(inner, str):
            shape = tuple("" if isinstance(part, int) else part for part in here)
            found[shape] = (here, False)
    return found


def forged(value, path, is_name, text):
    """Return a copy with another text, or another name, in one place."""
    made = json.loads(json.dumps(value))
    inside = made
    for part in path[:-1]:
        inside = inside[part]
    if is_name:
        inside[text] = inside.pop(path[-1])
    else:
        inside[path[-1]] = text
    return made


STUDIES = Path(narcissus.__file__).parent / "study" / "examples"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.nightly)])
def test_text_of_every_field_of_every_study_is_harmless(every, tmp_path):
    seen, lines = set(), []
    for path in (*sorted(STUDIES.glob("*.toml")), *sorted(EXAMPLES.rglob("*.toml"))):
        study = tomllib.loads(path.read_text())
        kind = study.get("kind", "table" if "threat" in study else "game")
        for shape, (place, is_name) in texts_in(study).items():
            if (kind, shape) not in seen:
                seen.add((kind, shape))
                name = f"{len(lines)}.toml"
                changed = forged(study, place, is_name, FORGED)
                text = "\n".join(f"{json.dumps(k)} = {toml(v)}" for k, v in changed.items())
                tomllib.loads(text)
                (tmp_path / name).write_text(text)
                lines.append(["audit", name, "--out", f"out{len(lines)}"])
    assert len({kind for kind, _ in seen}) >= 9
    assert len(lines) > 200
    require_harmless(said(tmp_path, lines[::every], [str(STUDIES / "counting-query.toml")]))


RECORDS = Path(__file__).parent / "study" / "kept"


KINDS = [*sorted(p.stem for p in RECORDS.glob("*.json")), "channel"]


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.nightly] * (k != "channel")) for k in KINDS]
)
def test_text_of_every_field_of_every_record_is_harmless(kind, tmp_path):
    """Those that a record may hold are in one record; the others are refused, one by one."""
    if kind == "channel":
        (tmp_path / "c.csv").write_text("secret,a,b\nx,0.75,0.25\ny,0.25,0.75\n")
        (tmp_path / "s.toml").write_text("kind = 'channel'\n[channel]\nfile = 'c.csv'\n")
        record = narcissus.run(narcissus.load_study(tmp_path / "s.toml"), rng=1).to_dict()
    else:
        record = narcissus.load_audit(RECORDS / f"{kind}.json").to_dict()  # of today's format
    held, refused = record, []
    for path, is_name in texts_in(record).values():
        try:
            made = forged(held, path, is_name, "=1+1" + FORGED)
        except KeyError:  # of a name that was forged before
            continue
        made["digest"] = digest_of(made)
        (tmp_path / "try.json").write_text(json.dumps(made))
        try:
            narcissus.load_audit(tmp_path / "try.json")
            held = made
        except InputError:
            refused.append(made)
    assert held is not record
    (tmp_path / "held.json").write_text(json.dumps(held))
    lines = [
        ["report", "held.json", "--out", "held.html"],
        ["report", "held.json", "--text"],
        ["report", "held.json", "--export", "acro", "--out", "acro"],
        ["verify", "held.json"],
    ]
    for number, one in enumerate(refused[:: max(1, len(refused) // 40)]):
        (tmp_path / f"{number}.json").write_text(json.dumps(one))
        lines.append(["report", f"{number}.json", "--text"])
    require_harmless(said(tmp_path, lines))
    audit = narcissus.load_audit(tmp_path / "held.json")
    require_harmless([audit.record.to_json().encode()])
    assert json.loads(audit.record.to_json()) == held


SECRET = {
    "channel": ("secret,a,b\nx,HIDDEN,0.5\ny,0.5,0.5\n", channels.read_channel),
    "fractions": ("secret,a,b\nx,HIDDEN,0.5\ny,0.5,0.5\n", channels.read_rational),
    "prior": ("x,0.5\ny,HIDDEN\n", channels.read_prior),
    "losses": ("secret,a\nx,1\ny,HIDDEN\n", channels.read_losses),
    "priors": ("0.5,0.5\n0.5,HIDDEN\n", read_priors),
    "curve": ("epsilon,delta\n1,HIDDEN\n", guarantees.read_profile),
    "losses of privacy": ("loss,probability\nHIDDEN,1\n", guarantees.read_losses),
    "values": ("x,1\ny,HIDDEN\n", lambda path: read_values(Path(path))),
    "shadows": ("model,record,score,member\na,b,HIDDEN,1\n", read_shadow_scores),
    "study": ("token = HIDDEN\n", narcissus.load_study),
    "record": ('{"token": "HIDDEN', narcissus.load_audit),
    "a file of keys": ("root:HIDDEN:1::\nuser:HIDDEN,x\n", read_table),
}


@pytest.mark.parametrize("what", SECRET)
def test_a_study_reads_no_file_out(what, tmp_path, monkeypatch):
    """Whoever wrote a study names any file that its reader may read, and may be sent the log."""
    text, read = SECRET[what]
    path = tmp_path / "f.csv"
    path.write_text(text.removeprefix("root:HIDDEN"))
    monkeypatch.delenv("NARCISSUS_SHOW_VALUES", raising=False)
    with pytest.raises(InputError) as refused:
        read(path)
    assert "HIDDEN" not in str(refused.value)


def test_a_record_shows_the_form_of_a_value_and_not_the_value(tmp_path, monkeypatch):
    monkeypatch.delenv("NARCISSUS_SHOW_VALUES", raising=False)
    rows = "".join(f"{i % 3 + 4}.0,{i % 2}\n" for i in range(30))
    (tmp_path / "people.csv").write_text("a,b\n" + rows)
    said = respellings(read_table(tmp_path / "people.csv").readings)
    assert said == "'9.0' is read as 9 (a); 9 is any digit"


MARKUP = st.lists(st.sampled_from([*"#*_`[]()<>!|~-+=1.&:/\\@ \n\r\tax", "www.", "http://"])).map(
    "".join
)


@given(MARKUP)
@example("t\n\n### met\n\n![logo](https://e.example/t.png) <img src=x onerror=alert(1)> @everyone")
@example("www.e.example a@b.example &lt; 1. x\n===\n[a]: http://e.example")
def test_markdown_of_a_text_shows_the_text_and_nothing_else(text):
    """No heading, list, link, image, code or HTML comes of what somebody else wrote."""
    parser = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"])
    for before in ("### word: ", "* ", ""):
        tokens = parser.parse(before + plain_markdown(text))
        kinds = {one.type.removesuffix("_open").removesuffix("_close") for one in tokens}
        assert kinds <= {"heading", "bullet_list", "list_item", "paragraph", "inline"}
        assert before or kinds <= {"paragraph", "inline"}
        assert sum(one.type == "inline" for one in tokens) <= 1
        inner = [child for one in tokens for child in one.children or []]
        assert {child.type for child in inner} <= {"text", "text_special"}
        shown = "".join(child.content for child in inner).removeprefix("word:")
        assert shown.replace(WORD_JOINER, "").strip() == visible(text).strip()
    assert "://" not in plain_markdown(text)
    assert "www." not in plain_markdown(text)


ACCOUNTS = [
    "root:$6$saltsalt$HASHHASHHASH:19000:0:99999:7:::",
    "root:x:0:0:Super User,Room 5,,:/root:/bin/sh",
    "bob:$2y$10$abcdefghijklmnopqrstuv",
]


@pytest.mark.parametrize("line", ACCOUNTS)
def test_no_line_of_a_file_of_accounts_names_a_column(line, monkeypatch):
    assert heading(line) == "a name that --show-values shows"
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")
    assert heading(line)[:20] == line[:20]


@pytest.mark.parametrize(
    "name",
    ["age", "income ($)", "$ a month", "Q1: a: b", "time 10:30:00", "x:y:z", "%", "", "a b", "€"],
)
def test_a_name_of_a_column_is_quoted(name):
    assert heading(name) == name
    assert len(heading(name + "b" * 999)) < 70


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [("x", True), ("..", True), ("n.a.", True), ("7", False), ("hunter", False), ("9x9", False)],
)
def test_of_cells_of_published_tables_only_marks_are_quoted(text, is_shown, monkeypatch):
    assert (text in quoted(text)) == is_shown
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")
    assert text in quoted(text)


@pytest.mark.parametrize("text", ["\n", "\n'", ";' ", '\t"', ";'\n", "; "])
def test_a_long_run_of_marks_is_read_once(text):
    """A stranger's document of line ends took the square of its length."""
    long = text * (200_000 // len(text)) + "=1"
    assert unmarked(marked(long)) == long
