"""A terminal is never silent for more than two seconds, from the first to the last line."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus.cli.heart import SILENCE

ROOT = Path(__file__).parents[2]
COMMAND = [str(Path(sys.executable).with_name("narcissus"))]


def silences(words, cwd, most=SILENCE):
    """Run a command at a terminal; return its exit code, and each silence with what came before."""
    ours, theirs = pty.openpty()
    said = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=said, close_fds=True
    )
    os.close(theirs)
    last, seen, found = time.monotonic(), b"", []
    while True:
        ready, _, _ = select.select([ours], [], [], 0.05)
        now, text = time.monotonic(), b""
        if ready:
            try:
                text = os.read(ours, 65_536)
            except OSError:  # the terminal is closed
                text = b""
        if text or (ready and not text):
            if now - last > most:
                found.append((round(now - last, 1), seen[-120:]))
            last, seen = now, (seen + text)[-400:]
        if ready and not text:
            os.close(ours)
            return process.wait(), found


EXAMPLES = {
    "table": ["audit", "examples/affairs.toml"],
    "whole table": ["audit", "examples/whole_table.toml"],
    "channel": ["audit", "examples/channel.toml"],
    "secrets": ["audit", "examples/secrets.toml"],
    "synthetic": ["audit", "examples/given_fresh.toml"],
    "extraction": ["audit", "examples/extraction/copy.toml"],
    "game": ["audit", "GAME"],
    "classifier": ["audit", "examples/classifiers/digits.toml"],
    "copyright": ["audit", "packages/narcissus-papers/examples/copyright/case.toml"],
    "membership": ["audit", "membership.toml"],
    "published tables": ["audit", "tables.toml"],
}

WRITTEN = {
    "membership.toml": f"""kind = "membership"
[data]
scores = "{ROOT / "examples/membership/shadows.npz"}"
scale = "probability"
[threat]
attacks = ["lira", "rmia"]
[threshold]
tpr = 0.05
""",
    "tables.toml": """kind = "published-tables"
[data]
tables = ["area.csv"]
people = "people.csv"
[made]
below = 4
[threat]
secret = "ill"
known = ["area"]
""",
}


def write_studies(folder):
    """Write studies and their files that no example holds."""
    rng = np.random.default_rng(3)
    area = rng.choice(["North", "South", "West"], 300)
    people = pd.DataFrame({"area": area, "ill": rng.choice(["no", "yes"], 300, p=[0.9, 0.1])})
    people.to_csv(folder / "people.csv", index=False)
    counts = pd.crosstab(people["area"], people["ill"], margins=True, margins_name="*").stack()
    hidden = counts.where((counts == 0) | (counts >= 4), "x").rename("count")
    hidden.reset_index().to_csv(folder / "area.csv", index=False)
    for name, text in WRITTEN.items():
        (folder / name).write_text(text)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_example_is_silent_for_two_seconds(tmp_path, kind):
    """And neither is the record, verified and drawn again."""
    words = list(EXAMPLES[kind])
    if words[-1] == "GAME":
        words[-1] = str(tmp_path / "game.toml")
        made = ["init", "--example", "dp-implies-narcissus", "--out", words[-1]]
        assert subprocess.run(COMMAND + made, check=False, capture_output=True).returncode == 0
    elif words[-1] in WRITTEN:
        write_studies(tmp_path)
        words[-1] = str(tmp_path / words[-1])
    out = tmp_path / "out"
    more = [["verify", str(out), words[-1]], ["report", str(out), "--text", "--verbose"]]
    for said in ([*words, "--out", str(out), "--yes"], *more):
        code, found = silences(COMMAND + said, ROOT)
        assert code in (0, 1, 3)
        assert not found, said


@pytest.mark.nightly
@pytest.mark.parametrize("pause", [0.1, 3.5])
def test_a_silence_is_found(tmp_path, pause):
    said = f"import time; print('one', flush=True); time.sleep({pause}); print('two')"
    code, found = silences([sys.executable, "-c", said], tmp_path)
    assert (code, [one[1][:3] for one in found if one[1]]) == (0, [b"one"] if pause > 2 else [])
