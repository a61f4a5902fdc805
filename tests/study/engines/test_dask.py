"""Trials on a Dask cluster: the same numbers, whatever dies, and nobody left behind."""

import logging
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.observer import SilentObserver
from narcissus.study.engines import Dask, Processes, dask
from narcissus.study.engines.dask import OwnCluster
from narcissus.study.pool import play_all, play_in_order
from narcissus.study.store import TrialStore

KEYS = [str(n) for n in range(5)]


class Killer(SilentObserver):
    """Ends a process after so many trials."""

    def __init__(self, after, end):
        self.after, self.end, self.done, self.notes = after, end, 0, []

    def advance(self, steps=1):
        self.done += steps
        if self.done == self.after:
            self.end()

    def note(self, message):
        self.notes.append(message)


@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.nightly)])
def test_who_plays_does_not_change_a_digit(own, study, kin, processes):
    """One process, several, and a cluster of three workers, one of them killed in the middle."""
    import narcissus

    made = narcissus.load_study(study(run={"trials": 30}, mechanism={"epsilon": [1, "=inf"]}))
    one = narcissus.run(made, engine="serial")
    with closing(Processes(processes)) as several:
        four = narcissus.run(made, engine=several)
    killer = Killer(10, lambda: os.kill(kin.children(os.getpid())[0], signal.SIGKILL))
    three = narcissus.run(made, engine=own, observer=killer)
    assert any("killed by signal 9" in note for note in killer.notes)
    assert one.record.digest == four.record.digest == three.record.digest
    assert one.record.to_json() == three.record.to_json()


def squared(key):
    return {"square": np.array(int(key) ** 2)}


def test_the_store_stays_here_and_what_is_looked_at_is_in_order(own, tmp_path):
    with TrialStore(tmp_path, {"a": 1}) as store:
        store.put("1", {"square": np.array(-1)})
        with closing(play_in_order(squared, KEYS, store=store, executor=own)) as looking:
            assert [int(next(looking)["square"]) for _ in range(3)] == [0, -1, 4]
        found = play_all(squared, KEYS, store=store, executor=own, what="")
    assert [int(made["square"]) for made in found.values()] == [0, -1, 4, 9, 16]


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ("raise MemoryError", NarcissusError, r"memory ran out in trial 2 \(MemoryError\)"),
        ("raise SystemExit(0)", NarcissusError, r"sys.exit\(0\) was called in trial 2"),
        ("raise OSError(5, 'so')", OSError, "so"),
        ("import os; os._exit(7)", NarcissusError,
         r"ended 3 times during trial (\d or )*2( or \d)* \(it ended with exit code 7\); finished"),
    ],
)  # fmt: skip
@pytest.mark.one_in(2)
def test_a_trial_that_ends_badly_ends_the_run_with_the_reason(own, dies, how, error, says):
    with pytest.raises(error, match=says):
        dict(own.play(dies(how), KEYS))


@pytest.mark.nightly
def test_deaths_that_nobody_has_looked_at_yet_are_the_ones_named(own, dies, monkeypatch):
    """Dask tells of all three before we look: none may be mistaken for an older one."""
    own._connected(SilentObserver())
    cluster = own._own
    mend = type(cluster).mend
    monkeypatch.setattr(cluster, "_reasons", ["long ago"])
    monkeypatch.setattr(
        type(cluster),
        "mend",
        lambda self, to: all(w.poll() is not None for w in self._workers) and mend(self, to),
    )
    monkeypatch.setattr(dask._Flight, "_look", lambda self, observer: None)
    with pytest.raises(NarcissusError, match=r"\(it ended with exit code 7\); finished"):
        dict(own.play(dies("import os; os._exit(7)"), KEYS))


def test_a_large_study_goes_to_the_workers_and_not_with_each_trial(own, monkeypatch):
    sent = []
    submit = type(own._connected(SilentObserver())).submit
    monkeypatch.setattr(
        "distributed.Client.submit",
        lambda self, call, *a, **k: sent.append(call.__name__) or submit(self, call, *a, **k),
    )
    ballast = bytes(20_000_000)

    def play(key):
        return len(ballast) + int(key)

    assert dict(own.play(play, KEYS)) == {key: 20_000_000 + int(key) for key in KEYS}
    assert sent == ["Carried", *["play_key"] * 5]


@pytest.mark.nightly
def test_a_lost_scheduler_leaves_a_run_that_continues(cluster, slow, hears, digest):
    import narcissus

    cluster.work()
    made = narcissus.load_study(slow(12), allow_code=True)
    killer = Killer(5, lambda: os.killpg(cluster.scheduler.pid, signal.SIGKILL))
    with closing(Dask(cluster.address)) as engine:
        assert not engine.is_here
        with pytest.raises(NarcissusError, match=r"is lost: finished trials .*same command cont"):
            narcissus.run(made, folder="out", engine=engine, observer=killer)
    again = narcissus.run(made, folder="out", engine="serial", observer=hears)
    [note] = [note for note in hears.notes if note.startswith("continuing")]
    assert 5 <= int(note.split()[1]) < 12
    alone = narcissus.run(made, engine="serial")
    assert digest(again.record) == digest(alone.record)


def test_workers_that_come_later_play_and_others_than_us_do_not(cluster, monkeypatch):
    killer = Killer(0, None)
    killer.note = lambda text: cluster.work() if "has no workers" in text else None
    with closing(Dask(cluster.address)) as engine:
        assert dict(engine.play(int, KEYS, killer)) == {key: int(key) for key in KEYS}
        assert engine.workers == 1
        monkeypatch.setattr(dask, "versions", lambda: {"numpy": "0.1"})
        with pytest.raises(NarcissusError, match=f"has numpy {np.__version__} instead of 0.1"):
            dict(engine.play(int, KEYS))


def test_no_scheduler_is_an_error_at_once(monkeypatch):
    monkeypatch.setattr(dask, "CONNECT", "0.2s")
    with (
        closing(Dask("tcp://127.0.0.1:9")) as engine,
        pytest.raises(InputError, match=r"no scheduler of Dask's answers at tcp://127\.0\.0\.1:9"),
    ):
        dict(engine.play(int, KEYS))


def test_a_cluster_has_workers_of_its_own():
    with pytest.raises(InputError, match="has its own workers"):
        Dask("tcp://127.0.0.1:9", workers=2)


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGKILL, marks=pytest.mark.nightly), signal.SIGINT]
)
def test_nobody_is_left_when_the_command_is_ended(how, slow, command, kin, place):
    """kill -9 and Ctrl-C in the middle."""
    line = command(slow(40), "--engine", "dask", "--workers", 1, "--out", "out")
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 60
    while not (Path("played").exists() and Path("played").stat().st_size > 4):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    workers = kin.children(process.pid)
    assert workers
    begin = time.monotonic()
    os.killpg(process.pid, how)
    _, err = process.communicate(timeout=60)
    assert kin.all_gone(workers)
    if how == signal.SIGINT:
        assert time.monotonic() - begin < 10
        assert process.returncode == 130
        assert "continue with: narcissus audit" in err
        assert "--engine dask" in err
        assert "Traceback" not in err
        assert "distributed" not in err
        assert list(place.iterdir()) == []


def test_whatever_fails_at_the_end_the_rest_is_ended(kin):
    """A client that an interruption has left half done may fail in its own way."""
    engine, level = Dask(workers=1), logging.getLogger("distributed").level
    dict(engine.play(int, KEYS[:2]))
    folder, client = engine._own._folder, engine._client
    workers = [worker.pid for worker in engine._own._workers]
    ends = client.close

    def fails(**_):
        ends(timeout=1)
        raise RuntimeError("no loop")

    client.close = fails
    with pytest.raises(RuntimeError, match="no loop"):
        engine.close()
    del client.close
    assert workers
    assert kin.all_gone(workers)
    assert not folder.exists()
    assert logging.getLogger("distributed").level == level


def listening(pid):
    """Give the addresses at which a process listens."""
    found = subprocess.run(["ss", "-ltnp"], check=False, capture_output=True, text=True).stdout
    return [line.split()[3] for line in found.splitlines() if re.search(rf"pid={pid}\b", line)]


def hello(address, security):
    """Give the first bytes that a scheduler says to whoever shows such a certificate, or none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if security is not None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("cert", "key"):
                Path(folder, name).write_text(getattr(security, f"tls_client_{name}"))
            context.load_cert_chain(Path(folder, "cert"), Path(folder, "key"))
    host, _, port = address.removeprefix("tls://").rpartition(":")
    try:
        with (
            socket.create_connection((host, int(port)), timeout=5) as plain,
            context.wrap_socket(plain) as wrapped,
        ):
            return wrapped.recv(100)
    except (ssl.SSLError, ConnectionError):
        return b""


def test_nobody_else_talks_to_it_and_nothing_is_left(place, kin, hears):
    """Who has no certificate of the run is turned away, and a worker that ends is replaced."""
    from distributed import Security

    others = set(kin.children(os.getpid()))

    def own():
        return [child for child in kin.children(os.getpid()) if child not in others]

    cluster = OwnCluster(1)
    try:
        address = cluster.cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        assert hello(address, None) == b""
        assert hello(address, Security.temporary()) == b""
        assert hello(address, cluster.cluster.security) != b""
        [first] = own()
        assert all(where.startswith("127.0.0.1:") for where in listening(os.getpid()))
        told = b"".join(Path(f"/proc/{first}/{n}").read_bytes() for n in ("cmdline", "environ"))
        assert b"PRIVATE KEY" not in told
        os.kill(first, signal.SIGKILL)
        until = time.monotonic() + 20
        # between its end and the next one's start there may be none
        while own() in ([first], []) and time.monotonic() < until:
            time.sleep(0.01)
            cluster.mend(hears)
        [second] = own()
        assert second != first
        assert "killed by signal 9" in hears.notes[0]
    finally:
        cluster.close()
    assert kin.all_gone([second])
    assert list(place.iterdir()) == []


@pytest.mark.nightly
def test_workers_that_end_in_vain_end_the_run(monkeypatch, hears, place):
    """They cannot even start: nobody waits for them for ever."""

    def broken(module, *, prints):
        return subprocess.Popen(["false"], stdin=subprocess.PIPE)

    monkeypatch.setattr(dask, "start", broken)
    cluster = OwnCluster(1)
    try:
        with pytest.raises(NarcissusError, match=r"ended with exit code 1\); finished trials are"):
            any(cluster.mend(hears) for _ in iter(time.monotonic, 0))
    finally:
        cluster.close()
    assert len(hears.notes) == 4
