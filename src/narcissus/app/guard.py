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
from starlette.exceptions import HTTPException
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
OF_REPORTS = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
)
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
    # Browsers send a cookie to every port of a host. Below a path that nobody else knows, what
    # another user serves at another port never gets it.
    place: str = field(default_factory=_token)

    @property
    def cookie_name(self) -> str:
        return f"narcissus-{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def root(self) -> str:
        """What the path of each page begins with."""
        return f"/{self.place}"

    def url(self) -> str:
        return f"http://{self.host}/?key={self.address}"


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
        if (answer := self._answer(request)) is not None:
            await answer(scope, receive, with_headers)
            return
        scope = {**scope, "path": scope["path"].removeprefix(self._keys.root)}
        upload = request.method == "PUT" and scope["path"].startswith(UPLOADS)
        limited = receive if upload else _bounded(receive)
        await self._app(scope, limited, with_headers)

    def _answer(self, request: Request) -> Response | None:
        """Refuse a request, or welcome the first one; None lets it pass."""
        headers, keys = request.headers, self._keys
        hosts = headers.getlist("host")
        if hosts != [keys.host]:
            return _refused(421, "This page answers at its own address only.")
        path = request.scope["path"]
        is_first = request.method == "GET" and path == "/"
        origin = headers.getlist("origin")
        is_from_here = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        if origin != [f"http://{keys.host}"] and (origin or request.method not in ("GET", "HEAD")):
            is_from_here = False
        if not (is_first or is_from_here):
            return _refused(403, "This request comes from another page, and was refused.")
        if is_first:
            tokens = parse_qs(request.url.query).get("key", [""])
            return self._welcome() if same(tokens[-1], keys.address) else _closed()
        cookie = request.cookies.get(keys.cookie_name, "")
        is_below = same(path[: len(keys.root) + 1], f"{keys.root}/")
        return None if same(cookie, keys.cookie) and is_below else _closed()

    def _welcome(self) -> Response:
        """Move the key into a cookie.

        The browser goes on from this page, and not by a redirect: after a click elsewhere it would
        not send the cookie along.
        """
        begin = self._keys.root + self._begin
        page = HTMLResponse(
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Narcissus</title>'
            f'<meta http-equiv="refresh" content="0;url={begin}">'
            f'<p><a href="{begin}">Open the page</a></p></html>'
        )
        page.set_cookie(
            self._keys.cookie_name,
            self._keys.cookie,
            path=f"{self._keys.root}/",
            httponly=True,
            samesite="strict",
        )
        return page


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(why + "\n", status, {"connection": "close"})


def _closed() -> Response:
    return _refused(403, "Open this page by the address that `narcissus app` printed last.")


def _bounded(receive: Receive) -> Receive:
    left = LARGEST_FORM

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, "The request is too large.")
        return message

    return limited
