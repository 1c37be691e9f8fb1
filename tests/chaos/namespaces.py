"""Runs a command where only so many further user namespaces can be made: `namespaces.py <number> <command>…`.

With three an outer bubblewrap starts (it makes two) and one within it does not, as on machines that forbid nesting.
Must never change a setting of the machine: the limit belongs to a namespace of its own.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWUSER = 0x1000_0000
FEW = 3


def main(number: str, *command: str) -> int:
    """Run the command and return its exit status."""
    ready, go = os.pipe(), os.pipe()
    user, group = os.geteuid(), os.getegid()
    child = os.fork()
    if child == 0:
        if ctypes.CDLL(None).unshare(CLONE_NEWUSER) != 0:
            os._exit(99)
        os.write(ready[1], b".")
        os.read(go[0], 1)
        Path("/proc/sys/user/max_user_namespaces").write_text(number, "ascii")
        os.execvp(command[0], command)
    os.read(ready[0], 1)
    if user == 0:
        maps = {"uid_map": "0 0 70000", "gid_map": "0 0 70000"}
    else:
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for name, content in maps.items():
        Path(f"/proc/{child}/{name}").write_text(content, "ascii")
    os.write(go[1], b".")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
