"""Each command in a folder full of traps, with a hook that hears of all it opens and starts.

A file of the folder may be opened if the command names it, or if its study does; nothing else of
the folder, nothing of the folder beside it, no address, and no program but this Python.
"""

import json
import os
import subprocess
import sys

import pytest

from narcissus.study import marks

from .small import FILES

HOOK = """
import os, sys
LOG = os.open(os.environ["TRAP_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
ASKING = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"}
def hook(event, arguments):
    if event in {"open", "os.listdir", "os.scandir"} and isinstance(arguments[0], (str, bytes)):
        os.write(LOG, f"opened\\t{os.path.abspath(os.fsdecode(arguments[0]))}\\n".encode())
    elif event in {"subprocess.Popen", "os.exec", "os.posix_spawn"}:
        os.write(LOG, f"started\\t{os.fsdecode(arguments[0])}\\n".encode())
    elif event == "os.system":
        os.write(LOG, f"started\\t{os.fsdecode(arguments[0])}\\n".encode())
    elif event in ASKING:
        address = arguments[-1] if event == "socket.connect" else arguments[0]
        os.write(LOG, f"asked\\t{address}\\n".encode())
sys.addaudithook(hook)
"""
TRAPS = {
    "narcissus.py": "raise SystemExit(99)",
    "numpy.py": "raise SystemExit(99)",
    "sitecustomize.py": "raise SystemExit(99)",
    "usercustomize.py": "raise SystemExit(99)",
    "json.py": "raise SystemExit(99)",
    ".numba_config.yaml": "CACHE_DIR: elsewhere",
    "matplotlibrc": "backend: module://mine",
    "policy.toml": "[threshold]\nadvantage = 1.0\n",
    "people.csv.gz": "not packed",
    "notes.txt": "a secret",
    ".env": "TOKEN=secret",
    "conftest.py": "raise SystemExit(99)",
    "pyproject.toml": "[tool.narcissus]\n",
}
# What is opened step by step, relative to a folder that is open, shows its last name alone.
# So does the private folder of the user's key, which is elsewhere.
RESULTS = {"study", "evidence", "narcissus", "trials.store", marks.FILE, *marks.NAMES}
GAME = ("init", "--example", "counting-query-uncut", "--out", "game.toml")
COMMANDS = {
    "audit": (["audit", "study.toml"], {"study.toml", "people.csv"}),
    "audit with workers": (["audit", "study.toml", "--workers", "2"], {"study.toml", "people.csv"}),
    "init": (["init", "people.csv", "--out", "new.toml"], {"people.csv", "new.toml"}),
    "synth": (["synth", "people.csv", "other.csv"], {"people.csv", "other.csv"}),
    "measure": (["measure", "people.csv", "--known", "sex"], {"people.csv"}),
    "tables": (["tables", "counts.csv"], {"counts.csv"}),
    "rules": (["rules", "people.csv", "--tables", "sex,ill"], {"people.csv"}),
    "bound": (["bound", "--epsilon", "1", "--prior", "0.5", "--secret", "membership"], set()),
    "risk": (["risk", "--epsilon", "1", "--prior", "0.1"], set()),
    "protect": (["protect", "--prior", "0.1", "--advantage", "0.1", "--delta", "1e-5"], set()),
    "refute": (["refute", "--canaries", "100", "--guesses", "50", "--correct", "40"], set()),
    "channel": (["channel", "channel.csv"], {"channel.csv"}),
    "complexity": (["complexity", "people.csv"], {"people.csv"}),
    "init --schema": (["init", "--schema"], set()),
    "init --example": (list(GAME), {"game.toml"}),
    "extract": (
        ["extract", "evidence.toml"],
        {"evidence.toml", "data.txt", "release", "program.py"},
    ),
}


def lay(folder):
    """Write what commands need, the traps, and a folder beside it that nothing may enter."""
    files = {
        **FILES,
        "other.csv": FILES["people.csv"],
        "counts.csv": "sex,ill,count\nm,no,20\nm,yes,10\nf,no,20\nf,yes,10\n",
        "data.txt": "one\ntwo\n",
        "release": "one\ntwo\n",
        "program.py": "print(open('release').read(), end='')\n",
        "evidence.toml": 'release = "release"\nprogram = "program.py"\ndata = "data.txt"\n',
    }
    for name, text in (TRAPS | files).items():
        (folder / name).write_text(text, encoding="utf-8")
    beside = folder.parent / "beside"
    beside.mkdir()
    (beside / "secret.txt").write_text("secret")
    (folder / "link.csv").symlink_to(beside / "secret.txt")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.one_in(5)
def test_a_command_opens_what_it_names_and_nothing_else(tmp_path, name):
    words, named = COMMANDS[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    lay(folder)
    log = tmp_path / "log"
    code = f"{HOOK}\nfrom narcissus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "TRAP_LOG": str(log), "MPLCONFIGDIR": str(tmp_path / "mpl")},
    )
    assert done.returncode in {0, 1, 2, 3}, done.stderr
    assert "Traceback" not in done.stderr
    lines = {tuple(line.split("\t", 1)) for line in log.read_text().splitlines()}
    opened = {path for what, path in lines if what == "opened"}
    inside = {os.path.relpath(path, folder) for path in opened if path.startswith(str(folder))}
    strange = {
        path
        for path in inside
        if path not in named | {".", *RESULTS}
        and path.partition("/")[0] != "results"
        and ".partial" not in path
    }
    assert strange == set(), json.dumps(sorted(strange))
    assert not [path for path in opened if path.startswith(str(folder.parent / "beside"))]
    assert not {what for what, _ in lines} & {"asked"}
    programs = {path for what, path in lines if what == "started"}
    own = {os.path.basename(sys.executable), "fc-list"}  # matplotlib asks that for fonts, once
    assert {os.path.basename(path) for path in programs} <= own


def test_the_hook_hears_of_what_is_opened_started_and_asked(tmp_path):
    log = tmp_path / "log"
    code = f"""{HOOK}
import socket, subprocess
open(__import__('os').devnull).close()
subprocess.run(['true'])
try: socket.create_connection(('127.0.0.1', 9), timeout=1)
except OSError: pass
"""
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "TRAP_LOG": str(log)}
    )
    text = log.read_text()
    assert f"opened\t{os.devnull}" in text
    assert "started\ttrue" in text
    assert "asked\t" in text
