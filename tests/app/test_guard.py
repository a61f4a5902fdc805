"""The page is closed to others: each way in is tried with a forged request."""

import asyncio
import hmac
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from narcissus.app import guard, server
from narcissus.app.guard import LARGEST_FORM, OF_REPORTS, Keys

NARCISSUS = (sys.executable, "-m", "narcissus")


def test_the_first_request_moves_the_key_into_a_cookie_for_the_pages_alone(visitor):
    browser = visitor.browser()
    answer = browser.get("/", params={"key": visitor.keys.address})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert f"Path={visitor.keys.root}/;" in cookie  # no other port of this machine gets it
    assert visitor.keys.address not in answer.text + cookie
    assert f'url={visitor.keys.root}/"' in answer.text
    page = browser.get(visitor.keys.root + "/")
    assert page.status_code == 200
    assert visitor.keys.address not in page.text
    assert visitor.keys.cookie not in page.text
    assert browser.get("/").status_code == 403  # the address alone no more


@pytest.mark.parametrize("key", ["", "x", "0" * 43, "é", "\udcff"])
def test_no_other_key_opens(visitor, key):
    browser = visitor.browser()
    asked = "/?key=" + urllib.request.quote(key, errors="surrogateescape")
    answer = browser.get(asked)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert "folder" not in answer.text
    browser.cookies.set(visitor.keys.cookie_name, key.encode("ascii", "replace").decode())
    assert browser.get(visitor.keys.root + "/").status_code == 403


def test_the_place_alone_and_the_cookie_alone_open_nothing(visitor):
    assert visitor.browser().get(visitor.keys.root + "/").status_code == 403
    cookie = {"cookie": f"{visitor.keys.cookie_name}={visitor.keys.cookie}"}
    for path in ("/", "/study/people/table", "/static/app.js", visitor.keys.root, "//"):
        assert visitor.browser(**cookie).get(path).status_code == 403, path
    assert visitor.browser(**cookie).get(visitor.keys.root + "/").status_code == 200


def test_keys_are_compared_in_constant_time(visitor, monkeypatch):
    seen = []
    compare = hmac.compare_digest
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda a, b: seen.append(b) or compare(a, b))
    visitor.get("/")
    visitor.client.get("/?key=x")
    assert {visitor.keys.cookie.encode(), visitor.keys.address.encode()} <= set(seen)
    ours = Keys(1)
    assert len({ours.address, ours.cookie, ours.place, Keys(1).address}) == 4


HOSTS = ["evil.example:8000", "localhost:8000", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8000.x", ""]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(visitor, host):
    """So that a name that begins to lead here (DNS rebinding) opens nothing."""
    answer = visitor.client.get(visitor.keys.root + "/", headers={"host": host})
    assert answer.status_code == 421


ORIGINS = ["http://evil.example", "null", "http://127.0.0.1:8001", "https://127.0.0.1:8000", None]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("path", ["/new", "/study/people/start", "/study/people/text"])
def test_a_form_of_another_page_is_refused(people, origin, path):
    before = people.text()
    people.client.headers.pop("origin")
    headers = {} if origin is None else {"origin": origin}
    answer = people.client.post(
        people.keys.root + path, data={"table": "people.csv", "text": "x", "base": people.base},
        headers=headers,
    )  # fmt: skip
    assert answer.status_code == 403
    assert people.text() == before
    assert not (people.root / "results").exists()


def test_an_upload_and_a_picture_of_another_page_are_refused(visitor):
    root, other = visitor.keys.root, {"origin": "http://evil.example"}
    answer = visitor.client.put(f"{root}/upload/a.csv", content=b"x", headers=other)
    assert answer.status_code == 403
    assert not (visitor.root / "uploads").exists()
    for site in ("cross-site", "same-site"):  # another port of this machine is the same site
        asked = visitor.client.get(f"{root}/", headers={"sec-fetch-site": site})
        assert asked.status_code == 403
    assert visitor.client.get(f"{root}/", headers=other).status_code == 403


def test_every_answer_has_the_headers(people):
    root = people.keys.root
    answers = [
        people.get("/"), people.get("/study/people/table"), people.get("/nowhere"),
        people.get("/study/none/table"), people.get("/static/app.js"),
        people.client.get("/"), people.client.get(root + "/", headers={"host": "x"}),
        people.client.request("DELETE", root + "/"), people.get("/study/people/file"),
        people.client.get("/", params={"key": people.keys.address}),
    ]  # fmt: skip
    for answer in answers:
        for name, value in guard.HEADERS.items():
            assert answer.headers[name] == value, answer.url
    policy = guard.HEADERS["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "*" not in policy


def test_pages_ask_nobody_and_run_no_script_of_their_own(people):
    for path in ("/", *(f"/study/people/{step}" for step in ("table", "release", "run"))):
        html = people.get(path).text
        assert not re.search(r"<script(?! src)|\son\w+=|style=|https?:|//", html), path
        assert re.findall(r"<script[^>]*>", html) == [
            f'<script src="{people.keys.root}/static/app.js" defer>'
        ]


@pytest.mark.parametrize("declared", [True, False])
def test_a_form_is_bounded(people, declared):
    size = LARGEST_FORM + 1
    pieces = (b"a" * 2**16 for _ in range(size // 2**16 + 1))
    answer = people.client.post(
        people.keys.root + "/study/people/text", content=b"a" * size if declared else pieces,
        headers={"content-type": "application/x-www-form-urlencoded"},
    )  # fmt: skip
    assert answer.status_code == 413


def test_what_is_no_form_is_refused(people):
    for body, kind, status in [
        (b"{}", "application/json", 415), (b"x", "text/plain", 415),
        (b"text=\xff", "application/x-www-form-urlencoded", 400),
        (b"text=%ff", "application/x-www-form-urlencoded", 400),
        (b"a&" * 30_000, "application/x-www-form-urlencoded", 400),
    ]:  # fmt: skip
        answer = people.client.post(
            people.keys.root + "/study/people/text", content=body, headers={"content-type": kind}
        )
        assert answer.status_code == status, body[:20]


def test_no_socket_is_opened_on_the_page(visitor):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect):
        visitor.client.websocket_connect(visitor.keys.root + "/").__enter__()


def test_a_report_has_a_policy_of_its_own_and_no_origin(people):
    place = people.root / "results" / "people" / "one"
    place.mkdir(parents=True)
    (place / "report.html").write_text("<script>alert(1)</script>")
    answer = people.get("/report/people/one")
    assert answer.headers["content-security-policy"] == OF_REPORTS
    assert OF_REPORTS.startswith("sandbox; default-src 'none'")
    assert "script" not in OF_REPORTS


@pytest.fixture
def served(tmp_path):
    """A server as a user starts it; give its address and its folder."""
    started = []

    def start(*words):
        child = subprocess.Popen(
            [*NARCISSUS, "app", str(tmp_path / "mine"), "--no-browser", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(child)
        line = child.stdout.readline()
        assert line.startswith("Open http://127.0.0.1:"), line + child.stderr.read()
        return line.split()[1], child

    yield start
    for child in started:
        child.terminate()
        child.communicate()


def test_it_is_bound_to_this_machine_and_ends_by_ctrl_c(served, tmp_path):
    address, child = served()
    port = int(re.search(r":(\d+)/", address)[1])
    assert server.HOST == "127.0.0.1"
    listening = {
        bytes.fromhex(line.split()[1].split(":")[0])[::-1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if int(line.split()[1].split(":")[1], 16) == port and line.split()[3] == "0A"
    }
    assert listening == {socket.inet_aton("127.0.0.1")}
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
        assert "server" not in answer.headers
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.split("?")[0])
    assert address.split("=")[1] not in Path(f"/proc/{child.pid}/cmdline").read_text()
    child.send_signal(2)
    _, err = child.communicate(timeout=10)
    assert child.returncode == 130
    assert "goes on" in err
    assert "Traceback" not in err


@pytest.mark.nightly
def test_connections_of_others_that_ask_for_nothing_are_closed(served):
    """Another user of the machine reaches the port, and could hold all connections there may be."""
    address, _ = served()
    place = ("127.0.0.1", int(re.search(r":(\d+)/", address)[1]))
    silent, halting = (socket.create_connection(place) for _ in range(2))
    halting.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
    refused = socket.create_connection(place)
    refused.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    for one in (refused, silent, halting):
        one.settimeout(server.PATIENCE + 20)
        while one.recv(4096):
            pass
        one.close()
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200


def test_a_port_that_is_taken_is_told(served, tmp_path):
    address, _ = served()
    port = re.search(r":(\d+)/", address)[1]
    done = subprocess.run(
        [*NARCISSUS, "app", str(tmp_path / "mine"), "--port", port, "--no-browser"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "choose another with --port" in done.stderr


def test_the_browser_gets_the_key_by_a_private_file(tmp_path, monkeypatch):
    """All users of a machine see the words of a command, so that none may hold the key."""
    opened = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    keys = Keys(8000)
    server._open(tmp_path / "open.html", keys)
    assert keys.address not in opened[0]
    assert opened[0].startswith("file://")
    assert (tmp_path / "open.html").stat().st_mode & 0o777 == 0o600
    assert keys.url() in (tmp_path / "open.html").read_text()


def test_a_folder_of_others_is_not_opened(tmp_path, narcissus):
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)
    code, _, err = narcissus("app", place, "--no-browser")
    assert code == 2
    assert "open to others" in err
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "none" / "deeper", tmp_path / "file", "x" * 300):
        code, _, err = narcissus("app", wrong, "--no-browser")
        assert code == 2
        assert "cannot open" in err


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/new", "application/x-www-form-urlencoded"),
        ("POST", "/study/people/table", "application/x-www-form-urlencoded"),
        ("PUT", "/upload/x.csv", "text/csv"),
    ],
)
def test_who_leaves_in_the_middle_of_a_request_leaves_no_error(visitor, method, path, kind):
    """What a browser that was closed sends; an error here is a traceback on the terminal."""
    sent, messages = [], [{"type": "http.request", "body": b"a=", "more_body": True}]
    origin = f"http://{visitor.keys.host}".encode()
    cookie = f"{visitor.keys.cookie_name}={visitor.keys.cookie}".encode()
    scope = {
        "type": "http", "method": method, "path": visitor.keys.root + path, "query_string": b"",
        "raw_path": b"", "root_path": "", "scheme": "http", "http_version": "1.1",
        "headers": [
            (b"host", visitor.keys.host.encode()), (b"origin", origin), (b"cookie", cookie),
            (b"content-type", kind.encode()), (b"content-length", b"1000"),
        ],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
    }  # fmt: skip

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(visitor.guarded(scope, receive, send))
    assert sent[0]["status"] == 400
    assert not list(visitor.root.glob("*x.csv*"))
