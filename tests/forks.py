"""A child process of the test itself, for what must not happen to the test: a limit, a signal, a kill at a point.

Must never return from the child.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable


def run(work: Callable[[], object]) -> int:
    """Do some work in a child process and return how it ended: 0, 1 after an exception, or minus a signal's number."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_at(point: int) -> Callable[[], None]:
    """Return a function that kills its own process when it is called for the given time, counted from 0."""
    seen = 0

    def reached() -> None:
        nonlocal seen
        if seen == point:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    return reached
