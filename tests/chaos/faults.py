"""Every fault that a run can meet and what must come of it: the one mapping behind the tests and the documentation.

A table and the page that is written from it; must never run anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks.errors import FailureCode


@dataclass(frozen=True)
class Fault:
    """One fault and the code that an outcome gets for it.

    Parameters
    ----------
    name
        As the rehearsal script or the fixture agent knows it, or a word for what a test does to the machine.
    what
        What goes wrong, for the documentation.
    code
        Of a trial whose task call meets it; None leaves the verdict to the grader.
    limit
        The limit that the record names.
    usage
        Whether the call's usage is known; None if that depends on when its limit fires.
    transient
        How many errors the agent reports and overcomes or tries to, if that is always the same.
    stops
        Whether the whole run stops after it.
    quick
        Whether the test suite plays it; `make chaos` plays all.
    """

    name: str
    what: str
    code: FailureCode | None = None
    limit: str | None = None
    usage: bool | None = False
    transient: int | None = 0
    stops: bool = False
    quick: bool = True


_AGENT_FAILED = FailureCode.AGENT_FAILED
_INVALID = FailureCode.INVALID_STREAM
_RATE = FailureCode.RATE_LIMITED

PROVIDER: tuple[Fault, ...] = (
    Fault("transient", "Four replies break off, the fifth comes whole.", usage=True, transient=4),
    Fault("huge-output", "A command prints 50 MB.", usage=True),
    Fault("surrogates", "A command and a message hold half a surrogate pair.", usage=True),
    Fault("long-line", "A message of 20 MB comes as one event.", usage=True),
    Fault("zero-usage", "The usage is reported as zeros."),
    Fault("missing-usage", "The usage is not reported."),
    Fault("rate-limited", "Status 429, plain.", _RATE),
    Fault("retry-after", "Status 429 with `Retry-After`.", _RATE),
    Fault(
        "response-rate-limited", "The reply ends with a rate limit, again and again.", _RATE, transient=4, quick=False
    ),
    Fault("server-error", "Status 500, again and again.", _AGENT_FAILED, transient=4),
    Fault("status:503", "Status 503, again and again.", _AGENT_FAILED, transient=4, quick=False),
    Fault("status:400", "Status 400.", _AGENT_FAILED),
    Fault("cut", "Every reply breaks off in its middle.", _AGENT_FAILED, transient=4),
    Fault("cut:0", "Every reply breaks off before its first byte.", _AGENT_FAILED, transient=4, quick=False),
    Fault(
        "cut:300", "A reply breaks off after a command that was carried out.", _AGENT_FAILED, transient=4, quick=False
    ),
    Fault("malformed", "Every reply is garbled.", _AGENT_FAILED, transient=4, quick=False),
    Fault("response-failed", "The reply says that it failed.", _AGENT_FAILED, transient=4, quick=False),
    Fault("response-incomplete", "The reply says that it is incomplete.", _AGENT_FAILED, transient=4, quick=False),
    Fault("connection-refused", "Nothing listens at the provider's address.", _AGENT_FAILED, transient=4),
    Fault("empty", "The reply holds nothing.", FailureCode.HIDDEN_CHECK),
)
"""Played by the loopback model to the real agent; without a code, the agent goes on and the trial passes."""

ENDLESS: tuple[Fault, ...] = (
    Fault("no-headers", "The provider accepts the request and never answers.", FailureCode.CALL_TIMEOUT, "call"),
    Fault("no-events", "The reply begins and never goes on.", FailureCode.CALL_TIMEOUT, "call"),
    Fault(
        "endless-loop", "The model asks for one command after the other, for ever.", FailureCode.CALL_TIMEOUT, "call"
    ),
)
"""Played likewise; only the limit of the call ends them."""

PROCESS: tuple[Fault, ...] = (
    Fault("noise", "Lines between the events, events and counters that nobody knows.", usage=True),
    Fault("lone-surrogates", "Half a surrogate pair in a message, an id, a path and a command.", usage=True),
    Fault("long-event", "One event of 20 MB.", usage=True),
    Fault("much-stderr", "50 MB on stderr.", usage=True),
    Fault("unknown-usage", "A usage whose cached part is larger than the whole."),
    Fault("daemon", "A child in a session of its own outlives the agent.", usage=True),
    Fault("odd-files", "The workspace is left with links, a pipe, setuid bits and folders of mode 000.", usage=True),
    Fault("planted", "A file under the grader's reserved name.", FailureCode.GRADER_PLANTED, usage=True),
    Fault("failed-but-0", "`turn.failed`, exit status 0.", _AGENT_FAILED),
    Fault("no-end", "No terminal event, exit status 0.", _AGENT_FAILED),
    Fault("silent", "No event at all, exit status 0.", _AGENT_FAILED),
    Fault("crash", "Death by a signal in the middle of a turn.", _AGENT_FAILED),
    Fault("completed-but-1", "`turn.completed`, exit status 1.", _AGENT_FAILED, usage=True),
    Fault("forged-on-stderr", "`turn.failed`, and a forged `turn.completed` on stderr.", _AGENT_FAILED),
    Fault("two-ends", "Two `turn.completed`.", _INVALID),
    Fault("both-ends", "`turn.completed` and `turn.failed`.", _INVALID),
    Fault("torn-event", "An event breaks off in its middle.", _INVALID),
    Fault("endless-output", "Events without an end.", FailureCode.OUTPUT_LIMIT, "output"),
    Fault("large-workspace", "The workspace is filled with 200 MB.", FailureCode.OUTPUT_LIMIT, "output", usage=None),
    Fault("many-files", "The workspace is filled with 3,000 files.", FailureCode.OUTPUT_LIMIT, "output", usage=None),
    Fault(
        "fake-dead-sandbox", "The events say that the sandbox refused every command, but the sandbox works.", usage=True
    ),
)
"""Played by a fixture agent; without a code, what it left is graded: `hidden-check`, since nothing was done."""

DEAD = Fault("oracle", "The agent's own sandbox can't start.", FailureCode.SANDBOX_UNAVAILABLE, usage=None)
"""The real agent where only one level of namespaces can be made."""

HUNG: tuple[Fault, ...] = (
    Fault("hung", "The agent ignores SIGTERM and never ends.", FailureCode.CALL_TIMEOUT, "call"),
    Fault("hung-family", "So do its children, in sessions of their own.", FailureCode.CALL_TIMEOUT, "call"),
    Fault("flood", "The workspace is filled without an end.", FailureCode.OUTPUT_LIMIT, "output"),
)

PROPOSALS: tuple[Fault, ...] = (
    Fault("fault:transient", "Four replies break off, the fifth comes whole.", usage=True, transient=4),
    Fault("fault:zero-usage", "The usage is reported as zeros."),
    Fault("propose:garbage", "The answer is prose.", FailureCode.PROPOSAL_INVALID, usage=True),
    Fault(
        "propose:never-offered",
        "The answer names a skill that was not on the shortlist.",
        FailureCode.PROPOSAL_INVALID,
        usage=True,
    ),
    Fault("refuse", "The model refuses.", FailureCode.PROPOSAL_INVALID, usage=True),
    Fault("fault:empty", "The reply holds nothing.", FailureCode.PROPOSAL_INVALID),
    Fault("fault:long-line", "The answer is larger than 64 KiB.", FailureCode.OUTPUT_LIMIT, "output"),
    Fault("fault:rate-limited", "Status 429, plain.", _RATE),
    Fault("fault:server-error", "Status 500, again and again.", _AGENT_FAILED, transient=4, quick=False),
    Fault(
        "fault:connection-refused",
        "Nothing listens at the provider's address.",
        _AGENT_FAILED,
        transient=4,
        quick=False,
    ),
)
"""Played to a proposal call; without a code the proposal is taken."""

ENDLESS_PROPOSALS: tuple[Fault, ...] = (
    Fault("fault:no-headers", "The provider never answers.", FailureCode.PROPOSAL_INVALID, "proposal"),
)

STOPPING: tuple[Fault, ...] = (
    Fault(
        "unauthorized", "Status 401: the credential is refused.", FailureCode.AUTHENTICATION, transient=4, stops=True
    ),
    Fault("response-quota", "The quota is exhausted.", _RATE, stops=True, quick=False),
    Fault("usage-limit", "A usage limit is reached.", _RATE, stops=True),
)
"""Played by the loopback model; the outcome that met the fault keeps its code, and nothing more is called."""


@dataclass(frozen=True)
class Stop:
    """What stops a run without being any outcome's fault.

    Parameters
    ----------
    settled
        The code that `--settle` gives to what has not run.
    """

    what: str
    outcome: str
    settled: str


STOPS: tuple[Stop, ...] = (
    Stop(
        "Three calls in a row end in infrastructure codes (the registered number).",
        "each keeps its own",
        "the last one's",
    ),
    Stop("Something bound by the registration has changed.", "none", "source-drift"),
    Stop("An install is not what its inventory says.", "none", "environment-drift"),
    Stop("A credential is missing when a call would begin.", "none", "authentication"),
    Stop("The doctor or a canary call finds the machine unfit for a real provider.", "none", "the code of the cause"),
    Stop("Graders can't be shut in here.", "none", "abandoned"),
    Stop("The disk is nearly full before a claim.", "none", "abandoned"),
    Stop("A record or the journal can't be written.", "interrupted, at the next start", "abandoned"),
    Stop("The evaluator is killed within a claim.", "interrupted, at the next start", "abandoned"),
    Stop("The evaluator is killed outside a claim.", "none", "abandoned"),
)

LIMITS: tuple[tuple[str, str], ...] = (
    ("The registered number of calls is used up.", "`call-budget`, for all that has not run"),
    ("The registered time is over before a call.", "`deadline`, for all that has not run"),
    ("The registered time ends during a call.", "`deadline`"),
    ("Node or the sandbox fails the grader.", "`grading-failed`; the next run grades again, without a call"),
)

SELECTIONS: tuple[tuple[str, FailureCode, Mapping[str, Any]], ...] = (
    (
        "A skill is asked for that the caller excludes.",
        FailureCode.EXCLUDED,
        {"asked": ["plain"], "exclude": ["plain"]},
    ),
    ("A skill is asked for that the library lacks.", FailureCode.UNKNOWN_ID, {"asked": ["gone"]}),
    ("A skill is asked for that only a person may start.", FailureCode.MANUAL_ONLY, {"asked": ["by-hand"]}),
    ("A skill is asked for that wants tools of its own.", FailureCode.NATIVE_AUTHORITY, {"asked": ["granted"]}),
    ("Skills are asked for, and none at all.", FailureCode.OPT_OUT_CONFLICT, {"asked": ["plain"], "no_workflow": True}),
    ("The skills asked for are too large for a prompt.", FailureCode.CONTEXT_BUDGET, {"asked": ["large", "plain"]}),
)
"""What the resolver makes of a question, without a call; asked by `tests/test_faults.py`."""

SELECTOR = (
    "Somebody's own selector ends with an error, takes too long or breaks its contract.",
    FailureCode.SELECTOR_FAILED,
)
"""Played by the tests of selectors."""

_USAGE = {True: "known", False: "unknown", None: "either"}


def every() -> Iterator[Fault]:
    """Yield every fault of the tables."""
    for faults in (PROVIDER, ENDLESS, PROCESS, (DEAD,), HUNG, PROPOSALS, ENDLESS_PROPOSALS, STOPPING):
        yield from faults


TITLE = "## From fault to code"
_INTRODUCTION = """\
Written by `python -m tests.chaos.faults` from the table that `tests/test_faults.py` plays, and compared with it there.
"as graded" means that the call counts and the hidden grader decides. Every outcome that is named here is recorded once,
and its calls are counted whatever its code."""


def page() -> str:
    """Return the second part of `docs/failure-codes.md`."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from (TITLE, "", *_INTRODUCTION.split("\n"))
    for title, faults in (
        ("A task call, and what the provider does", (*PROVIDER, *ENDLESS, *STOPPING)),
        ("A task call, and what the agent's process does", (*PROCESS, DEAD, *HUNG)),
        ("A proposal call", (*PROPOSALS, *ENDLESS_PROPOSALS)),
    ):
        yield from ("", f"### {title}", "", "| what happens | code | usage | the run |", "| --- | --- | --- | --- |")
        for fault in faults:
            yield f"| {fault.what} | {_code(fault)} | {_USAGE[fault.usage]} | {_run(fault)} |"
    yield from ("", "### What stops a run by itself", "", "| what happens | the outcome at work | `--settle` writes |")
    yield "| --- | --- | --- |"
    for stop in STOPS:
        yield f"| {stop.what} | {stop.outcome} | {stop.settled} |"
    yield from ("", "### What ends a schedule or a grade", "", "| what happens | code |", "| --- | --- |")
    for what, code in LIMITS:
        yield f"| {what} | {code} |"
    yield from ("", "### A selection, before any call", "", "| what happens | code |", "| --- | --- |")
    for what, code in (*((what, code) for what, code, _ in SELECTIONS), SELECTOR):
        yield f"| {what} | `{code}` |"
    yield from ("", "### From code to fault", "", "| code | what leads to it |", "| --- | --- |")
    for code, whats in codes().items():
        yield f"| `{code}` | {'<br>'.join(dict.fromkeys(whats))} |"


def codes() -> dict[FailureCode, list[str]]:
    """Return for each code what leads to it, as the tables above say."""
    found: dict[FailureCode, list[str]] = {code: [] for code in FailureCode}
    for fault in every():
        if fault.code is not None:
            found[fault.code].append(fault.what)
    for what, code in (*((what, code) for what, code, _ in SELECTIONS), SELECTOR):
        found[code].append(what)
    for what, said in LIMITS:
        found[FailureCode(said.split("`")[1])].append(what)
    for stop in STOPS:
        for code in FailureCode:
            if code in (stop.settled, stop.outcome.partition(",")[0]):
                found[code].append(stop.what)
    return found


def _code(fault: Fault) -> str:
    if fault.code is None:
        return "as graded" if not fault.name.startswith(("fault:", "propose:")) else "none: the proposal is taken"
    return f"`{fault.code}`" + (f" (limit: {fault.limit})" if fault.limit else "")


def _run(fault: Fault) -> str:
    return "stops" if fault.stops else "goes on"


if __name__ == "__main__":
    place = Path(__file__).resolve().parents[2] / "docs" / "failure-codes.md"
    first = place.read_text("utf-8").partition(TITLE)[0].rstrip("\n")
    place.write_text(f"{first}\n\n{page()}", "utf-8")
