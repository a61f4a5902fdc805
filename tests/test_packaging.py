"""What is shipped: the wheel, what it says of itself, the pages beside it, the README."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import narcissus
from narcissus.cli.main import main
from narcissus.kinds.table.kind import KIND
from narcissus.study.record import provenance
from narcissus.study.shipped import shipped_studies, shipped_study

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "narcissus"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALLING = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return kept | more


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel):
    with zipfile.ZipFile(wheel) as file:
        file.extractall(wheel.parent / "unpacked")
    return wheel.parent / "unpacked"


@pytest.fixture(scope="module")
def metadata(unpacked):
    [path] = unpacked.glob("*.dist-info/METADATA")
    return message_from_bytes(path.read_bytes())


@pytest.fixture(scope="module")
def trial():
    spec = importlib.util.spec_from_file_location("run_wheel", ROOT / "tests" / "wheel" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_wheel_holds_the_package_and_nothing_else(unpacked):
    shipped = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = unpacked / "narcissus"
    assert {p.relative_to(held).as_posix() for p in held.rglob("*") if p.is_file()} == shipped
    assert {"py.typed", "study/examples/invented_people.csv"} <= shipped
    assert {p.name.partition("-")[0] for p in unpacked.iterdir()} == {"narcissus"}
    assert list(unpacked.glob("*.dist-info/licenses/LICENSE"))


def test_the_wheel_alone_gives_a_study_that_is_ready_to_be_played(unpacked, tmp_path):
    """That it comes out as it should is what `make wheel` tries."""
    look = (
        "import narcissus; from narcissus.cli.main import cli; "
        "cli(['init', '--example', 'audit-a-table'], standalone_mode=False); "
        "narcissus.load_study('audit-a-table.toml'); "
        "narcissus.read_table('invented_people.csv'); print(narcissus.__file__)"
    )
    alone = environment(PYTHONPATH=str(unpacked))
    command = [sys.executable, "-c", look]
    printed = subprocess.check_output(command, cwd=tmp_path, env=alone, text=True).splitlines()
    assert Path(printed[-1]).is_relative_to(unpacked)


def test_it_says_who_made_it_for_what(metadata, trial):
    assert metadata["Author"] == "The Narcissus authors"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    classifiers = metadata.get_all("Classifier")
    assert "Typing :: Typed" in classifiers
    pythons = [c.rpartition(" ")[2] for c in classifiers if ":: Python :: 3." in c]
    assert (*pythons, *trial.UNDECLARED) == trial.PYTHONS
    assert PROJECT["requires-python"] == f">={pythons[0]}"


def test_addresses_are_addresses(metadata):
    for line in [*metadata.get_all("Project-URL", []), *metadata.get_all("Home-page", [])]:
        address = urlsplit(line.rpartition(", ")[2])
        assert address.scheme == "https", line
        assert "." in address.netloc, line


def test_the_version_is_written_in_one_place(metadata, wheel):
    version = narcissus.__version__
    assert metadata["Version"] == version
    assert wheel.name == f"narcissus-{version}-py3-none-any.whl"
    assert provenance(1).narcissus == version
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert not any(version in text for text in (README, INSTALLING))
    written = [p for p in PACKAGE.rglob("*.py") if f'"{version}"' in p.read_text(encoding="utf-8")]
    assert written == [PACKAGE / "_version.py"]


def test_the_changes_begin_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## ([^,\s]+)", text, re.MULTILINE)[0] == narcissus.__version__


def test_every_extra_is_told_of(metadata):
    table = INSTALLING.partition("| extra | for |")[2].partition("\n\n")[0]
    told = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert sorted(told) == sorted(metadata.get_all("Provides-Extra"))


def test_the_citation_has_what_its_format_asks_for():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= said.keys()
    assert said["authors"] == PROJECT["authors"]
    assert said["license"] == PROJECT["license"]
    assert said["version"] == narcissus.__version__
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    day = re.search(
        rf"^## {re.escape(narcissus.__version__)}.*?(\d{{4}}-\d\d-\d\d)", log, re.MULTILINE
    )
    assert day is None or day[1] == str(said["date-released"])
    assert len(said["references"]) == 4
    for paper in said["references"]:
        assert {"type", "title", "authors", "year"} <= paper.keys()
        assert all(one.keys() == {"given-names", "family-names"} for one in paper["authors"])


WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


def test_the_workflow_plays_each_python_and_machine_by_targets_that_exist(trial):
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert [f"{p}" for p in trial.PYTHONS] == jobs["linux"]["strategy"]["matrix"]["python"]
    machines = {job["runs-on"] for job in jobs.values()} | {
        *jobs["others"]["strategy"]["matrix"]["machine"]
    }
    for name in ("ubuntu-latest", "arm", "macos", "windows"):
        assert any(name in machine for machine in machines)
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for job in jobs.values():
        for step in job["steps"]:
            command = step.get("run", "")
            if command.startswith("make "):
                assert re.search(rf"^{command.split()[1]}:", targets, re.MULTILINE), command
            for lock in re.findall(r"requirements/\S+", command):
                assert (ROOT / lock).is_file()


def test_templates_of_issues_are_ones():
    templates = list((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))
    assert templates
    for path in templates:
        nothing, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        assert nothing == ""
        assert yaml.safe_load(head).keys() == {"name", "about", "labels"}
        assert "data about real people" in body


def test_the_container_copies_what_is_there_and_runs_as_nobody(trial):
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {what for what, _ in steps} == {
        *("FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD")
    }
    for what, rest in steps:
        words = shlex.split(rest)
        if what == "FROM":
            version = re.fullmatch(r"docker\.io/library/python:(\d\.\d+)-slim", words[0])
            assert version[1] in trial.PYTHONS
        if what == "COPY" and not words[0].startswith("--"):
            assert all((ROOT / source).exists() for source in words[:-1]), rest
        for lock in re.findall(r"requirements/\S+", rest):
            assert (ROOT / lock).is_file()
    assert dict(steps)["USER"] == "65534:65534"
    assert dict(steps)["ENTRYPOINT"] == '["narcissus"]'


def commands(text):
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.partition(" #")[0].strip() for line in lines if line.startswith("narcissus ")]


# `make wheel` plays the first; the two others look at what it leaves.
LONG = ("narcissus audit ", "narcissus verify ", "narcissus report ")


def test_what_the_readme_shows_works_in_an_empty_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = commands(README)
    assert not any(".venv" in line for line in README.splitlines())
    short = [line for line in shown if not line.startswith(LONG)]
    assert len(short) > 8
    for line in short:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line)[1:])
        assert ended.value.code == 0, f"{line}: {capsys.readouterr().err}"
    written = {path.name for path in tmp_path.iterdir()}
    audited = next(line for line in shown if line.startswith("narcissus audit "))
    assert audited.split()[2] in written
    assert written == {"audit-a-table.toml", "invented_people.csv", "counting.toml"}


def test_the_readme_shows_the_study_that_is_shipped():
    [shown] = re.findall(r"```toml\n(.*?)```", README, flags=re.S)
    shipped = shipped_study("audit-a-table").path.read_text(encoding="utf-8")
    head, _, rest = shipped.partition("[data]")
    assert shown == "[data]" + rest
    assert set(tomllib.loads(head)) == {"title"}
    assert "do not exist" in " ".join(head.split())
    assert "Apache-2.0" in head


def test_the_readme_says_what_comes_of_the_study():
    """Few trials, so to two points."""
    said = re.search(r"income of (\d+) of 100 people.* more than (\d+) of 100", README)
    shipped = shipped_study("audit-a-table")
    study = tomllib.loads(shipped.path.read_text(encoding="utf-8"))
    planned = study["threshold"].pop("at")
    found = narcissus.audit(
        shipped.tables[0],
        bins=study["data"]["bins"],
        **study["threat"],
        mechanism={**study["mechanism"], "epsilon": planned},
        attacks=["prior"],
        threshold=study["threshold"],
        trials=4,
        workers=1,
        rng=study["run"]["seed"],
    )
    [setting] = KIND.judged(found.record).each
    assert f"The plan is ε = {planned}." in README
    assert abs(100 * setting.result.guess.share - int(said[1])) < 2
    assert abs(100 * setting.result.share_bound.at_most - int(said[2])) < 2
    assert setting.result.share_bound.grade == "proved"


def test_every_table_of_a_shipped_study_is_shipped():
    for study in shipped_studies():
        for table in study.tables:
            assert table.is_file()
            assert table.parent == study.path.parent


def test_the_shell_completes_commands():
    answer = environment(
        PYTHONPATH=str(PACKAGE.parent),
        _NARCISSUS_COMPLETE="bash_complete",
        COMP_WORDS="narcissus aud",
        COMP_CWORD="1",
    )
    command = [sys.executable, "-m", "narcissus"]
    done = subprocess.run(command, env=answer, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "plain,audit"
    assert set(re.findall(r"_NARCISSUS_COMPLETE=(\w+)_source narcissus", INSTALLING)) == {
        *("bash", "zsh", "fish")
    }


@pytest.mark.skipif(shutil.which("bash") is None, reason="loads the script of bash")
def test_bash_takes_the_script_of_completion():
    asked = environment(PYTHONPATH=str(PACKAGE.parent), _NARCISSUS_COMPLETE="bash_source")
    command = [sys.executable, "-m", "narcissus"]
    script = subprocess.run(command, env=asked, capture_output=True, text=True, check=False).stdout
    shell = ["bash", "-c", f"{script}\ncomplete -p narcissus"]
    done = subprocess.run(shell, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "narcissus"
