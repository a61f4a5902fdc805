"""Which page was read, from the sizes on the wire: real pages, served here and fetched over TCP.

A line in (a guide of the documentation, such as `games/exact`), a line out: how many pieces came,
and how many bytes. The pages are those of the folder `docs/guides`, compressed as servers do; the
reader's browser has half of the pages that are linked from it in its cache, at random, and fetches
the others. `--pad N` fills each answer up to a multiple of N bytes.
"""

import gzip
import http.server
import random
import re
import socket
import sys
import threading
from pathlib import Path

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
PAD = int(sys.argv[sys.argv.index("--pad") + 1]) if "--pad" in sys.argv else 1
LINK = re.compile(r"\]\(([\w./-]+)\.md")


class Server(http.server.BaseHTTPRequestHandler):
    """Gives the pages, compressed."""

    def do_GET(self):
        """Answer with a page."""
        body = gzip.compress(file_of(self.path[1:]).read_bytes())
        body += bytes(-len(body) % PAD)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)).rjust(9))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


def file_of(page):
    """Give the file of a page."""
    return GUIDES / f"{page}.md"


def linked_from(page):
    """Give the guides that a page links to, without those that are not there."""
    links = LINK.findall(file_of(page).read_text(encoding="utf-8"))
    files = {(file_of(page).parent / f"{link}.md").resolve() for link in links}
    inside = [file for file in files if file.is_file() and GUIDES in file.parents]
    return sorted(file.relative_to(GUIDES).with_suffix("").as_posix() for file in inside)


def fetch(page):
    """Give the sizes of the pieces in which an answer arrives."""
    sizes = []
    with socket.create_connection(server.server_address) as wire:
        wire.sendall(f"GET /{page} HTTP/1.0\r\n\r\n".encode())
        while piece := wire.recv(65536):
            sizes.append(len(piece))
    return sizes


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    page = line.strip()
    missing = [name for name in linked_from(page) if random.random() < 0.5]
    sizes = [size for name in [page, *missing] for size in fetch(name)]
    print(len(sizes), sum(sizes), sep=",", flush=True)
