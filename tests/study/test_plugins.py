"""A study is data: its own code runs only where allowed, from beside it, and the record says so."""

import hashlib
import os
import sys
from contextlib import nullcontext
from importlib import metadata

import pytest
from pydantic import ValidationError

import narcissus
from narcissus.errors import InputError, StudyError
from narcissus.mechanisms import OwnSynthesizer
from narcissus.study.part_section import checked
from narcissus.study.parts import own_parts
from narcissus.study.plugins import GROUP, OwnCode, load_attribute, source_digests

ATTACK = """
class Mine:
    title, uses, informed = "mine", "prior", False
    def __init__(self, **options):
        pass
    def guess(self, view, *, rng):
        return view.targets.prior.argmax(axis=1)
"""
COINS = """
import numpy as np
from narcissus.worlds import Draw
class Coins:
    def __init__(self, n: int, rate: float = 0.5):
        self.n, self.rate = n, rate
    def draw(self, trials, rng):
        return Draw((rng.random((trials, self.n)) < self.rate).astype(int))
    def fresh(self, draw, rng):
        return self.draw(draw.trials, rng).data
"""
TOUCH = "import pathlib\npathlib.Path('ran').touch()\n"
GAME = """
kind = "game"
[world]
name = {world}
[mechanism]
name = {mechanism}
{extra}
[success]
name = {relation}
[[attack]]
name = {attack}
[statement]
name = "narcissus"
epsilon = 1.0
[run]
trials = 100
"""
PARTS = {
    "world": '"bits"\nn = 4',
    "mechanism": '"identity"',
    "relation": '"prefix"',
    "attack": '"released-row"\nrow = "all"',
    "extra": "",
}
SHELL = '"subprocess:getoutput"\ncmd = "touch ran"'
NESTED = {
    "parallel": {"mechanism": '"parallel"\nparts = [{ name = "subprocess:getoutput" }]'},
    "same image": {
        "relation": '"same-image"\nfunction = { name = "subprocess:getoutput" }',
    },
    "any of": {"relation": '"any-of"\nrelation = { name = "subprocess:getoutput" }\nattempts = 1'},
    "looser": {"extra": f"[looser]\nname = {SHELL}"},
    "side information": {"extra": f"[side-information]\nname = {SHELL}"},
}


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(narcissus, folder, path, *options, names=("subprocess:getoutput",)):
    code, out, err = narcissus("audit", path, *options)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    for name in names:
        assert name in err, err
    assert not (folder / "ran").exists()
    return err


@pytest.mark.parametrize("by_name", [False, True])
def test_a_table_study_runs_nothing_unless_allowed(study, narcissus, tmp_path, by_name):
    spec = {"cmd": "touch ran"}
    attacks = (
        {"subprocess:getoutput": spec}
        if by_name
        else {"x": {**spec, "name": "subprocess:getoutput"}}
    )
    err = refused(narcissus, tmp_path, study(attacks=attacks))
    assert "--allow-code" in err
    err = refused(narcissus, tmp_path, study(attacks=attacks), "--allow-code")
    assert GROUP in err  # not beside the study, and no part of anybody


def test_everything_that_would_run_is_named_at_once(study, narcissus, tmp_path):
    (tmp_path / "mine.py").write_text(TOUCH + ATTACK)
    path = study(prior={"name": "mine:prior"}, attacks={"a": {"name": "mine:Mine"}})
    refused(narcissus, tmp_path, path, names=("mine:Mine", "mine:prior"))


@pytest.mark.parametrize("part", ["world", "mechanism", "relation", "attack"])
def test_a_game_runs_nothing_unless_allowed(inside, narcissus, part):
    path = inside / "g.toml"
    path.write_text(GAME.format(**{**PARTS, part: SHELL}))
    assert "line" in refused(narcissus, inside, path)
    assert GROUP in refused(narcissus, inside, path, "--allow-code")


@pytest.mark.parametrize("changes", NESTED.values(), ids=NESTED)
def test_a_part_within_a_part_runs_nothing_either(inside, narcissus, changes):
    path = inside / "g.toml"
    path.write_text(GAME.format(**{**PARTS, **changes}))
    refused(narcissus, inside, path)
    code, _, err = narcissus("profile", path)
    assert code == 2
    assert "subprocess:getoutput" in err
    assert not (inside / "ran").exists()


@pytest.mark.parametrize(
    "name",
    [
        "..elsewhere:Mine",
        "../elsewhere:Mine",
        "/etc/x:Mine",
        "mine.:Mine",
        "mine:",
        ":Mine",
        "mine:__class__.x",
        "mine:Mine:Mine",
        "mine\x00:Mine",
        "os.path:join",
        "os:system",
        "numpy:load",
        "narcissus.study.pool:play_all",
    ],
)
def test_no_other_name_leads_to_code(inside, name):
    (inside / "elsewhere.py").write_text(TOUCH + ATTACK)
    folder = inside / "study"
    folder.mkdir()
    (folder / "mine.py").write_text(ATTACK)
    with OwnCode(allowed=True).in_use(), pytest.raises(InputError):
        load_attribute(name, folder)
    assert not (inside / "ran").exists()


@pytest.mark.parametrize("code", ["0", "3", "None", "'bye'"])
@pytest.mark.parametrize("when", ["at import", "when it is made", "in a trial"])
@pytest.mark.one_in(4)
def test_own_code_does_not_decide_the_exit_code(narcissus, inside, study, code, when):
    """An exit with 0 would read as "met" in a script."""
    ends = f"__import__('sys').exit({code})"
    texts = {
        "at import": f"{ends}\n",
        "when it is made": f"class Mine:\n    def __init__(self):\n        {ends}\n",
        "in a trial": ATTACK.replace("return", f"{ends}\n        return", 1),
    }
    (inside / "mine.py").write_text(texts[when])
    path = study(attacks={"a": {"name": "mine:Mine"}})
    left, out, err = narcissus("audit", path, "--allow-code", "--workers", 1)
    assert (left, out) == (2, ""), err
    assert "exit" in err.lower()


def test_no_link_leads_out_of_the_folder(inside):
    (inside / "outside").mkdir()
    (inside / "outside" / "mine.py").write_text(TOUCH + ATTACK)
    folder = inside / "study"
    folder.mkdir()
    (folder / "mine.py").symlink_to(inside / "outside" / "mine.py")
    (folder / "package").symlink_to(inside / "outside")
    for name in ("mine:Mine", "package.mine:Mine"):
        with OwnCode(allowed=True).in_use(), pytest.raises(InputError, match="leads out"):
            load_attribute(name, folder)
    assert not (inside / "ran").exists()


def test_nothing_runs_outside_of_a_permission(inside):
    (inside / "mine.py").write_text(TOUCH + ATTACK)
    with pytest.raises(InputError, match="allow_code=True"):
        load_attribute("mine:Mine", inside)
    with OwnCode().in_use(), pytest.raises(InputError, match="allow_code=True"):
        load_attribute("mine:Mine", inside)
    assert not (inside / "ran").exists()


def test_a_module_beside_the_study_replaces_no_installed_one(study, tmp_path):
    """Neither for others nor for the study's own code, which finds the real numpy."""
    for name in ("numpy", "json", "narcissus", "loky"):
        (tmp_path / f"{name}.py").write_text(TOUCH)
    (tmp_path / "mine.py").write_text("import numpy, json\nassert numpy.ones(1)\n" + ATTACK)
    before = list(sys.path)
    path = study(attacks={"a": {"name": "mine:Mine"}})
    narcissus.run(narcissus.load_study(path, allow_code=True))
    assert sys.path == before
    assert not (tmp_path / "ran").exists()


def test_the_record_lists_each_module_with_its_digest(study, tmp_path):
    (tmp_path / "mine.py").write_text("from . import other\nfrom .pack import deep\n" + ATTACK)
    (tmp_path / "other.py").write_text("VALUE = 1\n")
    (tmp_path / "unused.py").write_text(TOUCH)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "deep.py").write_text("VALUE = 2\n")
    path = study(attacks={"a": {"name": "mine:Mine"}})
    for workers in (1, 2):
        audit = narcissus.run(narcissus.load_study(path, allow_code=True), workers=workers)
        listed = {
            k.removeprefix("module "): v
            for k, v in audit.record.provenance.digests.items()
            if k.startswith("module ")
        }
        files = {"mine": "mine.py", "other": "other.py", "pack.deep": "pack/deep.py"}
        assert listed == {
            name: "sha256:" + hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
            for name, file in files.items()
        }
    assert "Digest of the module pack.deep" in str(audit)


def test_what_runs_is_the_source_and_no_forged_bytecode(study, tmp_path):
    """The digest is of the source: bytecode that says something else must not run instead."""
    import importlib.util
    import py_compile

    good = tmp_path / "mine.py"
    evil = tmp_path / "evil.py"
    evil.write_text((TOUCH + ATTACK).ljust(600))
    good.write_text(ATTACK.ljust(600))
    os.utime(evil, (10**9, 10**9))
    os.utime(good, (10**9, 10**9))
    py_compile.compile(str(evil), cfile=importlib.util.cache_from_source(str(good)))
    narcissus.load_study(study(attacks={"a": {"name": "mine:Mine"}}), allow_code=True)
    assert not (tmp_path / "ran").exists()


def test_a_changed_module_is_read_again(study, tmp_path):
    found = []
    for number in range(2):
        (tmp_path / "mine.py").write_text(f"# {number}\n" + ATTACK)
        loaded = narcissus.load_study(study(attacks={"a": {"name": "mine:Mine"}}), allow_code=True)
        found.append(loaded.code.digests["mine"])
    assert len(set(found)) == 2


def test_a_helper_is_named_with_the_way_to_import_it(study, tmp_path):
    (tmp_path / "mine.py").write_text("import helper\n" + ATTACK)
    (tmp_path / "helper.py").write_text(TOUCH)
    with pytest.raises(InputError, match=r"from \. import helper"):
        narcissus.load_study(study(attacks={"a": {"name": "mine:Mine"}}), allow_code=True)
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Install a package that declares two of its classes, and something that is not its own."""
    site = tmp_path / "site"
    (site / "parts_of_others-1.0.dist-info").mkdir(parents=True)
    (site / "parts_of_others.py").write_text(ATTACK + "\nclass Hidden(Mine):\n    pass\n" + COINS)
    (site / "parts_of_others-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: parts-of-others\nVersion: 1.0\n"
    )
    (site / "parts_of_others-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\nmine = parts_of_others:Mine\nshell = subprocess:getoutput\n"
        "coins = parts_of_others:Coins\n"
    )
    monkeypatch.syspath_prepend(str(site))
    yield site
    sys.modules.pop("parts_of_others", None)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_installed_part_of_a_game_is_played_in_worker_processes_too(inside, site, workers):
    path = inside / "g.toml"
    world = '"parts_of_others:Coins"\nn = 4'
    path.write_text(GAME.format(**PARTS | {"world": world}))
    with pytest.raises(InputError, match="--allow-code"):
        narcissus.load_study(path)
    loaded = narcissus.load_study(path, allow_code=True)
    assert loaded.settings.world.options == {"n": 4, "rate": 0.5}
    audit = narcissus.run(loaded, workers=workers, rng=1)
    assert (audit.record.rows[0].of, audit.record.rows[0].value) == ("success", 1)
    digests = audit.record.provenance.digests
    source = (site / "parts_of_others.py").read_bytes()
    assert digests["module parts_of_others"] == "sha256:" + hashlib.sha256(source).hexdigest()
    path.write_text(GAME.format(**PARTS | {"world": world.replace("n =", "rat = 0.5\nn =")}))
    with pytest.raises(StudyError, match=r"unknown key `world.rat`.*did you mean `rate`"):
        narcissus.load_study(path, allow_code=True)


def test_an_installed_part_is_run_only_where_its_package_declares_it(study, site):
    assert "parts-of-others" in {d.name for d in metadata.distributions()}
    path = study(attacks={"a": {"name": "parts_of_others:Mine"}})
    with pytest.raises(InputError, match="--allow-code"):
        narcissus.load_study(path)
    audit = narcissus.run(narcissus.load_study(path, allow_code=True))
    source = (site / "parts_of_others.py").read_bytes()
    digests = audit.record.provenance.digests
    assert digests["module parts_of_others"] == "sha256:" + hashlib.sha256(source).hexdigest()
    for name in ("parts_of_others:Hidden", "subprocess:getoutput"):
        with pytest.raises(InputError, match="declared by an installed package"):
            narcissus.load_study(study(attacks={"a": {"name": name}}), allow_code=True)


def test_a_module_that_exits_when_it_is_imported_is_an_error(study, tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit(0)\n")
    with pytest.raises(InputError, match="SystemExit"):
        narcissus.load_study(study(attacks={"a": {"name": "mine:Mine"}}), allow_code=True)


def program(*command):
    return {"mechanism": {"name": "command", "command": [*command, "{input}", "{output}"]}}


def test_a_program_is_not_run_unless_allowed(inside):
    """Nor looked for: the message is the same, whether it is there or not."""
    for first in ("touch", "no-such-program"):
        for allowed in (None, OwnCode()):
            said = f"the program {first} ran .*--allow-code"
            within = allowed.in_use() if allowed else nullcontext()
            with within, pytest.raises(ValidationError, match=said):
                checked("table-mechanism", program(first, "ran")["mechanism"], inside)
    assert not (inside / "ran").exists()


def test_a_study_that_names_a_program_is_refused_with_the_line(study, narcissus, tmp_path):
    without = dict.fromkeys(("k", "noise", "epsilon", "delta", "mu", "scale"))
    path = study(mechanism={**program("touch", "ran")["mechanism"], **without})
    err = refused(narcissus, tmp_path, path, names=("the program touch ran", "line"))
    assert "--allow-code" in err


def test_a_program_that_is_allowed_is_listed_with_its_files(inside):
    (inside / "synth.py").write_text("pass\n")
    (inside / "python").write_text("not this one\n")
    code = OwnCode(allowed=True)
    with code.in_use():
        part = checked("table-mechanism", program("python", "synth.py")["mechanism"], inside)
    digest = hashlib.sha256(b"pass\n").hexdigest()
    assert code.said == {"program synth.py": f"sha256:{digest}"}
    assert part.to_dict()["command"] == ["python", "synth.py", "{input}", "{output}"]
    made = part.build()
    assert made.folder == str(inside)
    assert "folder" not in part.options


def test_the_folder_is_no_option_of_a_study(inside):
    section = {**program("python")["mechanism"], "folder": "/"}
    with OwnCode(allowed=True).in_use(), pytest.raises(ValidationError, match="folder"):
        checked("table-mechanism", section, inside)


def test_a_changed_script_is_another_study(inside):
    found = []
    for text in ("a", "b"):
        (inside / "synth.py").write_text(text)
        with OwnCode(allowed=True).in_use():
            checked("table-mechanism", program("python", "synth.py")["mechanism"], inside)
            found.append(source_digests([], inside))
    assert len({str(one) for one in found}) == 2


def test_a_plain_function_makes_rows(inside):
    (inside / "mine.py").write_text("def rows(frame, rng):\n    return frame\n")
    section = {"name": "mine:rows", "epsilon": 1.0}
    with pytest.raises(ValidationError, match="--allow-code"):
        checked("table-mechanism", section, inside)
    with OwnCode(allowed=True).in_use():
        made = checked("table-mechanism", section, inside).build()
    assert isinstance(made, OwnSynthesizer)
    assert (made.title, made.epsilon) == ("Rows of the function `rows`", 1.0)


def test_a_function_within_the_mechanism_is_not_run_unless_allowed(inside):
    (inside / "mine.py").write_text(TOUCH + "def make(columns, scale):\n    return scale\n")
    nested = {"name": "mine:make", "scale": 2.0}
    section = {"name": "opendp", "measurement": nested, "epsilon": [1.0, 2.0]}
    with pytest.raises(ValidationError, match="--allow-code"):
        checked("table-mechanism", section, inside)
    assert not (inside / "ran").exists()
    with OwnCode(allowed=True).in_use():
        part = checked("table-mechanism", section, inside)
    assert [made.label for made in part.each()] == ["ε = 1", "ε = 2"]
    assert [made.measurement(None) for made in part.each()] == [2.0, 2.0]
    assert part.to_dict()["measurement"] == nested
    assert list(own_parts(part)) == ["mine:make"]


def test_a_kind_that_is_no_text_is_refused(inside):
    for kind in ('[1, "a"]', "{ a = 1 }", "1", "inf", "true", "1979-05-27"):
        (inside / "s.toml").write_text(f"kind = {kind}\n")
        with pytest.raises(StudyError, match="`kind` must be one of"):
            narcissus.load_study(inside / "s.toml")
