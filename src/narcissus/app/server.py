"""The server of the page: on this machine alone, for whoever started it."""

from __future__ import annotations

import asyncio
import logging
import socket
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn
import uvicorn.protocols.http.h11_impl

from narcissus._files import require_own_folder, write_atomically
from narcissus.app.guard import Guard, Keys
from narcissus.app.pages import Pages
from narcissus.errors import InputError

HOST = "127.0.0.1"
PATIENCE = 10.0  # seconds in which a connection must have asked for something


class Impatient(uvicorn.protocols.http.h11_impl.H11Protocol):
    """Closes a connection that asks for nothing: others could hold all that there may be."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, lambda: self.cycle or transport.close())


class Server(uvicorn.Server):
    """Ends without a word on the requests that still wait: to cancel them is no error."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def opened(folder: Path) -> Path:
    """Return the folder, made if it is not there; InputError where it is no folder of one's own."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        root = folder.resolve(strict=True)
    except OSError as error:
        raise InputError(f"cannot open {folder}: {error.strerror or error}") from error
    require_own_folder(root / "study.toml")
    return root


def serve(
    folder: Path,
    *,
    port: int = 0,
    demo: bool = False,
    show: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page of a folder until it is interrupted.

    folder: What may be read and written; made if it is not there.
    port: Of this machine; 0 takes a free one.
    demo: Whether it opens with the example table.
    show: Whether a browser is opened.
    say: Hears the address.

    InputError: The folder, or the port, cannot be used.
    """
    root = opened(folder)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen(128)  # who comes before the server is ready waits
        except OSError as error:
            why = error.strerror or error
            raise InputError(
                f"cannot use port {port}: {why}; choose another with --port"
            ) from error
        keys = Keys(listener.getsockname()[1])
        pages = Pages(root, keys.root)
        begin = f"/study/{pages.example()}/table" if demo else "/"
        config = uvicorn.Config(
            Guard(pages.app(), keys, begin),
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            limit_concurrency=100,
            http=Impatient,
            ws="none",
            lifespan="off",
            proxy_headers=False,
        )
        say(f"Open {keys.url()}")
        say("The page is for you alone: anybody with this address can use it. Ctrl-C ends it.")
        with tempfile.TemporaryDirectory() as place:
            if show:
                _open(Path(place) / "open.html", keys)
            asyncio.run(Server(config).serve([listener]))


def _open(path: Path, keys: Keys) -> None:
    """Open a browser by a file that only this user can read: all see the words of a command."""
    page = '<!DOCTYPE html><meta charset="utf-8"><title>Narcissus</title>'
    page += f'<meta http-equiv="refresh" content="0;url={keys.url()}">'
    write_atomically(path, page, private=True)
    webbrowser.open(path.as_uri())
