"""Who may speak to the page: whoever has its key, on this machine, from the page itself.

Other users of the machine reach the port and have no key. Other pages in the same browser have no
key either, and give themselves away by Host (DNS rebinding) and by Origin (forged requests).
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_FORM = 2**21
"""Bytes of a request, except of an upload."""
UPLOADS = "/upload/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OF_REPORTS = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
"""The policy of reports, which carry their style and no script, and get no origin."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with "no-referrer" forms would have the origin "null"
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def _token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Keys:
    """What this server asks for: the key in its address once, then the cookie that it sets."""

    port: int
    address: str = field(default_factory=_token)
    cookie: str = field(default_factory=_token)

    @property
    def cookie_name(self) -> str:  # browsers keep one jar for all ports of a host
        return f"narcissus-{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/?key={self.address}"


def same(one: str, other: str) -> bool:
    """Compare in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())


class Guard:
    """Answers what may not pass itself, and adds the headers that every answer has."""

    def __init__(self, app: ASGIApp, keys: Keys, begin: str = "/") -> None:
        self._app, self._keys, self._begin = app, keys, begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope)
        answer = self._answer(request) or _too_large(request)
        if answer is not None:
            await answer(scope, receive, with_headers)
            return
        upload = request.method == "PUT" and request.url.path.startswith(UPLOADS)
        limited = receive if upload else _bounded(receive)
        try:
            await self._app(scope, limited, with_headers)
        except _TooMuchError:
            await _refused(413, "The request is too large.")(scope, receive, with_headers)

    def _answer(self, request: Request) -> Response | None:
        """Refuse a request, or welcome the first one; None lets it pass."""
        headers, keys = request.headers, self._keys
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in keys.hosts:
            return _refused(421, "This page answers at its own address only.")
        if request.method not in ("GET", "HEAD") and headers.getlist("origin") != [
            f"http://{hosts[0]}"
        ]:
            return _refused(403, "This request comes from another page, and was refused.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            if request.method != "GET" or request.url.path != "/":
                return _refused(403, "This request comes from another page, and was refused.")
        given = parse_qs(request.url.query).get("key", [])
        if request.method == "GET" and request.url.path == "/" and given:
            return self._welcome() if len(given) == 1 and same(given[0], keys.address) else _closed()
        cookie = request.cookies.get(keys.cookie_name, "")
        return None if same(cookie, keys.cookie) else _closed()

    def _welcome(self) -> Response:
        """Move the key into a cookie.

        The browser goes on from this page, and not by a redirect: after a click elsewhere it would
        not send the cookie along.
        """
        page = HTMLResponse(
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Narcissus</title>'
            f'<meta http-equiv="refresh" content="0;url={self._begin}">'
            f'<p><a href="{self._begin}">Open the page</a></p></html>'
        )
        page.set_cookie(self._keys.cookie_name, self._keys.cookie, httponly=True, samesite="strict")
        return page


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(why + "\n", status)


def _closed() -> Response:
    return _refused(403, "Open this page by the address that `narcissus app` printed last.")


def _too_large(request: Request) -> Response | None:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal():
        return _refused(400, "The length of the request is no number.")
    is_upload = request.method == "PUT" and request.url.path.startswith(UPLOADS)
    if is_upload or int(length) <= LARGEST_FORM:
        return None
    return _refused(413, "The request is too large.")


class _TooMuchError(Exception):
    """A request without a length turned out to be too large."""


def _bounded(receive: Receive) -> Receive:
    left = LARGEST_FORM

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise _TooMuchError
        return message

    return limited
