"""`doit canary`: before the first trial of a real provider one small paid call on each install, once an experiment.

Must never let a trial be claimed before a call on its install was seen to write a file, nor call again what has passed.
"""

from __future__ import annotations

from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.rehearsal.behaviour import Behaviour, Say
from eval_tasks.stages import calls, prepare
from eval_tasks.stages.calls import Called, Order
from eval_tasks.stages.session import CANARY, Session

FILE = "canary.txt"
PROMPT = f"Write the two words `it works`, and nothing else, into a new file named {FILE} in this folder.\n"


def canary(session: Session) -> list[str]:
    """Make the canary call on each install that something scheduled still needs, unless one has passed there.

    Raises
    ------
    ExperimentStopped
        If a call fails or writes no file; no trial is claimed by then.
    """
    if session.registration.rehearsing:
        return []
    passed = session.canaries_passed()
    needed = [name for name in sorted(session.assembly.profiles) if prepare.is_needed(session, name)]
    return [_sing(session, name) for name in needed if name not in passed]


def _sing(session: Session, install: str) -> str:
    key = f"{CANARY}:{install}:{len(session.journal.claims())}"
    failed: TrialFailed | None = None
    called: Called | None = None
    with session.claim(key, CANARY, installs=[install]):
        try:
            called = _call(session, key, install)
        except TrialFailed as error:
            failed = error
    code = None if failed is None else failed.code
    session.settle(key, code, None if called is None else called.reading)
    if code is not None:
        with session.noting_a_stop():
            raise ExperimentStopped(_why(install, code), code)
    return f"canary call on install {install}: it wrote its file"


def _call(session: Session, key: str, install: str) -> Called:
    """Make the call and return it, or raise the reason for which it is no sign of life."""
    order = Order(key, CANARY, install, PROMPT, {}, lambda: Behaviour(CANARY, (Say(""),)))
    with calls.make(session, order) as called:
        if called.failed is not None:
            raise called.failed
        written = None if called.workspace is None else called.workspace / FILE
        if written is None or written.is_symlink() or not written.is_file() or not written.stat().st_size:
            raise TrialFailed(FailureCode.SANDBOX_UNAVAILABLE)
    return called


def _why(install: str, code: FailureCode) -> str:
    what = "left no file" if code is FailureCode.SANDBOX_UNAVAILABLE else f"ended in {code}"
    return (
        f"the canary call on install {install} {what}: mend the cause (`doit doctor`), then run `doit run_eval` again;"
        " no trial was claimed"
    )
