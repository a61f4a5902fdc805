"""The inside of the sandbox: build the walls, then run one program in this very interpreter.

`_guard.py` loads it in a separate process (bubblewrap starts it once more, as a script). It uses
the standard library only and imports nothing of Narcissus. Each layer works alone: namespaces with
a private root, Landlock, seccomp, resource limits. Missing layers are written to the report
descriptor; the checks in `sandbox.py` decide whether the rest suffices.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import resource
import select
import signal
import struct
import sys
import types
from collections.abc import Callable
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_MACHINE = platform.machine()

# System calls that a Python program needs to compute, read its inputs and print, by their numbers
# on x86-64 and on AArch64 (None: not there). Everything else is refused with EPERM, so that a
# program gets an ordinary PermissionError: no socket, no exec, no fork, no mount, no ptrace. Of the
# calls that change files only those are there that Landlock restricts to the private folder: no
# chmod, no chown, no times, and no links, so that there is nothing to race for.
_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "ppoll": (271, 73),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "select": (23, None),
    "pselect6": (270, 72),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "uname": (63, 160),
    "getcwd": (79, 17),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "sigaltstack": (131, 132),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "arch_prctl": (158, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "set_tid_address": (218, 96),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "newfstatat": (262, 79),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "statx": (332, 291),
    "rseq": (334, 293),
    "restart_syscall": (219, 128),
    "time": (201, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "ftruncate": (77, 46),
    "pwrite64": (18, 68),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "umask": (95, 166),
}
# Of calls that are many in one, the commands that ordinary programs need: F_DUPFD, F_GETFD,
# F_SETFD, F_GETFL, F_DUPFD_CLOEXEC; TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX and
# TCGETS2. The others name who gets a signal, ask for one, or take a lease.
_COMMANDS: dict[str, tuple[tuple[int, int], tuple[int, ...]]] = {
    "fcntl": ((72, 25), (0, 1, 2, 3, 1030)),
    "ioctl": ((16, 29), (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)),
}
_OPENING: dict[str, tuple[tuple[int | None, int | None], int]] = {
    "open": ((2, None), 24),
    "openat": ((257, 56), 32),
}
"""Calls that open a file, and where their flags are."""
_O_TRUNC, _O_WRITES = 0x200, 3  # Landlock before its third version lets a reader empty a file
_F_SETFL, _O_ASYNC = 4, 0x2000  # a flag of F_SETFL asks for signals
_CLONE, _CLONE3 = (56, 220), (435, 435)
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE_THREAD = 0x00010000
_RET_ALLOW, _RET_ERRNO, _RET_KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _EOPNOTSUPP = 1, 38, 95
_FALLOCATE = (285, 47)


def _must(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


# --- namespaces and a root of our own ---------------------------------------------------------

_NEWNS, _NEWUTS, _NEWIPC = 0x00020000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8
_REMOUNT, _BIND, _REC, _PRIVATE = 32, 4096, 16384, 1 << 18
_DETACH = 2
_NOBODY = 65534
_INODES = 10_000


def unshare() -> str:
    """Enter new namespaces, except for files; return '' or the reason for failure.

    Only the next child gets new process identifiers. An ordinary user enters a user namespace as
    nobody; its capabilities come from having created it.
    """
    others = _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
    try:
        if os.geteuid() == 0 and _LIBC.unshare(others) == 0:
            return ""
        uid, gid = os.geteuid(), os.getegid()
        _must(_LIBC.unshare(others | _NEWUSER), "user namespace")
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{_NOBODY} {uid} 1"),
            ("gid_map", f"{_NOBODY} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError as error:
        return str(error)
    return ""


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [None if s is None else os.fsencode(s) for s in (source, target, kind, data)]
    _must(
        _LIBC.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]),
        f"mount {target}",
    )


def _new_root(config: dict[str, Any]) -> None:
    """Replace the file system by a small one: readable paths and a private folder."""
    root: str = config["root"]
    _must(_LIBC.unshare(_NEWNS), "mount namespace")
    _mount("none", "/", None, _REC | _PRIVATE)
    _mount("tmpfs", root, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=0755")
    for path in config["readable"]:
        place = root + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.islink(path):
            os.symlink(os.readlink(path), place)
            continue
        if os.path.isdir(path):
            os.makedirs(place, exist_ok=True)
        else:
            with open(place, "w"):
                pass
        try:
            _mount(path, place, None, _BIND | _REC)
        except OSError:
            if path.startswith(("/proc/", "/sys/")):  # helps to compute fast; some kernels refuse
                continue
            raise
        # Flags that the file system already has cannot be dropped in a user namespace.
        flags = os.statvfs(path).f_flag & (_NOSUID | _NODEV | _NOEXEC)
        device = 0 if path.startswith("/dev/") else _NODEV
        _mount("none", place, None, _BIND | _REMOUNT | _RDONLY | _NOSUID | device | flags)
    private = root + config["tmp"]
    os.makedirs(private, exist_ok=True)
    _mount(
        "tmpfs",
        private,
        "tmpfs",
        _NOSUID | _NODEV | _NOEXEC,
        f"size={config['disk']},nr_inodes={_INODES},mode=0777",
    )
    os.chdir(root)
    _must(_LIBC.pivot_root(b".", b"."), "pivot_root")
    _must(_LIBC.umount2(b".", _DETACH), "umount")
    os.chdir("/")
    _mount("none", "/", None, _REMOUNT | _RDONLY | _NOSUID | _NODEV | _BIND)


def _drop_privileges(uid: int | None, real: int | None = None) -> None:
    """Become another user, if there is one, and give up all capabilities.

    real: a user whose number of threads is limited, which root's is not: who reads files stays.
    """
    if real is not None:
        os.setresuid(real, -1, -1)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = struct.pack("Ii", 0x20080522, 0)
    _must(_LIBC.capset(header, bytes(24)), "capset")


def _die_with_guard(config: dict[str, Any]) -> None:
    """Die with the guard. Every change of user cancels this: call it again afterwards."""
    if _LIBC.prctl(1, signal.SIGKILL, 0, 0, 0) or select.select([config["alive"]], [], [], 0)[0]:
        os._exit(1)  # the pipe has ended: it was gone before we asked


# --- Landlock ----------------------------------------------------------------------------------

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_FS_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many access rights each version knows
_READ_FILE, _WRITE_FILE, _READ_DIR = 4, 2, 8
# Files and folders are made, removed, moved and cut; no devices, sockets, pipes or links are made.
_PRIVATE_FOLDER = _READ_FILE | _WRITE_FILE | _READ_DIR | 16 | 32 | 128 | 256 | 1 << 13 | 1 << 14


def _landlock(readable: list[str], private: str, newest: int) -> int:
    """Forbid all but reading ``readable`` and writing ``private``; return the ABI version.

    newest: the newest version to use, as on an older kernel.
    """
    version = min(newest, int(_LIBC.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)))
    if version < 1:
        raise OSError("Landlock is not there")
    handled = (1 << _FS_RIGHTS.get(version, 16)) - 1
    fields = [handled]
    if version >= 4:
        fields.append(3)  # no TCP bind or connect
    if version >= 6:
        fields.append(3)  # no abstract sockets and no signals outside
    attribute = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = int(_LIBC.syscall(_LANDLOCK_CREATE, attribute, ctypes.c_size_t(len(attribute)), 0))
    _must(ruleset, "landlock_create_ruleset")
    for path in [*readable, private]:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rights = _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)
        if path == os.devnull:
            rights |= _WRITE_FILE
        if path == private:
            rights = _PRIVATE_FOLDER & handled
        rule = struct.pack("=Qi", rights, handle)
        _must(int(_LIBC.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0)), f"landlock_add_rule {path}")
        os.close(handle)
    _no_new_privileges()
    _must(int(_LIBC.syscall(_LANDLOCK_RESTRICT, ruleset, 0)), "landlock_restrict_self")
    os.close(ruleset)
    return version


def _no_new_privileges() -> None:
    _must(_LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")


# --- seccomp -----------------------------------------------------------------------------------


def _instruction(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("HBBI", code, true, false, value)


def _filter() -> bytes:
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    column = 0 if _MACHINE == "x86_64" else 1
    numbers = sorted(n for pair in _ALLOWED.values() if (n := pair[column]) is not None)
    lines = [
        _instruction(load, 4),
        _instruction(equal, _AUDIT_ARCH[_MACHINE], 1, 0),
        _instruction(give, _RET_KILL),
        _instruction(load, 0),
        _instruction(at_least, 0x40000000, 0, 1),  # the x32 calls have numbers of their own
        _instruction(give, _RET_KILL),
        # clone3 hides its flags behind a pointer; without it the C library takes clone.
        _instruction(equal, _CLONE3[column], 0, 1),
        _instruction(give, _RET_ERRNO | _ENOSYS),
        _instruction(equal, _CLONE[column], 0, 4),
        _instruction(load, 16),
        _instruction(any_bit, _CLONE_THREAD, 1, 0),
        _instruction(give, _RET_ERRNO | _EPERM),
        _instruction(give, _RET_ALLOW),
    ]
    # It takes a disk in no time; the C library writes instead, which takes time to be seen.
    lines += [
        _instruction(equal, _FALLOCATE[column], 0, 1),
        _instruction(give, _RET_ERRNO | _EOPNOTSUPP),
    ]
    for number in numbers:
        lines += [_instruction(equal, number, 0, 1), _instruction(give, _RET_ALLOW)]
    for pair, place in _OPENING.values():
        if (number := pair[column]) is not None:
            block = [
                _instruction(load, place),
                _instruction(any_bit, _O_TRUNC, 0, 2),
                _instruction(any_bit, _O_WRITES, 1, 0),
                _instruction(give, _RET_ERRNO | _EPERM),
                _instruction(give, _RET_ALLOW),
            ]
            lines += [_instruction(equal, number, 0, len(block)), *block]
    for name, (pair, commands) in _COMMANDS.items():
        block = [_instruction(load, 24)]
        for command in commands:
            block += [_instruction(equal, command, 0, 1), _instruction(give, _RET_ALLOW)]
        if name == "fcntl":
            block += [
                _instruction(equal, _F_SETFL, 0, 3),
                _instruction(load, 32),
                _instruction(any_bit, _O_ASYNC, 1, 0),
                _instruction(give, _RET_ALLOW),
            ]
        block.append(_instruction(give, _RET_ERRNO | _EPERM))
        lines += [_instruction(equal, pair[column], 0, len(block)), *block]
    lines.append(_instruction(give, _RET_ERRNO | _EPERM))
    return b"".join(lines)


def _seccomp() -> None:
    program = _filter()
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of 8-byte instructions, then their address.
    fprog = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    _no_new_privileges()
    _must(_LIBC.prctl(22, 2, fprog, 0, 0), "seccomp")


# --- resource limits ---------------------------------------------------------------------------


def _resource_limits(config: dict[str, Any]) -> None:
    threads: int = config["threads"]
    _limit_processor(config["processor"] or config["seconds"])
    for which, value in (
        (resource.RLIMIT_AS, config["memory"]),
        (resource.RLIMIT_NPROC, threads + _threads_of_user()),
        (resource.RLIMIT_FSIZE, config["disk"]),
        (resource.RLIMIT_NOFILE, config.get("files", 64)),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        resource.setrlimit(which, (value, value))
    _limit_data(config)


def _limit_data(config: dict[str, Any]) -> None:
    """Limit what is written in memory, where a limit is given and the system has it."""
    if limit := config.get("data"):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _limit_processor(seconds: float) -> None:
    """Limit the time of the processor, all threads together."""
    limit = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))


def _threads_of_user() -> int:
    count, me = 0, os.getuid()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == me:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count


# --- the run -----------------------------------------------------------------------------------


def place(config: dict[str, Any]) -> list[str]:
    """Enter the folders and switch to the program's user; return the names of the layers."""
    layers: list[str] = []
    inside_bubblewrap = config["method"] == "inside bubblewrap"
    if inside_bubblewrap:
        layers.append("bubblewrap")
    else:
        _die_with_guard(config)
    os.umask(0o022)
    if config["method"] == "namespaces":
        try:
            if config["unshared"]:
                raise OSError(config["unshared"])
            _new_root(config)
            layers.append("namespaces (files, network, processes)")
        except OSError as error:
            layers.append(f"!namespaces: {error}")
    _drop_privileges(config["uid"], config["real"])
    layers.append(config["user"])
    if config["watch_folder"]:
        layers.append("!a disk of limited size: a guard counts what is held fifty times a second")
    if not inside_bubblewrap:  # which ends all that is in it
        _die_with_guard(config)
        if config["uid"] is not None:  # so that the guard, as this user, sees the open files
            _LIBC.prctl(4, 1, 0, 0, 0)
    os.chdir(config["box"])
    return layers


def confine(config: dict[str, Any]) -> list[str]:
    """Limit this process's resources and system calls; return the names of the layers."""
    _resource_limits(config)
    layers = ["resource limits"]
    try:
        layers.append(
            f"Landlock (version {_landlock(config['readable'], config['tmp'], config['landlock'])})"
        )
    except OSError as error:
        layers.append(f"!Landlock: {error}")
    try:
        _seccomp()
        layers.append("seccomp")
    except (OSError, KeyError) as error:
        layers.append(f"!seccomp: {error}")
    return layers


def enter(config: dict[str, Any]) -> Callable[[], None]:
    """Put up the layers and report them; return the function that runs the program."""
    report: int = config["report"]
    if config["method"] == "bubblewrap":
        _die_with_guard(config)
        os.set_inheritable(report, True)
        _drop_privileges(config["uid"])
        _die_with_guard(config)
        command: list[str] = config["command"]
        os.execv(command[0], command)
    if config["method"] == "none":
        os.chdir(config["box"])
        layers = ["none"]
        if config["processor"]:
            _limit_processor(config["processor"])
        _limit_data(config)
    else:
        layers = [*place(config), *confine(config)]
    os.write(report, json.dumps(layers).encode())
    os.close(report)
    if config["method"] != "inside bubblewrap":
        os.close(config["alive"])
    return run


def run(name: str = "program.py") -> None:
    with open(name, "rb") as file:
        source = file.read()
    code = compile(source, "program.py", "exec")
    sys.argv = ["program.py", "release"]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # the whole point: untrusted, behind the layers


if __name__ == "__main__":
    enter(json.loads(sys.argv[1]))()
