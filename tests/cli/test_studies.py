"""The commands init, examples, schema and canaries: studies to start from, and what they hold."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

import narcissus
from narcissus.cli import studies


@pytest.fixture
def small_town(tmp_path, monkeypatch):
    """A small town's table in the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    rows = [
        f"{i},p{i}@x.org,{draw.randint(18, 89)},{draw.choice('fm')},{draw.choice(['yes', 'no'])}"
        for i in range(200)
    ]
    (tmp_path / "town.csv").write_text("\n".join([",email,age,sex,hiv", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def terminal(monkeypatch):
    """Sit at a terminal and give these answers, one a line."""

    def sit(*answers):
        left = iter(answers)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

        def prompt(_question, *, default, **_):
            return next(left) or default

        monkeypatch.setattr("click.prompt", prompt)
        return left

    return sit


def test_the_study_is_played_as_it_is(small_town, narcissus):
    code, out, _ = narcissus("init", "town.csv", "--epsilon", "1")
    assert code == 0
    assert "wrote town.toml" in out
    assert "unknown: `hiv`" in out
    study = (small_town / "town.toml").read_text().replace("trials = 100", "trials = 2")
    (small_town / "town.toml").write_text(study)
    code, out, _ = narcissus("audit", "town.toml", "--quiet", "--workers", "1")
    assert code == 0
    assert "With the release, the best attack gets " in out


def test_what_exists_stays(small_town, refused, narcissus):
    (small_town / "town.toml").write_text("mine")
    assert "--force" in refused("init", "town.csv")
    assert (small_town / "town.toml").read_text() == "mine"
    assert narcissus("init", "town.csv", "--force")[0] == 0
    assert "[threat]" in (small_town / "town.toml").read_text()


def test_paths_start_from_the_file(small_town, narcissus):
    (small_town / "deep" / "er").mkdir(parents=True)
    out = small_town / "deep" / "er" / "s.toml"
    assert narcissus("init", "town.csv", "--out", out, "--quiet")[0] == 0
    assert tomllib.loads(out.read_text())["data"]["path"] == "../../town.csv"
    _, printed, _ = narcissus("init", "town.csv", "--out", "-", "--quiet")
    assert tomllib.loads(printed)["data"]["path"] == "town.csv"
    assert not (small_town / "town.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["town.csv", "--unknown", "hvi"], "no column `hvi`; did you mean `hiv`"),
        (["town.csv", "--drop", "agee"], "no column `agee`; did you mean `age`"),
        (["town.csv", "--unknown", "email"], "`email` cannot be unknown"),
        (["town.csv", "--unknown", ""], "no column is to be unknown"),
        (["town.csv", "--unknown", "HIV"], "no column `HIV`; did you mean `hiv`"),
        (["town.csv", "--epsilon", "1,x"], "numbers above 0"),
        (["town.csv", "--epsilon", "nan"], "numbers above 0"),
        (["towm.csv"], "did you mean `town.csv`"),
        (["town.csv", "--out", "no/such.toml"], "cannot write"),
        (["empty.csv"], "empty.csv is empty"),
        (["head.csv"], "holds a header and no rows"),
        (["unique.csv"], "no column of unique.csv can be audited"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(small_town, refused, arguments, message):
    (small_town / "empty.csv").write_text("")
    (small_town / "head.csv").write_text("a,b\n")
    (small_town / "unique.csv").write_text("id\n" + "".join(f"x{i}\n" for i in range(9)))
    assert message in refused("init", *arguments)
    assert not list(small_town.glob("*.toml"))


def test_flags_are_taken(small_town, narcissus):
    line = "--unknown age,sex --drop email --epsilon 0.5,2 --rows 10 --out s.toml"
    assert narcissus("init", "town.csv", *line.split())[0] == 0
    found = tomllib.loads((small_town / "s.toml").read_text())
    assert found["threat"]["unknown"] == ["age", "sex"]
    assert found["data"]["drop"] == ["", "email"]
    assert found["mechanism"]["epsilon"] == [0.5, 2]


@pytest.mark.parametrize(("levels", "found"), [("1,3,1", [1, 3]), ("inf", [math.inf])])
def test_any_levels_make_a_study_that_can_be_played(small_town, narcissus, levels, found):
    assert narcissus("init", "town.csv", "--epsilon", levels)[0] == 0
    mechanism = tomllib.loads((small_town / "town.toml").read_text())["mechanism"]
    assert mechanism["epsilon"] == found
    assert ("delta" in mechanism) == math.isfinite(found[0])


def test_a_column_with_a_comma_in_its_name(small_town, narcissus):
    text = (small_town / "town.csv").read_text().replace("hiv", '"hiv, now"')
    (small_town / "town.csv").write_text(text)
    assert narcissus("init", "town.csv", "--unknown", "hiv, now")[0] == 0
    assert tomllib.loads((small_town / "town.toml").read_text())["threat"]["unknown"] == [
        "hiv, now"
    ]


def test_whoever_sits_there_is_asked_until_it_can_be_used(small_town, narcissus, terminal):
    left = terminal("agee", "age", "hvi", "sex", "-1", "4")
    code, _, err = narcissus("init", "town.csv", "--quiet")
    assert code == 0
    assert "did you mean `age`" in err
    assert "did you mean `hiv`" in err
    assert next(left, None) is None
    found = tomllib.loads((small_town / "town.toml").read_text())
    assert found["threat"]["unknown"] == ["sex"]
    assert "age" in found["data"]["drop"]
    assert found["mechanism"]["epsilon"] == [4]


def test_enter_takes_what_is_proposed(small_town, narcissus, terminal):
    terminal("", "", "")
    assert narcissus("init", "town.csv", "--quiet", "--out", "a.toml")[0] == 0
    terminal()
    assert narcissus("init", "town.csv", "--quiet", "--yes", "--out", "b.toml")[0] == 0
    assert (small_town / "a.toml").read_text() == (small_town / "b.toml").read_text()


def test_a_study_that_cannot_be_played_is_told(small_town, refused, monkeypatch):
    monkeypatch.setattr("narcissus.kinds.table.propose.TARGETS", 10**9)
    assert "wrote town.toml, but it cannot be played" in refused("init", "town.csv")


@pytest.fixture
def call(narcissus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return narcissus


def test_examples_lists_and_writes(call, refused, tmp_path):
    code, out, _ = call("init", "--example")
    assert code == 0
    assert "counting-query" in out
    assert "Appendix A" in out
    rows = json.loads(call("init", "--example", "--json")[1])
    assert {"name", "kind", "about", "source", "expected", "tables"} == set(rows[0])
    names = [row["name"] for row in rows]
    assert names == sorted(names)
    assert all(row["about"] and (row["source"] or row["kind"] != "game") for row in rows)
    assert {"table", "game", "language-model"} <= {row["kind"] for row in rows}
    code, out, _ = call("init", "--example", "counting-query")
    assert code == 0
    assert (tmp_path / "counting-query.toml").exists()
    assert "--force" in refused("init", "--example", "counting-query")
    assert call("init", "--example", "counting-query", "--force")[0] == 0
    code, out, _ = call("init", "--example", "counting-query", "--out", "-")
    assert out.startswith('kind = "game"')
    code, _, err = call("init", "--example", "counting-querry")
    assert code == 2
    assert "did you mean `counting-query`" in err
    assert call("init", "--example", "--out", "x.toml")[0] == 2
    assert "cannot write" in refused(
        "init", "--example", "counting-query", "--out", "no/such/folder.toml"
    )


def test_a_study_of_a_table_comes_with_its_table(call, tmp_path):
    code, out, _ = call("init", "--example", "audit-a-table")
    assert code == 0
    assert "wrote audit-a-table.toml and invented_people.csv" in out
    study = narcissus.load_study(tmp_path / "audit-a-table.toml")
    assert study.settings.data.path == "invented_people.csv"
    table = narcissus.read_table(tmp_path / "invented_people.csv")
    assert table.names == ("age", "region", "household", "education", "work", "income")
    # the table is there already, as it should be: it is in nobody's way
    assert call("init", "--example", "audit-a-table", "--out", "mine.toml")[0] == 0
    (tmp_path / "there").mkdir()
    assert call("init", "--example", "audit-a-table", "--out", "there/mine.toml")[0] == 0
    assert {p.name for p in (tmp_path / "there").iterdir()} == {"mine.toml", "invented_people.csv"}


def test_a_table_of_that_name_that_is_another_is_kept(call, tmp_path):
    own = tmp_path / "invented_people.csv"
    own.write_text("mine")
    code, _, err = call("init", "--example", "audit-a-table")
    assert code == 2
    assert "invented_people.csv exists; choose another folder with --out" in err
    assert not (tmp_path / "audit-a-table.toml").exists()
    assert own.read_text() == "mine"
    assert call("init", "--example", "audit-a-table", "--force")[0] == 0
    assert own.read_text() != "mine"


def test_a_shipped_study_comes_with_all_that_it_reads(call, tmp_path):
    """Whatever its kind: each is loaded from the folder that it was written to, and no other."""
    rows = json.loads(call("init", "--example", "--json")[1])
    assert {tuple(row["tables"]) for row in rows} == {
        (), ("invented_people.csv",), ("invented_letters.txt",),
        ("invented_education.csv", "invented_people.csv"),
    }  # fmt: skip
    for row in rows:
        place = tmp_path / row["name"]
        place.mkdir()
        assert call("init", "--example", row["name"], "--out", place / "mine.toml")[0] == 0
        assert narcissus.load_study(place / "mine.toml").kind == row["kind"]
        assert {path.name for path in place.iterdir()} == {"mine.toml", *row["tables"]}


def test_the_study_of_a_language_model_is_played(call):
    assert call("init", "--example", "memorised-letters")[0] == 0
    code, _, _ = call("audit", "memorised-letters.toml", "--out", "kept", "--quiet")
    assert code == 1
    assert narcissus.load_audit("kept").status == "exceeded"


def schema_of(narcissus, *arguments):
    code, out, err = narcissus(*arguments)
    assert (code, err) == (0, "")
    schema = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def test_study_schema_accepts_a_study_and_refuses_unknown_keys(toy, narcissus):
    schema = schema_of(narcissus, "init", "--schema", "toy")
    jsonschema.validate({"kind": "toy", "trials": 3}, schema)
    for wrong in ({"trials": 3}, {"kind": "toy", "trails": 3}, {"kind": "toy", "trials": "3"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


@pytest.mark.parametrize("kind", [(), ("toy",)])
def test_record_schema_accepts_a_record(toy, narcissus, kind):
    _, write = toy
    narcissus("audit", write(), "--quiet")
    record = json.loads(Path("results/toy/record.json").read_text())
    schema = schema_of(narcissus, "report", "--schema", *kind)
    jsonschema.validate(record, schema)
    for key in record:
        short = {k: v for k, v in record.items() if k != key}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(short, schema)


def test_record_schema_of_a_kind_holds_its_results(toy, narcissus):
    _, write = toy
    narcissus("audit", write(), "--quiet")
    record = json.loads(Path("results/toy/record.json").read_text())
    record["result"] = {"answer": "many"}
    jsonschema.validate(record, schema_of(narcissus, "report", "--schema"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, schema_of(narcissus, "report", "--schema", "toy"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("init", "--schema", "toi"), "did you mean `toy`?"),
        (("report", "--schema", "toi"), "did you mean `toy`?"),
        (("init",), "give one of TABLE, --example, --schema and --parts"),
        (("init", "people.csv", "--parts"), "give one of TABLE, --example, --schema and --parts"),
        (("init", "--schema", "--json"), "not for --schema: --json"),
        (("init", "people.csv", "--json"), "not for TABLE: --json"),
        (("init", "--example", "--yes"), "not for --example: --yes"),
        (("init", "--example", "mona-lisa", "--json"), "`--json` is for the list"),
        (("report", "--schema", "toy", "--text"), "not for --schema: --text"),
        (("report", "record.json", "--schema"), "not for --schema: RECORD"),
        (
            ("report", "a.json", "b.json", "--statement", "x.md", "--text"),
            "not for two records: --text, --statement",
        ),
        (("report",), "Missing argument 'RECORD'"),
    ],
)
def test_wrong_names_are_usage_errors(toy, refused, arguments, says):
    assert says in refused(*arguments)


def test_parts_are_listed_by_room(narcissus, refused):
    code, out, err = narcissus("init", "--parts")
    assert (code, err) == (0, "")
    assert out.startswith("world: [world] of a game")
    code, one, err = narcissus("init", "--parts", "table-attack")
    assert (code, err) == (0, "")
    assert one in out
    assert "steps  (whole number; 1000 if left out)  Gradient steps, at least 1." in one
    assert "did you mean `table-attack`?" in refused("init", "--parts", "table-attak")


def test_study_fits_its_schema(town, narcissus):
    schema = json.loads(narcissus("init", "--schema")[1])
    document = tomllib.loads(Path(town("[1, 2]")).read_text())
    jsonschema.validate(document, schema)
    document["threat"]["unknwon"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_canaries_are_written_once_and_by_a_key_that_is_not_shown(tmp_path, monkeypatch, narcissus):
    monkeypatch.chdir(tmp_path)
    code, out, err = narcissus(
        "canaries", "write", "some", "--each", "2", "--copies", "1,3", "--digits", "5"
    )
    assert (code, err) == (0, "")
    files = {name: (tmp_path / "some" / name).read_text() for name in studies.CANARY_FILES}
    table, planted, key = files.values()
    assert len(planted.splitlines()) == 8
    assert key.strip() not in out + table + planted
    assert not any(row.rpartition(",")[2] in out for row in table.splitlines()[1:])
    for name in ("canaries.csv", "canaries.key"):
        assert (tmp_path / "some" / name).stat().st_mode & 0o777 == 0o600
    shutil.copytree("some", "again")
    for name in ("canaries.csv", "plant.txt"):
        (tmp_path / "again" / name).unlink()
    assert (
        narcissus("canaries", "write", "again", "--each", "2", "--copies", "1,3", "--digits", "5")[
            0
        ]
        == 0
    )
    assert {name: (tmp_path / "again" / name).read_text() for name in files} == files
    narcissus("canaries", "write", "other", "--each", "2", "--copies", "1,3", "--digits", "5")
    assert (tmp_path / "other" / "plant.txt").read_text() != planted


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--copies 1,x", "`--copies` must be numbers"),
        ("--copies 1,1", "`--copies` must be different"),
        ("--copies 0,4", "`--copies` must be at least 1"),
        ("--copies 1.5", "`--copies` must be a whole number"),
        ("--copies 10000 --each 101", "1,010,000 documents to plant are too many"),
        ("--digits 101", "`--digits` must be at least 1 and at most 100"),
        ("--text nothing", "`--text` of canaries must hold '{number}'"),
        ("--text {number}\n{secret}", "`--text` must be one line"),
    ],
)
def test_canaries_that_cannot_be_written(tmp_path, monkeypatch, refused, line, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused("canaries", "write", "some", *line.split(" "))
    assert not (tmp_path / "some").exists()


def test_canaries_and_keys_that_are_there_are_kept(tmp_path, monkeypatch, narcissus, refused):
    monkeypatch.chdir(tmp_path)
    narcissus("canaries", "write", "some")
    assert "holds canaries already" in refused("canaries", "write", "some")
    for name in ("canaries.csv", "plant.txt"):
        (tmp_path / "some" / name).unlink()
    (tmp_path / "some" / "canaries.key").chmod(0o644)
    assert "is no key that only you can read" in refused("canaries", "write", "some")


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["init", "p.csv"], "p.toml"),
        (["init", "--example", "audit-a-table"], "audit-a-table.toml"),
        (["init", "--example", "audit-a-table"], "invented_people.csv"),
    ],
)
def test_a_link_in_place_of_a_file_is_not_replaced(call, tmp_path, words, name, is_there):
    (tmp_path / "p.csv").write_text("age,ill\n" + "1,a\n2,b\n" * 30)
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    if is_there:
        (tmp_path / "elsewhere").write_text("")
    code, _, err = call(*words)
    assert code == 2
    assert f"{name} exists; choose another" in err
    assert (tmp_path / name).is_symlink()


@pytest.mark.filterwarnings("default")
def test_a_warning_of_a_library_is_one_note(call, tmp_path):
    rows = "".join(f"1e{i % 400},yes\n-1e{i % 300},no\n" for i in range(300))
    (tmp_path / "p.csv").write_text("age,ill\n" + rows)
    code, _, err = call("init", "p.csv", "--quiet")
    assert code == 0
    assert err.count("overflow encountered in square") == 1
    assert "note: a library warned while it computed: overflow" in err
    assert ".py" not in err
