"""Keyed digests: the same with the key, nothing to test guesses by without it."""

import hashlib
import hmac
import os
import stat
import sys

import pytest

from narcissus.audits import run
from narcissus.audits.play import play
from narcissus.errors import StoreError
from narcissus.observer import SILENT
from narcissus.study import load_study
from narcissus.study.keyed import (
    FILE,
    KEYED,
    WITHHELD,
    is_secret,
    kept_key,
    keyed,
    keyed_digests,
    new_key,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.record import portable_digest_of

KEY = bytes(range(32))


def study_of(tmp_path, bits):
    rows = "\n".join(f"{k},{bit}" for k, bit in enumerate(bits))
    (tmp_path / "people.csv").write_text(f"name,ill\n{rows}\n")
    (tmp_path / "s.toml").write_text(
        '[data]\npath = "people.csv"\n[threat]\nunknown = ["ill"]\ntargets = 4\n'
        "[mechanism]\nk = 1\nepsilon = 1.0\n[attacks.prior]\n[run]\ntrials = 2\nseed = 5\n"
        "workers = 1\n"
    )
    return load_study(tmp_path / "s.toml")


def test_a_keyed_digest_is_hmac_sha256_of_the_digest():
    made = hmac.new(KEY, b"sha256:ab", hashlib.sha256).hexdigest()
    assert keyed("sha256:ab", KEY) == f"{KEYED}{made}"
    assert keyed("sha256:ab", None) == WITHHELD
    assert keyed("sha256:ab", b"") == "sha256:ab"  # as in records of earlier versions


def test_settings_thresholds_and_source_keep_plain_digests():
    given = {"study": "s", "policy": "p", "module m": "m", "program x.py": "x", "object df": "o"}
    found = keyed_digests({**given, "data": "d"}, lambda digest: keyed(digest, KEY))
    assert [name for name, value in found.items() if is_secret(value)] == ["object df", "data"]
    assert found["study"] == "s"


def test_the_key_is_its_owners_alone_and_stays(tmp_path):
    assert kept_key(tmp_path) is None
    old = os.umask(0)
    try:
        key = new_key(tmp_path / "new")
    finally:
        os.umask(old)
    path = tmp_path / "new" / FILE
    assert len(key) == 32
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept_key(tmp_path / "new") == key


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes")
@pytest.mark.parametrize("how", ["readable", "link", "short", "no text", "folder"])
def test_what_others_may_know_is_no_key(tmp_path, how):
    path = tmp_path / FILE
    if how == "link":
        (tmp_path / "theirs").write_text("ab" * 32)
        path.symlink_to(tmp_path / "theirs")
    elif how == "folder":
        path.mkdir(mode=0o700)
    else:
        content = {"readable": b"ab" * 32, "short": b"ab" * 31, "no text": b"\xff" * 64}[how]
        path.write_bytes(content)
        path.chmod(0o644 if how == "readable" else 0o600)
    assert kept_key(tmp_path) is None
    if how == "folder":
        with pytest.raises(StoreError, match="cannot keep the key"):
            new_key(tmp_path)
        return
    made = new_key(tmp_path)
    assert made != bytes.fromhex("ab" * 32)
    assert kept_key(tmp_path) == made
    if how == "link":
        assert (tmp_path / "theirs").read_text() == "ab" * 32


def test_whoever_has_the_record_and_all_data_but_8_bits_cannot_test_guesses(tmp_path):
    """All candidates are tried, with the digest of the table; by the plain one it is found."""
    secret = [1, 0, 1, 1, 0, 1, 0, 0]
    study = study_of(tmp_path, secret)
    plain = play(study, RunOptions(5, SILENT, keyed=lambda digest: digest)).record
    shown = [run(study, folder=tmp_path / "a").record, run(study).record]
    found = {"plain": [], "shown": []}
    for guess in range(1, 2**8 - 1):
        bits = [guess >> k & 1 for k in range(8)]
        table = "sha256:" + _table(tmp_path, bits)
        if table in plain.to_json():
            found["plain"].append(bits)
        for record in shown:
            tries = [table, keyed(table, bytes(32)), keyed(table, b"narcissus"), table[7:]]
            if any(one in record.to_json() for one in tries):
                found["shown"].append(bits)
    assert found == {"plain": [secret], "shown": []}  # so the attack can succeed


def _table(tmp_path, bits):
    from narcissus.tables import read_table

    rows = "\n".join(f"{k},{bit}" for k, bit in enumerate(bits))
    (tmp_path / "guess.csv").write_text(f"name,ill\n{rows}\n")
    return read_table(str(tmp_path / "guess.csv")).digest.removeprefix("sha256:")


def test_the_key_is_reused_and_the_portable_digest_does_not_depend_on_it(tmp_path):
    study = study_of(tmp_path, [0, 1] * 10)
    first, again = (run(study, folder=tmp_path / "a").record for _ in range(2))
    other, nowhere = run(study, folder=tmp_path / "b").record, run(study).record
    assert first.provenance.digests["data"].startswith(KEYED)
    assert first == again
    assert other.provenance.digests["data"] != first.provenance.digests["data"]
    assert nowhere.provenance.digests["data"] == WITHHELD
    assert first.digest != other.digest
    assert first.portable_digest == other.portable_digest == nowhere.portable_digest
    assert first.portable_digest == portable_digest_of(first.to_dict())
