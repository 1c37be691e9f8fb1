"""The outer bubblewrap: exact arguments for agents and graders, where work may lie, and whether this machine can do it.

Must never show the inside a path, name or file of the evaluator beyond what is bound here, nor run anything as root.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval_tasks import digests, processes
from eval_tasks.errors import ExperimentStopped
from eval_tasks.processes import Boxed, Level

UNPRIVILEGED_ID = 65534
"""Uid and gid that every child gets where the evaluator runs as root (`nobody` on common systems); needs no account."""

WORKSPACE = "/w"
HOME = "/h"
TEMP = "/tmp"
PACKAGE = "/opt/agent"
NODE = "/opt/node/bin/node"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

_WORK_FOLDER = "workbench"
_ROOT_STATE_HOME = Path("/var/lib")
_USR_MERGED = ("bin", "sbin", "lib", "lib32", "lib64")
_ETC = (
    *("passwd", "group", "nsswitch.conf", "hosts", "resolv.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("ssl", "pki", "localtime", "alternatives", "ca-certificates"),
)
_BLOCK = 512
_PREFLIGHT_SECONDS = 10.0
_PREFLIGHT_OUTPUT = 65_536


@dataclass(frozen=True)
class Bind:
    """A host file or folder that the inside sees at `target`."""

    source: Path
    target: str
    writable: bool = False

    def options(self) -> list[str]:
        """Return bubblewrap's options for it."""
        return ["--bind" if self.writable else "--ro-bind", os.fspath(self.source), self.target]


@dataclass(frozen=True)
class Caps:
    """Limits that hold inside; None leaves one out.

    Parameters
    ----------
    processes
        Processes and threads at once, counted in the box's own user namespace.
    file_bytes
        Size of one written file.
    data_bytes
        Committed memory of one process (RLIMIT_DATA).
    open_files
        Descriptors of one process.
    home_bytes, temp_bytes
        Size of the memory file systems at `/h` and `/tmp`.
    """

    processes: int | None = 400
    file_bytes: int | None = 64 * 1024 * 1024
    data_bytes: int | None = None
    open_files: int | None = None
    home_bytes: int = 128 * 1024 * 1024
    temp_bytes: int = 128 * 1024 * 1024

    def prefix(self) -> list[str]:
        """Return the `prlimit` command that sets them inside the box, before its program."""
        limits = {
            "nproc": self.processes,
            "core": 0,
            "fsize": self.file_bytes,
            "data": self.data_bytes,
            "nofile": self.open_files,
        }
        return ["/usr/bin/prlimit", *(f"--{name}={value}" for name, value in limits.items() if value is not None), "--"]


GRADING_CAPS = Caps(processes=64, file_bytes=0, data_bytes=768 * 1024 * 1024, open_files=64)
"""Limits of a grader or subject process; Node 24 needs 576 MB to start, and no write is ever right."""


@dataclass(frozen=True)
class Bubblewrap:
    """A bubblewrap executable, and whether its processes must drop from root first."""

    path: Path
    drop: bool = False

    @classmethod
    def at(cls, path: Path) -> Bubblewrap:
        """Return the bubblewrap at a path for the present user."""
        return cls(path, drop=os.geteuid() == 0)

    def launcher(self) -> tuple[str, ...]:
        """Return the command up to bubblewrap's options."""
        return (*unprivileged(self.drop), os.fspath(self.path))


def unprivileged(drop: bool) -> tuple[str, ...]:
    """Return the command prefix that gives up root, or nothing."""
    if not drop:
        return ()
    identity = str(UNPRIVILEGED_ID)
    return ("setpriv", "--reuid", identity, "--regid", identity, "--clear-groups", "--")


@dataclass(frozen=True)
class AgentBox:
    """Level `sealed`: an agent's box with neutral paths.

    Parameters
    ----------
    bubblewrap
        The executable; of a nested box it lies inside `package`, so that the preflight can run it inside as well.
    package
        The agent's package, seen at `/opt/agent`.
    workspace
        The writable folder, seen at `/w`; None gives an empty one in memory, for discovery.
    binds
        What the home `/h`, an empty file system in memory, holds besides, and anything else to be seen read-only.
    folders
        Folders to make below `/h` before binding.
    node
        The registered Node, seen at `/opt/node/bin/node`; None if the inside needs none.
    files
        Read-only files that exist inside only, by path below `/h`.
    network
        Whether the agent process reaches the host's network; what it runs never does, by the agent's own sandbox, if
        it has one.
    nested
        Whether the agent shuts its commands into a sandbox of its own inside, which has to be able to start there.
    """

    bubblewrap: Bubblewrap
    package: Path
    workspace: Path | None
    binds: tuple[Bind, ...] = ()
    folders: tuple[str, ...] = ()
    node: Path | None = None
    files: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    network: bool = True
    caps: Caps = Caps()
    nested: bool = True

    home = HOME
    seen_workspace = WORKSPACE
    temp = TEMP
    seen_package = PACKAGE
    level = Level.SEALED

    @property
    def search_path(self) -> str:
        """Return PATH inside: the registered Node first."""
        return SYSTEM_PATH if self.node is None else f"{os.path.dirname(NODE)}:{SYSTEM_PATH}"

    def command(self, program: Sequence[str]) -> Boxed:
        """Return the command that runs a program of the inside in this box."""
        caps = self.caps
        options = [
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *("--die-with-parent", "--new-session", *([] if self.network else ["--unshare-net"])),
            *_system(),
            *(option for name in _ETC for option in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")),
            *("--proc", "/proc", "--dev", "/dev"),
            *("--size", str(caps.temp_bytes), "--perms", "1777", "--tmpfs", TEMP, "--dir", "/var/tmp"),
            *Bind(self.package, PACKAGE).options(),
            *([] if self.node is None else Bind(self.node, NODE).options()),
            *("--size", str(caps.home_bytes), "--tmpfs", HOME),
            *(option for folder in self.folders for option in ("--dir", folder)),
            *(["--size", str(caps.home_bytes), "--tmpfs", WORKSPACE] if self.workspace is None else []),
            *([] if self.workspace is None else Bind(self.workspace, WORKSPACE, writable=True).options()),
            *(option for bind in self.binds for option in bind.options()),
            *("--remount-ro", "/", "--chdir", WORKSPACE, "--hostname", "box"),
        ]
        return Boxed(self.bubblewrap.launcher(), tuple(options), (*caps.prefix(), *program), self.files)


@dataclass(frozen=True)
class AgentFolder:
    """Level `agent-sandbox`: no outer box, real paths; the agent's own sandbox and a subreaper do what they can.

    Parameters
    ----------
    package, workspace, home, temp
        Real folders, readable by the unprivileged user; the last three belong to it.
    """

    package: Path
    workspace: Path
    home_folder: Path
    temp_folder: Path
    drop: bool
    node: Path | None = None
    caps: Caps = Caps(processes=None)

    level = Level.AGENT_SANDBOX

    @property
    def home(self) -> str:
        return os.fspath(self.home_folder)

    @property
    def seen_workspace(self) -> str:
        return os.fspath(self.workspace)

    @property
    def temp(self) -> str:
        return os.fspath(self.temp_folder)

    @property
    def seen_package(self) -> str:
        return os.fspath(self.package)

    @property
    def search_path(self) -> str:
        """Return PATH for the agent: the registered Node first."""
        return SYSTEM_PATH if self.node is None else f"{self.node.parent}:{SYSTEM_PATH}"

    def command(self, program: Sequence[str]) -> Sequence[str]:
        """Return the bare command that runs a program in the workspace, with the caps that hold without a box."""
        return [*unprivileged(self.drop), "/usr/bin/env", "-C", self.seen_workspace, *self.caps.prefix(), *program]


AgentPlace = AgentBox | AgentFolder


@dataclass(frozen=True)
class GradingBox:
    """The box of a grader or of a subject: no network, nothing writable, no further namespaces.

    Parameters
    ----------
    node
        The registered Node, seen at `/opt/node/bin/node`.
    binds
        What the inside may read, such as the submission at `/s` or the runtime at `/r`.
    """

    bubblewrap: Bubblewrap
    node: Path
    binds: tuple[Bind, ...]
    caps: Caps = GRADING_CAPS

    def command(self, program: Sequence[str]) -> Boxed:
        """Return the command that runs a program of the inside in this box."""
        options = [
            *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
            *("--unshare-cgroup-try", "--cap-drop", "ALL", "--disable-userns", "--die-with-parent", "--new-session"),
            *_system(),
            *("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
            *("--proc", "/proc", "--dev", "/dev"),
            *Bind(self.node, NODE).options(),
            *(option for bind in self.binds for option in bind.options()),
            *("--remount-ro", "/", "--chdir", "/", "--hostname", "box"),
        ]
        return Boxed(self.bubblewrap.launcher(), tuple(options), (*self.caps.prefix(), *program))


def _system() -> list[str]:
    """Return the options that show the system's programs and libraries, whether or not /bin is a link into /usr."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _USR_MERGED:
        path = f"/{name}"
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    return options


def shown(path: Path) -> bool:
    """Return whether every box shows a host path with the system's programs; a project must not lie there."""
    resolved = Path(os.path.realpath(path))
    return any(resolved.is_relative_to(os.path.realpath(f"/{name}")) for name in ("usr", *_USR_MERGED))


def preflight(box: AgentBox) -> bool:
    """Return whether bubblewrap runs inside bubblewrap with exactly a trial's arguments.

    Needed because an agent whose inner sandbox can't start fails every command and still exits 0. An agent without
    one needs the outer box alone.
    """
    if not box.nested:
        return _succeeds(box.command(["/usr/bin/true"]))
    inner = os.path.join(PACKAGE, os.path.relpath(box.bubblewrap.path, box.package))
    program = [
        *(inner, "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--proc", "/proc", "--", "/usr/bin/true"),
    ]
    return _succeeds(box.command(program))


def attainable(box: AgentBox) -> Level | None:
    """Return the best isolation level that this machine can do: `sealed`, `agent-sandbox`, or None.

    Parameters
    ----------
    box
        The box of a trial, as it would be run.
    """
    if preflight(box):
        return Level.SEALED
    if not box.nested:
        return None
    own = [
        *(*box.bubblewrap.launcher(), "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--proc", "/proc", "--", "/usr/bin/true"),
    ]
    return Level.AGENT_SANDBOX if _succeeds(own) else None


def _succeeds(command: processes.Command) -> bool:
    try:
        finished = processes.run(
            command,
            environment={"PATH": SYSTEM_PATH, "LANG": "C.UTF-8"},
            wall_seconds=_PREFLIGHT_SECONDS,
            stdout_bytes=_PREFLIGHT_OUTPUT,
        )
    except OSError:
        return False
    return finished.exit_status == 0 and finished.contained.quiescent


# Where work may lie


def work_root(environment: Mapping[str, str] = os.environ, *, root_user: bool | None = None) -> Path:
    """Return the folder below which all experiments of this user work; it need not exist.

    As root that is below /var/lib, where children with another uid can get to; for a user it is below $XDG_STATE_HOME
    or ~/.local/state.

    Raises
    ------
    ExperimentStopped
        If it would lie in a temporary folder or in a git repository, where an agent would find other files.
    """
    if root_user is None:
        root_user = os.geteuid() == 0
    own_state = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    base = _ROOT_STATE_HOME if root_user else Path(own_state)
    path = Path(os.path.realpath(base)) / _WORK_FOLDER
    check_work_root(path, environment)
    return path


def check_work_root(path: Path, environment: Mapping[str, str]) -> None:
    """Refuse a work root in a temporary folder or inside a git repository.

    Raises
    ------
    ExperimentStopped
        One line that says what to set instead.
    """
    resolved = Path(os.path.realpath(path))
    for temporary in ("/tmp", "/var/tmp", "/dev/shm", environment.get("TMPDIR") or "/tmp"):
        if resolved.is_relative_to(os.path.realpath(temporary)):
            raise ExperimentStopped(
                "the work root lies in a temporary folder, which agents can write; set XDG_STATE_HOME to another folder"
            )
    for parent in resolved.parents:
        if (parent / ".git").exists():
            raise ExperimentStopped(
                "the work root lies in a git repository, which agents would read; set XDG_STATE_HOME to another folder"
            )


def make_work_folder(path: Path, *, drop: bool) -> None:
    """Create a folder of the work root if needed: 0711 where children run as another user, else 0700."""
    path.mkdir(mode=0o711 if drop else 0o700, parents=True, exist_ok=True)
    os.chmod(path, 0o711 if drop else 0o700)


def own(path: Path, *, drop: bool) -> None:
    """Give a call's folder or file, and all below it, to the user that the call runs as; links are not followed."""
    if not drop:
        return
    os.chown(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)
    if path.is_symlink() or not path.is_dir():
        return
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)


def overfull(folder: Path, *, most_bytes: int, most_entries: int) -> bool:
    """Return whether a folder that a child can write holds more than it may; looks no further once that is clear.

    Nothing else bounds a workspace on disk as a whole, so a call's tick should ask this.
    """
    used = entries = 0
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as scan:
                for entry in scan:
                    entries += 1
                    used += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if used > most_bytes or entries > most_entries:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            # The child may remove or close a folder while we look.
            continue
    return False


def adopt(source: Path, folder: Path, fingerprint: str) -> Path:
    """Return a copy of a file or folder below the work root, where children reach it under a name that says nothing.

    Linked where both lie on one file system, else copied; whole or not at all; made anew if it is not equal to its
    source, as after a new installation.

    Parameters
    ----------
    source
        A package or an executable.
    folder
        Where the adopted ones lie.
    fingerprint
        Of the source, as the caller has found it.
    """
    target = folder / digests.short(fingerprint)
    if os.path.lexists(target) and _equal(source, target):
        return target
    make_work_folder(folder, drop=os.geteuid() == 0)
    fresh = target.with_name(f".{secrets.token_hex(8)}")
    try:
        _link_or_copy(source, fresh)
        if os.path.lexists(target) and _equal(source, target):
            return target  # Another evaluator was faster, and may be running calls from it.
        _discard(target)
        os.rename(fresh, target)
    finally:
        _discard(fresh)
    return target


def fingerprint_of(executable: Path) -> str:
    """Return the digest of an executable, through links."""
    return digests.of_file(os.path.realpath(executable))


def make_readable(folder: Path) -> None:
    """Let every user read a folder and all below it, as an install must be where children run as another user."""
    for parent, _, files in os.walk(folder):
        os.chmod(parent, 0o755)
        for name in files:
            path = os.path.join(parent, name)
            os.chmod(path, 0o755 if _executable(path) else 0o644)


def _equal(source: Path, target: Path) -> bool:
    """Return whether two files or folders hold the same: linked files, or the same bytes.

    Bytes count, not links: another project with the same package must not replace a copy that calls are running from.
    """
    files, copies = _files_of(source), _files_of(target)
    if files.keys() != copies.keys():
        return False
    return all(
        os.path.samefile(files[name], copies[name])
        or digests.of_file(os.path.realpath(files[name])) == digests.of_file(copies[name])
        for name in files
    )


def _linkable(source: str, target: Path) -> bool:
    """Return whether a link in a folder will do: same file system, readable by all, and ours, as kernels ask for."""
    status = os.stat(source)
    ours = os.geteuid() in (0, status.st_uid)
    return ours and bool(status.st_mode & stat.S_IROTH) and status.st_dev == os.stat(target).st_dev


def _files_of(path: Path) -> dict[str, str]:
    if not path.is_dir():
        return {"": os.fspath(path)}
    return {
        os.path.relpath(os.path.join(folder, name), path): os.path.join(folder, name)
        for folder, _, files in os.walk(path)
        for name in files
    }


def _executable(path: str) -> bool:
    return bool(os.lstat(path).st_mode & stat.S_IXUSR)


def _link_or_copy(source: Path, target: Path) -> None:
    if source.is_file():
        _link_or_copy_file(os.path.realpath(source), os.fspath(target))
    else:
        shutil.copytree(source, target, copy_function=_link_or_copy_file)
        for folder, _, _ in os.walk(target):
            os.chmod(folder, 0o755)


def _link_or_copy_file(source: str, target: str) -> None:
    if _linkable(source, Path(target).parent):
        os.link(source, target)
    else:
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if _executable(source) else 0o644)


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
