"""The server ends when it is told to, whoever waits for an answer."""

import re
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGTERM, 143, "ended by SIGTERM; "), (signal.SIGINT, 130, "interrupted; ")],
)
def test_it_ends_without_a_traceback_while_a_request_waits(tmp_path, number, code, said):
    words = [sys.executable, "-m", "narcissus", "app", str(tmp_path / "opened"), "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **pipes) as child:
        try:
            address = urlsplit(child.stdout.readline().split()[1])
            place = (address.hostname, address.port)
            host = f"HTTP/1.1\r\nHost: {address.netloc}\r\nOrigin: http://{address.netloc}\r\n"
            with socket.create_connection(place) as first, socket.create_connection(place) as other:
                first.sendall(f"GET /?{address.query} {host}\r\n".encode())
                answer = first.recv(2**16).decode()
                cookie, root = re.search(r"set-cookie: ([^;]+);.* Path=(\S+)/;", answer).groups()
                other.sendall(
                    f"PUT {root}/upload/a.csv {host}Cookie: {cookie}\r\nContent-Length: 9\r\n"
                    "Expect: 100-continue\r\n\r\na,".encode()
                )
                assert other.recv(2**16).startswith(b"HTTP/1.1 100")  # it waits for the rest
                child.send_signal(number)
                out, err = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == code
    assert "Traceback" not in out
    assert re.fullmatch(rf"{said}[^\n]*\n", err), err
