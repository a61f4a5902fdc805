"""The store of trials: what is intact is kept, what is not this study's is refused."""

import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from narcissus._arrays import pack
from narcissus.audits.play import ENTROPY, _kept_entropy
from narcissus.errors import StoreError
from narcissus.study import marks
from narcissus.study.store import FILE, MARK, TrialStore

posix = pytest.mark.skipif(os.name != "posix", reason="makes links and pipes")


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch):
    """Leave the pictures out of reports: to draw them takes longer than to play."""
    monkeypatch.setattr("narcissus.report.html.svg_of", lambda figure, prefix: "<svg></svg>")


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


def damage_heads(path):
    """Overwrite where two blocks meet."""
    data = bytearray(path.read_bytes())
    middle = data.find(MARK, len(data) // 2)
    data[middle - 1000 : middle + 8192] = np.random.default_rng(1).bytes(9192)
    path.write_bytes(bytes(data))


def damage_tail(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def damage_head(path):
    path.write_bytes(np.random.default_rng(1).bytes(100) + path.read_bytes()[100:])


def damage_all(path):
    path.write_bytes(b"no database at all\n" * 50)


def damage_length(path):
    """Have one block say that it goes on to the end of the file."""
    data = bytearray(path.read_bytes())
    middle = data.find(MARK, len(data) // 2)
    data[middle + 6 : middle + 14] = (len(data) - middle - 40).to_bytes(8, "little")
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "saved"),
    [(damage_middle, 11), (damage_heads, 10), (damage_length, 11), (damage_head, 11),
     (damage_all, 0)],
)  # fmt: skip
def test_a_damaged_store_keeps_what_is_intact(tmp_path, big_blobs, hears, damage, saved):
    path = filled(tmp_path, big_blobs)
    damage(path)
    with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
        kept = store.keys()
        assert len(kept) == saved
        for key in kept:
            np.testing.assert_array_equal(store.get(key)["x"], big_blobs[key]["x"])
        for key in set(big_blobs) - kept:
            store.put(key, big_blobs[key])
    assert len(hears.notes) == 1
    assert f"{saved} intact trials were kept" in hears.notes[0]
    assert (tmp_path / "trials.damaged-1.store").exists() == (saved == 0)
    with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
        for key, blob in big_blobs.items():
            np.testing.assert_array_equal(store.get(key)["x"], blob["x"])


def test_a_store_that_ends_anywhere_continues(tmp_path, big_blobs, hears):
    """A run may be killed at any byte: what was whole stays, and nothing is said of the rest."""
    whole = filled(tmp_path, dict(list(big_blobs.items())[:2])).read_bytes()
    starts = [at for at in range(len(whole)) if whole.startswith(MARK, at)]
    places = {*range(120), *starts, *(s + d for s in starts for d in (-1, 1, 3, 5, 13, 14, 29, 31))}
    for place in sorted(p for p in places if 0 <= p < len(whole)):
        (tmp_path / FILE).write_bytes(whole[:place])
        with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
            assert len(store.keys()) == max(0, sum(start <= place for start in starts[2:]))
            store.put("new", big_blobs["5/0"])
        with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
            np.testing.assert_array_equal(store.get("new")["x"], big_blobs["5/0"]["x"])
    assert hears.notes == []


def test_a_file_made_to_be_read_for_ever_is_not(tmp_path, big_blobs, hears):
    """Each of a million marks says that its block fills the rest."""
    path = filled(tmp_path, big_blobs)
    block = MARK + (1).to_bytes(2, "little") + (2**23).to_bytes(8, "little") + bytes(18)
    path.write_bytes(path.read_bytes() + block * 2**19)
    started = time.process_time()
    with TrialStore(tmp_path, {"a": 1}, observer=hears) as store:
        assert store.keys() == set(big_blobs)
    assert time.process_time() - started < 5
    assert "12 intact trials were kept" in hears.notes[0]


def test_a_store_is_for_its_user_alone(tmp_path, big_blobs):
    before = os.umask(0)
    try:
        path = filled(tmp_path, big_blobs)
    finally:
        os.umask(before)
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["-journal", "-wal", "-shm", ".model", ".repaired"])
def test_nothing_beside_the_store_is_touched(tmp_path, big_blobs, name):
    """A journal beside a database made SQLite delete whatever file the journal named."""
    victim, beside = tmp_path / "victim", tmp_path / "out" / f"{FILE}{name}"
    victim.write_text("precious")
    filled(tmp_path / "out", big_blobs)
    magic, record = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", os.fsencode(victim)
    beside.write_bytes(
        magic + bytes(504) + (2**31).to_bytes(4, "big") + record
        + len(record).to_bytes(4, "big") + sum(record).to_bytes(4, "big") + magic
    )  # fmt: skip
    forged = beside.read_bytes()
    for restart in (False, True):
        with TrialStore(tmp_path / "out", {"a": 1}, restart=restart) as store:
            assert len(store.keys()) == (0 if restart else 12)
    assert victim.read_text() == "precious"
    assert beside.read_bytes() == forged


@pytest.mark.parametrize("damage", [damage_middle, damage_tail, damage_head])
def test_a_damaged_store_ends_with_the_same_numbers(study, play, damage):
    path = study(run={"trials": 12})
    whole, _ = play(path, folder="out")
    damage(Path("out") / FILE)
    again, hears = play(path, folder="out")
    assert again.record.digest == whole.record.digest
    assert any("damaged" in note for note in hears.notes) == (damage is not damage_tail)


def test_a_file_without_trials_is_no_damage(tmp_path, hears):
    """A run that was killed before its first write."""
    (tmp_path / FILE).touch()
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


@pytest.mark.nightly
def test_two_commands_at_once(slow, play, command, digest):
    """One wins, the other says why it stops; the winner's numbers are right."""
    path = slow(8)
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
    assert digest() == digest(whole.record)
    if codes != [0, 0]:  # [0, 0]: one had ended before the other opened the store
        assert codes == [0, 2], ends
        (loser,) = [err for _, err, code in ends if code == 2]
        assert "in use by another run" in loser
        assert len(loser.strip().splitlines()) == 1
    assert not list(Path("out").glob("*damaged*"))


def test_more_trials_keep_the_finished_ones(study, narcissus, play, digest):
    path = study(run={"trials": 4})
    assert narcissus("audit", path, "--out", "out")[0] == 0
    path = study(run={"trials": 9}, threshold={"share": 0.99})
    code, _, err = narcissus("audit", path, "--out", "out")
    assert code == 0, err
    assert "4 of 9 trials were already played" in err
    assert digest() == digest(play(path)[0].record)
    # Fewer, too: the rest stays in the store.
    path = study(run={"trials": 4})
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    assert digest() == digest(play(path)[0].record)


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
def test_another_study_is_refused_in_the_same_folder(study, narcissus, play, digest, changes):
    assert narcissus("audit", study(), "--out", "out", "--quiet")[0] == 0
    before = digest()
    path = study(**changes)
    code, out, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert (code, out) == (2, "")
    assert "another study" in err
    assert "--restart" in err
    assert digest() == before
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0
    assert digest() == digest(play(path)[0].record)


def test_a_changed_table_is_another_study(study, narcissus):
    path = study()
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    with Path("people.csv").open("a") as file:
        file.write("m,1,cook,z,no,0\n")
    code, _, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert code == 2
    assert "different: table" in err


def test_a_study_without_a_seed_continues(study, narcissus, digest):
    path = study(run={"seed": None, "trials": 3})
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    first = digest()
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    assert digest() == first
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0
    assert digest() != first


def forge(payload):
    """Append a trial as a run would, whatever its payload is."""
    path = Path("out") / FILE
    head = path.read_bytes()
    size = int.from_bytes(head[6:14], "little")
    identity = json.loads(head[30 : 30 + size])
    with TrialStore("out", identity) as store:
        store._append(b"2/0", payload, store._secret)


def stored(key):
    head = (Path("out") / FILE).read_bytes()
    size = int.from_bytes(head[6:14], "little")
    with TrialStore("out", json.loads(head[30 : 30 + size])) as store:
        return store.get(key)


def bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("guess.npy", bytes(2**28 + 1))
    return buffer.getvalue()


JUNK = {
    "junk": lambda good: b"junk",
    "empty": lambda good: b"",
    "an empty archive": lambda good: pack({}),
    "other names": lambda good: pack({"x": np.zeros(3)}),
    "a missing array": lambda good: pack({k: v for k, v in good.items() if k != "guess"}),
    "another shape": lambda good: pack({**good, "guess": np.zeros((2, 2))}),
    "texts": lambda good: pack({**good, "prior/hits": np.array("a")}),
    "an array too many": lambda good: pack({**good, "extra/hits": np.zeros(2)}),
    "a bomb": lambda good: bomb(),
    "cut off": lambda good: pack(good)[:-30],
}


@pytest.mark.parametrize("made", JUNK.values(), ids=JUNK)
def test_a_payload_that_no_run_wrote_is_one_clear_error(study, narcissus, made):
    attacks = {"prior": {}, "posterior": {"trials": 3}, "ceiling": {}}
    path = study(attacks=attacks)
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    forge(made(stored("2/0")))
    code, out, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert "was not written by this study" in err
    assert "--restart" in err
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0


@pytest.fixture
def victim(study):
    path = study()
    Path("victim").write_text("precious")
    Path("out").mkdir()
    yield path
    assert Path("victim").read_text() == "precious"


@posix
@pytest.mark.parametrize(
    "name", [".writable", "record.json.sig", "report.html", "entropy.txt", "record.json"]
)
def test_links_are_not_written_through(victim, narcissus, name):
    Path("out", name).symlink_to("../victim")
    code, _, err = narcissus("audit", victim, "--out", "out", "--quiet")
    assert code == (0 if name == ".writable" else 2), err
    code, _, err = narcissus("audit", victim, "--out", "out", "--quiet", "--restart")
    assert code == 0, err


@posix
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("../victim", path),
             lambda path: os.link("victim", path)],
)  # fmt: skip
def test_a_store_that_is_no_file_is_refused(victim, narcissus, make):
    make(Path("out", FILE))
    for more in ([], ["--restart"]):
        code, _, err = narcissus("audit", victim, "--out", "out", "--quiet", *more)
        assert code == 2
        assert "is a link, a folder or a pipe" in err


@pytest.fixture
def mounted():
    """Give a function that mounts a file over another, as root may; each is unmounted at last."""
    places = []

    def mount(source, target):
        words = ["mount", "--bind", str(source), str(target)]
        if (
            shutil.which("mount") is None
            or subprocess.run(words, capture_output=True, check=False).returncode
        ):
            pytest.skip("nothing can be mounted here")
        places.append(str(target))

    yield mount
    for place in places:
        subprocess.run(["umount", place], check=True)


@posix
@pytest.mark.parametrize("name", [FILE, "entropy.txt", "record.json", "report.html"])
def test_what_is_mounted_in_the_folder_is_one_clear_line_and_stays(
    victim, narcissus, mounted, name
):
    """It could be emptied, and not replaced."""
    Path("out", name).touch(mode=0o600)
    mounted("victim", Path("out", name))
    for more in ([], ["--restart"]):
        code, out, err = narcissus("audit", victim, "--out", "out", "--quiet", *more)
        if name != "entropy.txt":  # which a study with a seed does not need
            assert (code, out) == (2, ""), err
            assert f"out/{name}" in err or "--restart" in err, err
        assert err.count("\n") == (code == 2), err
        assert Path("victim").read_text() == "precious"


@posix
@pytest.mark.parametrize("how", ["of another user", "open to others"])
def test_trials_that_another_user_can_write_are_refused(victim, narcissus, how):
    """They would read the trials, and change them between their check and the verdict."""
    assert narcissus("audit", victim, "--out", "out", "--quiet")[0] == 0
    if how == "of another user":
        if os.geteuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(Path("out", FILE), 65534, 65534)
    else:
        Path("out", FILE).chmod(0o666)
    for more in ([], ["--restart"]):
        code, _, err = narcissus("audit", victim, "--out", "out", "--quiet", *more)
        assert code == 2
        assert "belongs to another user, or others may write it" in err


@posix
@pytest.mark.parametrize("how", ["put there", "changed", "a link", "ours"])
def test_a_seed_that_somebody_else_chose_is_not_taken(tmp_path, how):
    path = tmp_path / ENTROPY
    kept = _kept_entropy(tmp_path, restart=False)
    if how == "put there":
        (tmp_path / marks.FILE).unlink()
    elif how == "changed":
        path.write_text("123\n")
    elif how == "a link":
        path.rename(tmp_path / "theirs")
        path.symlink_to("theirs")
    taken = _kept_entropy(tmp_path, restart=False)
    assert (taken == kept) == (how == "ours")
    assert taken != 123
    assert _kept_entropy(tmp_path, restart=False) == taken  # its own, from now on


def test_a_store_without_trials_is_for_whoever_comes(victim, study, narcissus):
    assert narcissus("audit", victim, "--out", "out", "--quiet")[0] == 0
    path = Path("out", FILE)
    path.write_bytes(path.read_bytes()[: path.read_bytes().find(MARK, 1)])
    Path("out/record.json").unlink()
    other = study("other.toml", threat={"targets": 10})
    assert narcissus("audit", other, "--out", "out", "--quiet")[0] == 0


@pytest.mark.nightly
def test_many_kills(study, command, digest):
    """Killed at random moments, and resumed each time: the record is that of one quiet run."""
    path = study(run={"trials": 30})
    begin = time.monotonic()
    subprocess.run(command(path, "--out", "quiet"), check=True, capture_output=True)
    took, chance = time.monotonic() - begin, random.Random(1)
    ended = 0
    for _ in range(int(os.environ.get("NARCISSUS_KILLS", "200"))):
        process = subprocess.Popen(
            command(path, "--out", "killed"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended += process.wait(chance.uniform(0.3, 1) * took) == 0
        process.kill()
        process.wait()
        if ended:  # done: kill it from the beginning again
            assert digest("killed") == digest("quiet")
            shutil.rmtree("killed")
            ended = 0
    subprocess.run(command(path, "--out", "killed"), check=True, capture_output=True)
    assert digest("killed") == digest("quiet")
