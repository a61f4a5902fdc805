"""Long work: the same numbers however it is played, interrupted, damaged or continued."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus.errors import StoreError
from narcissus.study.store import FILE, TrialStore

OUT = Path("out")
SWEEP = {"epsilon": [1, "=inf"]}


def digest(folder=OUT):
    return json.loads((Path(folder) / "record.json").read_text())["digest"]


def command(path, *options):
    return [
        sys.executable,
        "-m",
        "narcissus",
        "audit",
        str(path),
        "--allow-code",
        *map(str, options),
    ]


class Notes:
    """An observer that keeps what it hears."""

    def __init__(self):
        self.notes, self.starts, self.steps = [], [], 0

    def start(self, what, total, done=0):
        self.starts.append((what, total, done))

    def advance(self, steps=1):
        self.steps += steps

    def finish(self):
        pass

    def note(self, message):
        self.notes.append(message)


def play(path, **options):
    hears = Notes()
    audit = narcissus.run(narcissus.load_study(path, allow_code=True), observer=hears, **options)
    return audit, hears


def test_workers_do_not_change_a_digit(study):
    path = study(mechanism=SWEEP, attacks={
        "prior": {}, "posterior": {}, "ceiling": {}, "rap": {"steps": 20, "trials": 2},
        "gibbs": {"kind": "posterior", "method": "gibbs", "sweeps": 8},
    })  # fmt: skip
    one, hears = play(path, workers=1)
    two, _ = play(path, workers=2)
    assert one.record.digest == two.record.digest
    assert one.record.to_json() == two.record.to_json()
    assert hears.starts == [("trials", 12, 0)]
    assert hears.steps == 12
    other, _ = play(path, workers=1, rng=4)
    assert other.record.digest != one.record.digest


SLOW = """
import time
class Slow:
    title, uses, informed = "a slow one", "prior", False
    def guess(self, view, *, rng):
        time.sleep(0.15)
        with open("played", "a") as file:
            file.write(".")
        return rng.integers(0, 2, view.targets.people)
"""


def children_of(pid):
    """Process ids of all descendants that still live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found += [int(entry.name), *children_of(int(entry.name))]
    return found


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def played():
    """How many trials were played so far; at most four of them are not stored yet."""
    return Path("played").stat().st_size if Path("played").exists() else 0


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_continued(study, how):
    """kill -9 and Ctrl-C in the middle: the rest is played, and nothing changes."""
    Path("slow.py").write_text(SLOW)
    attacks = {"prior": {}, "slow": {"kind": "slow:Slow"}, "ceiling": {}}
    path = study(attacks=attacks, run={"trials": 40})
    options = ["--out", "out", "--workers", 2]
    process = subprocess.Popen(
        command(path, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while played() < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    workers = children_of(process.pid)
    assert process.poll() is None, process.communicate()
    assert workers
    if how == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert not (OUT / "record.json").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; continue with: narcissus audit" in err
        assert "Traceback" not in err
    # Nobody is left behind.
    until = time.monotonic() + 20
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    again = subprocess.run(
        command(path, *options), check=False, capture_output=True, text=True, timeout=120
    )
    assert again.returncode == 0, again.stderr
    assert "continuing:" in again.stderr
    kept = int(again.stderr.split("continuing: ")[1].split(" of 40")[0])
    assert 1 <= kept < 40
    assert digest() == play(path, workers=1)[0].record.digest


@pytest.fixture(scope="module")
def big_blobs():
    """Payloads that take pages of their own."""
    rng = np.random.default_rng(0)
    return {f"{t}/0": {"x": rng.random(3000)} for t in range(12)}


def filled(folder, payloads, identity=None):
    with TrialStore(folder, identity or {"a": 1}) as store:
        for key, payload in payloads.items():
            store.put(key, payload)
    return Path(folder) / FILE


def damage_middle(path):
    """Overwrite one stored payload with other bytes."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 200] = bytes(200)
    path.write_bytes(bytes(data))


def damage_page(path):
    """Overwrite two whole pages."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 8192] = os.urandom(8192)
    path.write_bytes(bytes(data))


def damage_tail(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def damage_head(path):
    path.write_bytes(os.urandom(100) + path.read_bytes()[100:])


def damage_all(path):
    path.write_bytes(b"no database at all\n" * 50)


@pytest.mark.parametrize(
    ("damage", "saved"),
    [(damage_middle, 10), (damage_page, 6), (damage_tail, 6), (damage_head, 11), (damage_all, 0)],
)
def test_a_damaged_store_keeps_what_is_intact(tmp_path, big_blobs, damage, saved):
    path = filled(tmp_path, big_blobs)
    damage(path)
    hears = Notes()
    with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
        kept = store.keys()
        assert saved <= len(kept) <= (12 if damage is damage_head else 11)
        for key in kept:
            np.testing.assert_array_equal(store.get(key)["x"], big_blobs[key]["x"])
        for key in set(big_blobs) - kept:
            store.put(key, big_blobs[key])
    assert len(hears.notes) == 1
    assert f"{len(kept)} intact trials were kept" in hears.notes[0]
    assert "damaged-1" in hears.notes[0]
    assert (tmp_path / "trials.damaged-1.sqlite").exists()
    with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
        assert store.keys() == set(big_blobs)
    assert len(hears.notes) == 1


@pytest.mark.parametrize("damage", [damage_middle, damage_tail, damage_head])
def test_a_damaged_store_ends_with_the_same_numbers(study, damage):
    path = study(run={"trials": 12})
    whole, _ = play(path, folder="out")
    damage(OUT / FILE)
    again, hears = play(path, folder="out")
    assert again.record.digest == whole.record.digest
    assert any("damaged" in note for note in hears.notes)


def test_a_file_without_tables_is_no_damage(tmp_path, big_blobs):
    """A run that was killed before its first write."""
    sqlite3.connect(tmp_path / FILE).close()
    (tmp_path / FILE).touch()
    hears = Notes()
    with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
        assert store.keys() == set()
    assert hears.notes == []


def test_a_store_of_another_study_is_refused(tmp_path, big_blobs):
    filled(tmp_path, big_blobs, {"a": 1, "b": 2})
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreError, match=r"another study \(different: b\).*--restart"):
        TrialStore(tmp_path, {"a": 1, "b": 3})
    assert (tmp_path / FILE).read_bytes() == before
    with TrialStore(tmp_path, {"a": 1, "b": 3}, restart=True) as store:
        assert store.keys() == set()


def test_a_damaged_store_of_another_study_is_left_alone(tmp_path, big_blobs):
    path = filled(tmp_path, big_blobs, {"a": 1})
    damage_middle(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another study"):
        TrialStore(tmp_path, {"a": 2})
    assert path.read_bytes() == before


def test_two_runs_at_once(tmp_path, big_blobs):
    """In one process and from another; also against --restart."""
    with TrialStore(tmp_path, {"a": 1}) as store:
        store.put("0/0", big_blobs["0/0"])
        for restart in (False, True):
            code = (
                "from narcissus.study.store import TrialStore\n"
                f"TrialStore({str(tmp_path)!r}, {{'a': 1}}, restart={restart})\n"
            )
            other = subprocess.run(
                [sys.executable, "-c", code], check=False, capture_output=True, text=True
            )
            assert "in use by another run" in other.stderr
        store.put("1/0", big_blobs["1/0"])
    with TrialStore(tmp_path, {"a": 1}) as store:
        assert store.keys() == {"0/0", "1/0"}


def test_two_commands_at_once(study):
    """One wins, the other says why it stops; the winner's numbers are right."""
    Path("slow.py").write_text(SLOW)
    path = study(attacks={"slow": {"kind": "slow:Slow"}}, run={"trials": 8})
    both = [
        subprocess.Popen(
            command(path, "--out", "out", "--quiet"), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    ends = [(*p.communicate(timeout=120), p.returncode) for p in both]
    codes = sorted(code for *_, code in ends)
    whole, _ = play(path)
    assert digest() == whole.record.digest
    if codes != [0, 0]:  # [0, 0]: one had ended before the other opened the store
        assert codes == [0, 2], ends
        (loser,) = [err for _, err, code in ends if code == 2]
        assert "in use by another run" in loser
        assert len(loser.strip().splitlines()) == 1
    assert not list(OUT.glob("*damaged*"))


def test_more_trials_keep_the_finished_ones(study, narcissus):
    path = study(run={"trials": 4})
    assert narcissus("audit", path, "--out", "out")[0] == 0
    path = study(run={"trials": 9}, threshold={"share": 0.99})
    code, _, err = narcissus("audit", path, "--out", "out")
    assert code == 0, err
    assert "4 of 9 trials were already played" in err
    assert digest() == play(path)[0].record.digest
    # Fewer, too: the rest stays in the store.
    path = study(run={"trials": 4})
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    assert digest() == play(path)[0].record.digest


@pytest.mark.parametrize(
    "changes",
    [
        {"mechanism": {"epsilon": 3}},
        {"threat": {"targets": 16}},
        {"run": {"seed": 4}},
        {"prior": {"parents": 1}},
        {"attacks": {"prior": {}}},
        {"data": {"drop": ["town"]}},
    ],
    ids=str,
)
def test_another_study_is_refused_in_the_same_folder(study, narcissus, changes):
    assert narcissus("audit", study(), "--out", "out", "--quiet")[0] == 0
    before = digest()
    path = study(**changes)
    code, out, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert (code, out) == (2, "")
    assert "another study" in err
    assert "--restart" in err
    assert digest() == before
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0
    assert digest() == play(path)[0].record.digest


def test_a_changed_table_is_another_study(study, narcissus):
    path = study()
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    with Path("people.csv").open("a") as file:
        file.write("m,1,cook,z,no,0\n")
    code, _, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert code == 2
    assert "different: table" in err


def test_a_study_without_a_seed_continues(study, narcissus):
    path = study(run={"seed": None, "trials": 3})
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    first = digest()
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    assert digest() == first
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0
    assert digest() != first
