"""Which page was read, from the sizes on the wire: real pages, served here and fetched over TCP.

A line in (a page of the documentation, such as `limits`), a line out: how many pieces came, and how
many bytes. The pages are those of the folder `docs`, compressed as servers do; the reader's browser
has half of the pages that are linked from it in its cache, at random, and fetches the others.
`--pad N` fills each answer up to a multiple of N bytes.
"""

import gzip
import http.server
import random
import re
import socket
import sys
import threading
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAD = int(sys.argv[sys.argv.index("--pad") + 1]) if "--pad" in sys.argv else 1
LINK = re.compile(r"\]\((\w[\w-]*)\.md")


class Server(http.server.BaseHTTPRequestHandler):
    """Gives the pages, compressed."""

    def do_GET(self):
        """Answer with a page."""
        body = gzip.compress((DOCS / f"{self.path[1:]}.md").read_bytes())
        body += bytes(-len(body) % PAD)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)).rjust(9))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


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
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    linked = sorted({name for name in LINK.findall(text) if (DOCS / f"{name}.md").exists()})
    missing = [name for name in linked if random.random() < 0.5]
    sizes = [size for name in [page, *missing] for size in fetch(name)]
    print(len(sizes), sum(sizes), sep=",", flush=True)
