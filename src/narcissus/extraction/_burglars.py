"""Programs that try to break out of the sandbox, and how each must end."""

from __future__ import annotations

from dataclasses import dataclass

_REFUSED = b"refused"


@dataclass(frozen=True)
class Burglar:
    """An escape attempt: its source, its limits, and the only ending that counts as stopped."""

    name: str
    source: str
    stopped: str
    expected: str = "finished"
    says: bytes = _REFUSED
    seconds: float = 20.0
    memory: int = 2**30
    output: int = 2**16
    disk: int = 2**20
    or_ended: bool = False  # whether it may be ended instead, before it says anything


def _attempt(code: str, errors: str = "OSError") -> str:
    body = "\n".join("    " + line for line in code.splitlines())
    return f"try:\n{body}\n    print('broken')\nexcept {errors}:\n    print('refused')\n"


BURGLARS = (
    Burglar(
        "reads its release",  # walls that let nothing in are no use either
        "import sys\nprint(open(sys.argv[1]).read(), end='')\n",
        "it can",
        says=b"the release",
    ),
    Burglar(
        "uses its temporary folder",  # real programs need one
        "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as file:\n"
        "    print('mine', file=file, flush=True)\n    print(open(file.name).read(), end='')\n",
        "it can",
        says=b"mine",
    ),
    Burglar("fork bomb", _attempt("import os\nwhile True:\n    os.fork()"), "no child process"),
    Burglar(
        "starts another program",
        _attempt("import os\nos.execv('/bin/sh', ['sh', '-c', 'echo broken'])"),
        "refused",
    ),
    Burglar(
        "memory hog",
        _attempt(
            "held = []\nwhile True:\n    held.append(bytearray(b'x' * 2**24))", "MemoryError"
        ),
        "the memory limit held",
        memory=2**28,
    ),
    Burglar(
        "endless loop",
        "while True: pass\n",
        "killed at its time limit",
        expected="timeout",
        says=b"",
        seconds=2.0,
    ),
    Burglar("reads /etc/passwd", _attempt("open('/etc/passwd').read()"), "refused"),
    Burglar("lists the root folder", _attempt("import os\nassert not "
            "set(os.listdir('/')) & {'home', 'root', 'etc', 'proc'}\nraise OSError"), "refused"),
    Burglar("writes a file", _attempt("open('kept', 'w').write('x')"), "refused"),
    Burglar("changes its release", _attempt("open('release', 'r+').write('x')"), "refused"),
    Burglar("empties its release",  # without ever asking to write
            _attempt("import os\nos.open('release', os.O_RDONLY | os.O_TRUNC)"), "refused"),
    Burglar("locks others out of its folder", _attempt("import os\nos.chmod('.', 0)"), "refused"),
    Burglar("makes a link", _attempt("import os\nos.symlink('/etc/passwd', "
            "os.environ['TMPDIR'] + '/link')"), "refused"),
    Burglar("fills the disk", _attempt("import os\nfor n in range(10**4):\n"
            "    with open(os.environ['TMPDIR'] + f'/{n}', 'wb') as file:\n"
            "        file.write(bytes(2**16))\nimport time\ntime.sleep(2)"), "stopped",
            or_ended=True),
    Burglar("leaves its session", _attempt("import os\nos.setsid()"), "refused"),
    Burglar("reads the environment of the process that started it",
            _attempt("import os\nopen(f'/proc/{os.getppid() or 1}/environ', 'rb').read()"),
            "refused"),
    Burglar("traces another process", "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "print('broken' if libc.ptrace(0, 0, 0, 0) == 0 else 'refused')\n", "refused"),
    Burglar(
        "opens a socket",
        _attempt("import socket\nsocket.socket(socket.AF_INET).connect(('127.0.0.1', 9))"),
        "refused",
    ),
    Burglar(
        "opens a local socket",
        _attempt("import socket\nsocket.socket(socket.AF_UNIX)"),
        "refused",
    ),
    Burglar(
        "signals the process that started it",
        _attempt("import os\nos.kill(os.getppid() or 2, 0)"),
        "refused",
    ),
    Burglar(
        "looks at the environment",
        "import os\nprint('broken' if set(os.environ) - {'LC_CTYPE', 'PWD', 'TMPDIR', 'HOME'} "
        "else 'refused')\n",
        "it names the temporary folder",
    ),
    Burglar(
        "prints 10 GB",
        "import sys\nfor _ in range(10 * 2**10): sys.stdout.write('x' * 2**20)\n",
        "killed at its output limit",
        expected="output limit",
        says=b"x" * 2**16,
    ),
)  # fmt: skip
