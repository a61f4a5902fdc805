# ruff: noqa: E501, PT017 (tables of what is tried)
"""Every option and argument of every command, with what it does not expect.

Run by `test_command_line.py` in a process of its own, ``python -m tests.fuzz.options SHARE SEED
COMMAND...`` in an empty folder.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import signal
import sys
import time
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import numpy as np

from .readers import CHANNEL, GROUPS, LOSS, PEOPLE, ROOT, SAMPLES, SCORES, SECONDS

STUDY = """title = "T"
[data]
path = "people.csv"
[threat]
unknown = ["ill"]
targets = 5
[mechanism]
k = 2
epsilon = [1.0]
delta = 1e-5
[run]
trials = 2
seed = 1
workers = 1
"""
CALLS = {
    "audit": "audit study.toml --out out --yes",
    "app": "app nowhere/deeper --no-browser",
    "init": "init people.csv --out new.toml",
    "synth": "synth people.csv fresh.csv --unknown ill --out out2",
    "risk": "risk --epsilon 1 --prior 0.01",
    "measure": "measure people.csv --known sex --secret ill",
    "bound": "bound --epsilon 1 --prior 0.1",
    "protect": "protect --prior 0.1 --advantage 0.05 --delta 1e-5",
    "tables": "tables published.csv --below 5",
    "rules": "rules people.csv --by sex --secret ill --trials 0 --seconds 1",
    "refute": "refute --canaries 100 --guesses 10 --correct 8",
    "membership": "membership scores.csv --targets 2 --base-rate 0.1",
    "channel": "channel c.csv",
    "compose": "compose c.csv=2",
    "refine": "refine c.csv c.csv",
    "design": "design loss.csv --most-loss 1",
    "estimate": "estimate samples.csv",
    "extract": "extract nothing.toml",
    "complexity": "complexity people.csv",
    "canaries": "canaries write out-canaries --each 2",
    "privacy": "privacy game.toml",
    "profile": "profile game.toml",
    "report": "report record.json",
    "verify": "verify record.json",
}
TEXTS = [
    "", " ", ",", "x", "1,x", "1,,2", "nan", "1e999", "-1", "0", "@missing", "@bad.bin", "@", "a=b=c", "=",
    "x=", "=1", ":", "a:b=c,d", "randomized-response:values=x,epsilon=1", "\x1b[2J\u202e", "9" * 400, "[[",
    "{}", "a" * 5000, "\udcff", "1..2", "1:2:3", "p=1,p=2", "epsilon=", "bits:n=0", "__class__", "'", '"',
]  # fmt: skip
FILES = {
    "empty.csv": b"",
    "bad.bin": bytes(range(256)),
    "latin.csv": "score,member\nm\xe4,1\n".encode("latin-1"),
    "open.csv": b'score,member,pair\n1,1,"a\n2,0,a\n',
    "quote.csv": b'score,member,pair\n1,1,"a"x\n2,0,a\n',
    "short.csv": b"score,member,pair\n1,1,a\n2\n",
    "long.csv": b"score,member\n1,1,1,1\n",
    "words.csv": b"score,member,pair\nx,y,z\nq,r,s\n",
    "heading.csv": b"score,member,pair\n",
    "line.csv": b"a\n",
    "nan.csv": b"secret,a,b\nx,nan,1\ny,inf,-inf\n",
    "nul.csv": b"secret,a\nx\0,1\n",
    "cr.csv": b"secret,a\rx,1\ry,1\r",
    "deep.json": b"[" * 5000,
    "rows.json": b'[{"a": 1}, [2], 3]',
    "not.json": b"{",
    "bad.npz": b"PK\x03\x04" + bytes(40),
    "bad.npy": b"\x93NUMPY\x01\x00\xff\xff{'descr'",
    "bad.parquet": b"PAR1" + bytes(20) + b"\xff\xff\xff\x7fPAR1",
    "bad.csv.gz": b"\x1f\x8b\x08" + bytes(20),
    "bad.toml": b"[a\n",
    "twice.toml": b"a = 1\na = 2\n",
    "table.toml": b"title = []\n[data]\npath = 1\n",
    "line\nend\x1b[2J.csv": b"a,b\n1\n",
}
PATHS = ["missing.csv", "folder", "", "x" * 300, "/dev/zero", "/proc/self/mem", "\udcff.csv"]
OUT = ["folder/none/x.csv", "people.csv/x.csv", "folder", "", "x" * 300, "/dev/full", "/proc/x"]
LEFT_OUT = {"--scheduler", "--help"}
"""The first connects to whatever it is told."""
WRITES = {"--out", "--records", "--report", "--plot", "--curve", "--back", "--runs", "--keep", "--canaries",
          "--worst", "--export"}  # fmt: skip


def prepare() -> None:
    """Lay down files that work, and files that do not."""
    Path("folder").mkdir()
    game = (files("narcissus.study") / "examples" / "counting-query.toml").read_text()
    record = (ROOT / "tests/study/kept/table.json").read_text()
    given = {
        "people.csv": PEOPLE, "fresh.csv": PEOPLE[: len(PEOPLE) * 2 // 3].rsplit("\n", 1)[0] + "\n",
        "study.toml": STUDY, "scores.csv": SCORES, "c.csv": CHANNEL, "loss.csv": LOSS,
        "samples.csv": SAMPLES, "game.toml": game, "record.json": record, "groups.csv": GROUPS,
        "published.csv": "sex,age,count\nF,0-9,x\nF,10+,3\nM,*,x\n*,*,9\n",
    }  # fmt: skip
    for name, text in given.items():
        Path(name).write_text(text)
    for name, content in FILES.items():
        Path(name).write_bytes(content)


def lines(name: str) -> list[list[str]]:
    """Command lines of a command: each option with each value, each argument in turn replaced."""
    from narcissus.cli.main import cli

    command = cli.get_command(click.Context(cli), name)
    base = CALLS[name].split()
    made: list[list[str]] = []
    arguments = 1  # the place in the base of the next argument
    for parameter in command.params:
        option = max(parameter.opts, key=len)
        is_path = isinstance(parameter.type, click.Path)
        values = [*PATHS, *FILES] if is_path or option in {"--uses", "uses"} else [*TEXTS, *FILES]
        if option in WRITES:
            values = OUT
        if isinstance(parameter, click.Argument) and name == "app":
            continue  # any folder that can be opened would be served for ever
        if isinstance(parameter, click.Argument):
            head, tail = base[:arguments], base[arguments + 1 :]
            made += [[*head, "--", value, *tail[:0]] if value.startswith("-") else [*head, value, *tail]
                     for value in [*values, *TEXTS]]  # fmt: skip
            arguments += 1
        elif option in LEFT_OUT:
            continue
        elif getattr(parameter, "is_flag", False):
            made.append([*base, option])
        elif parameter.nargs != 1:
            made += [[*base, option, *[value] * max(1, parameter.nargs)] for value in values]
        else:
            made += [[*base, f"{option}={value}"] for value in values]
            if option == "--scores":
                made += [[name, f"{option}={value}", "--pairs"] for value in values]
            if option == "--priors":
                made += [[name, f"{option}={value}", "--correct", "1"] for value in values]
    return made


def check(words: list[str]) -> None:
    """Run a command line: it may say yes or no, in words of ours."""
    from narcissus.cli import main

    out, err = io.StringIO(), io.StringIO()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    faulthandler.dump_traceback_later(20 * SECONDS, exit=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as left:
            said = err.getvalue()
            assert left.code in {0, 1, 2, 3}, said
            assert "Traceback" not in said, said
            if left.code == 2:
                assert said.strip(), "refused without a word"
                assert len(said) < 30_000, len(said)
        else:
            raise AssertionError("the command did not exit")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()


def fuzz(name: str, share: float, seed: int) -> int:
    """Try a share of the lines of a command; give how many."""
    every: list[Any] = lines(name)
    chance = np.random.default_rng([seed, *name.encode()])
    if share < 1:
        places = chance.permutation(len(every))[: max(1, round(share * len(every)))]
        every = [every[i] for i in places]
    for words in every:
        Path("last.json").write_text(json.dumps(words))
        check(words)
    return len(every)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)
    prepare()
    for one in sys.argv[3:]:
        start = time.monotonic()
        print(
            one,
            fuzz(one, float(sys.argv[1]), int(sys.argv[2])),
            f"{time.monotonic() - start:.0f} s",
        )
