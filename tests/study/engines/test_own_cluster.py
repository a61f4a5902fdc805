"""A cluster on this machine: nobody else may use it, and it ends with who started it."""

import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from narcissus.errors import NarcissusError
from narcissus.study.engines import own_cluster
from narcissus.study.engines.own_cluster import OwnCluster


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

    cluster = OwnCluster(1)
    try:
        address = cluster.cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        assert hello(address, None) == b""
        assert hello(address, Security.temporary()) == b""
        assert hello(address, cluster.cluster.security) != b""
        [first] = kin.children(os.getpid())
        assert all(where.startswith("127.0.0.1:") for where in listening(os.getpid()))
        told = b"".join(Path(f"/proc/{first}/{n}").read_bytes() for n in ("cmdline", "environ"))
        assert b"PRIVATE KEY" not in told
        os.kill(first, signal.SIGKILL)
        until = time.monotonic() + 20
        # between its end and the next one's start there may be none
        while kin.children(os.getpid()) in ([first], []) and time.monotonic() < until:
            time.sleep(0.01)
            cluster.mend(hears)
        [second] = kin.children(os.getpid())
        assert second != first
        assert "killed by signal 9" in hears.notes[0]
    finally:
        cluster.close()
    assert kin.all_gone([second])
    assert list(place.iterdir()) == []


def test_workers_that_end_in_vain_end_the_run(monkeypatch, hears, place):
    """They cannot even start: nobody waits for them for ever."""

    def broken(module, *, prints):
        return subprocess.Popen(["false"], stdin=subprocess.PIPE)

    monkeypatch.setattr(own_cluster, "start", broken)
    cluster = OwnCluster(1)
    try:
        with pytest.raises(NarcissusError, match=r"ended with exit code 1\); finished trials are"):
            any(cluster.mend(hears) for _ in iter(time.monotonic, 0))
    finally:
        cluster.close()
    assert len(hears.notes) == 4
