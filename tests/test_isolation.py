"""A stranger's folder: no command reads, imports or runs what it was not given.

Each command runs in a folder full of traps, under an audit hook that sees each file that Python
opens and each folder that it lists: what it was not given, and did not write, springs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import narcissus
from narcissus import _isolation

HOOK = """
import os, sys
folder, given = os.path.realpath('.'), set({given!r})
def hook(event, args):
    if event in ('open', 'os.listdir', 'os.scandir') and args and isinstance(args[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(args[0]))
        inside = os.path.relpath(path, folder)
        if not inside.startswith('..') and inside.split(os.sep)[0] not in given and inside != '.':
            print('SPRUNG', event, inside, file=sys.__stderr__, flush=True)
        if inside == '.' and event == 'os.listdir':
            print('SPRUNG', event, 'the folder', file=sys.__stderr__, flush=True)
sys.addaudithook(hook)
sys.argv[:] = ['narcissus', *{words!r}]
from narcissus.cli import main
main()
"""
MODULES = (
    "numpy", "scipy", "pandas", "numba", "yaml", "matplotlib", "click", "rich", "jinja2", "loky",
    "pydantic", "dask", "distributed", "sklearn", "torch", "transformers", "pyarrow", "narcissus",
    "sitecustomize", "usercustomize", "conftest", "typing", "json", "zlib", "sprung", "tomllib",
    "cryptography", "mpl_toolkits", "cloudpickle", "dp_accounting", "opendp",
)  # fmt: skip
CONFIGURATION = {
    ".numba_config.yaml": "cache_dir: {folder}/compiled\n",
    "matplotlibrc": "backend: module://sprung\ntext.usetex: True\n\xff\xfe\n",
    ".matplotlib/matplotlibrc": "backend: module://sprung\n",
    ".config/matplotlib/matplotlibrc": "backend: module://sprung\n",
    ".dask/dask.yaml": "distributed:\n  worker:\n    preload: [sprung]\n",
    ".config/dask/dask.yaml": "distributed:\n  worker:\n    preload: [sprung]\n",
    ".env": "PYTHONSTARTUP=sprung.py\nNARCISSUS_NO_NUMBA=1\n",
    ".pdbrc": "import sprung\n",
    "pyproject.toml": "[tool.narcissus]\nplugins = ['sprung']\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p sprung\n",
    "pytest.ini": "[pytest]\naddopts = -p sprung\n",
    "pip.conf": "[global]\nindex-url = sprung\n",
    "fonts.conf": "<fontconfig><dir>sprung</dir></fontconfig>\n",
    "pyvenv.cfg": "home = {folder}\n",
    "sprung.pth": "import sprung\n",
    "sprung-1.0.dist-info/METADATA": "Name: sprung\nVersion: 1.0\n",
    "sprung-1.0.dist-info/entry_points.txt": (
        "[pydantic]\nsprung = sprung:plugin\n[narcissus.parts]\nattack = sprung:Attack\n"
        "[dask.sizeof]\nsprung = sprung:sizeof\n[numba_extensions]\ninit = sprung:init\n"
        "[matplotlib.backend]\nsprung = sprung\n"
    ),
    "trials.store": "no store at all",
}


@pytest.fixture
def traps(tmp_path, monkeypatch):
    """A folder that holds a trap for each library, and what the commands below read."""
    folder = tmp_path / "theirs"
    (folder / "compiled").mkdir(parents=True)
    for name in MODULES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'SPRUNG')!r}, 'a').write('x')\n")
    for name, text in CONFIGURATION.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("{folder}", str(folder)).encode("latin-1"))
    (folder / "people.csv").write_text(
        "sex,age,ill\n" + "".join(f"{'mf'[i % 2]},{i % 5},{(i // 3) % 2}\n" for i in range(60))
    )
    (folder / "study.toml").write_text(
        "[data]\npath = 'people.csv'\n[threat]\nunknown = ['ill']\ntargets = 10\n"
        "[mechanism]\nk = 2\nepsilon = [1]\ndelta = 1e-5\n[run]\ntrials = 3\nseed = 1\n"
    )
    (folder / "channel.csv").write_text("a,b\n.8,.2\n.2,.8\n")
    (folder / "samples.csv").write_text("secret,output\n" + "1,a\n2,b\n1,a\n2,a\n" * 20)
    (folder / "scores.csv").write_text(
        "score,member\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(40))
    )
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return folder


GIVEN = {"people.csv", "study.toml", "channel.csv", "samples.csv", "scores.csv", "out"}
STUDY = ["study.toml", "--out", "out", "--quiet"]
QUICK = [
    ["audit", *STUDY],
    ["synth", "people.csv", "people.csv", "--unknown", "ill", "--out", "out"],
    ["channel", "--mechanism", "randomized-response:values=300,epsilon=1",
     "--report", "out/channel.html"],
    ["bound", "--epsilon", "1", "--prior", ".5", "--success", "exact"],
]  # fmt: skip
SLOW = [
    ["--help"],
    ["audit", *STUDY, "--engine", "dask"],
    ["app", "nowhere/deeper", "--no-browser"],  # what it starts are the two commands above
    ["init", "people.csv", "--unknown", "ill", "--out", "out/new.toml"],
    ["risk", "--epsilon", "1", "--delta", "1e-6", "--prior", ".01", "--plot", "out/risk.svg"],
    ["measure", "people.csv", "--known", "sex", "--secret", "ill"],
    ["protect", "--prior", ".01", "--advantage", ".05", "--delta", "1e-5"],
    ["refute", "--scores", "scores.csv"],
    ["refute", "--canaries", "100", "--guesses", "10", "--correct", "8"],
    ["channel", "channel.csv"],
    ["compose", "channel.csv", "--uses", "3"],
    ["refine", "channel.csv", "channel.csv"],
    ["design", "--secrets", "5", "--epsilon", "1"],
    ["estimate", "samples.csv", "--measure", "all"],
    ["complexity", "people.csv"],
    ["canaries", "write", "out/canaries"],
    ["init", "--example"],
    ["init", "--example", "counting-query-uncut", "--out", "out/game.toml"],
    ["profile", "study.toml"],
    ["privacy", "study.toml"],
    ["init", "--schema"],
    ["report", "out/record.json"],
    ["report", "out", "out/record.json"],
    ["verify", "out", "study.toml"],
    ["membership", "scores.csv"],
    ["tables", "people.csv"],
    ["rules", "people.csv", "--by", "sex", "--secret", "ill", "--trials", "0"],
    ["extract", "study.toml"],
]


def run(folder, words):
    """Run a command in the folder, seen by the hook; give what it opened that was not given."""
    code = HOOK.format(given=sorted(GIVEN), words=words)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder, check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert "internal error" not in done.stderr, done.stderr
    assert not (folder.parent / "SPRUNG").exists(), words
    assert not list((folder / "compiled").iterdir()), words
    return done, [line for line in done.stderr.splitlines() if line.startswith("SPRUNG")]


@pytest.mark.parametrize("words", QUICK, ids=lambda words: words[0])
@pytest.mark.one_in(3)
def test_no_trap_springs(traps, words):
    (traps / "out").mkdir()
    done, sprung = run(traps, words)
    assert sprung == []
    assert done.returncode in {0, 1, 3}, done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("words", SLOW, ids=" ".join)
def test_no_trap_springs_of_any_command(traps, words):
    """Some of these are refused: what is refused may not read either."""
    (traps / "out").mkdir()
    run(traps, ["audit", *STUDY])
    done, sprung = run(traps, words)
    assert sprung == []
    assert done.returncode in {0, 1, 2, 3}


def test_every_command_is_tried():
    from narcissus.cli.main import COMMANDS

    assert {words[0] for words in [*QUICK, *SLOW]} >= set(COMMANDS)


def test_the_traps_would_spring(traps):
    """Without the isolation the same hook sees what matplotlib and numba read."""
    for name in _isolation.FROM_ELSEWHERE:
        code = HOOK.format(given=[], words=[]).split("sys.argv")[0]
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"{code}import {name}"],
            check=False, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert "SPRUNG open" in done.stderr, name


def test_the_current_folder_is_no_place_for_modules(tmp_path, monkeypatch):
    """A path that begins with a colon (a common slip) puts the current folder on Python's."""
    (tmp_path / "sprung.py").write_text("print('sprung')")
    code = (
        "import sys; from narcissus._isolation import isolate; isolate();\n"
        "import importlib.util as u; print(u.find_spec('sprung'), u.find_spec('narcissus').origin)"
    )
    source = str(Path(narcissus.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep + source},
    )  # fmt: skip
    assert done.stdout.split()[0] == "None"
    here = subprocess.run(
        [sys.executable, "-c", code], cwd=source, check=True, capture_output=True, text=True
    )
    assert json.dumps(source)[1:-1] in here.stdout or source in here.stdout
