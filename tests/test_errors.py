from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval_tasks import options
from eval_tasks.errors import EvaluationError, ExperimentStopped, FailureCode, Fault, TrialFailed

PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "failure-codes.md"
DESIGN = [
    "hidden-check",
    "grader-planted",
    "grading-failed",
    "call-budget",
    "deadline",
    "call-timeout",
    "agent-failed",
    "rate-limited",
    "authentication",
    "output-limit",
    "invalid-stream",
    "sandbox-unavailable",
    "source-drift",
    "environment-drift",
    "interrupted",
    "abandoned",
    "proposal-invalid",
    "selector-failed",
    "excluded",
    "native-authority",
    "manual-only",
    "opt-out-conflict",
    "unknown-id",
    "context-budget",
]
"""The closed set as the design lists it."""


def rows() -> dict[str, list[str]]:
    """Return the first table of the page: its cells by code, each code once."""
    text = PAGE.read_text("utf-8")
    table = text[text.index("| code | whose fault |") :].split("\n\n", 1)[0]
    found = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()[2:]]
    by_code = {row[0].strip("`"): row[1:] for row in found}
    assert len(by_code) == len(found)
    return by_code


def test_the_codes_are_the_closed_set_of_the_design() -> None:
    assert [str(code) for code in FailureCode] == DESIGN


def test_a_code_outside_the_set_is_refused() -> None:
    with pytest.raises(ValueError, match="timeout"):
        FailureCode("timeout")


def test_every_code_is_the_agents_the_selections_or_the_infrastructures() -> None:
    faults = {str(code): code.fault for code in FailureCode}
    agent = {code for code, fault in faults.items() if fault is Fault.AGENT}
    selection = {code for code, fault in faults.items() if fault is Fault.SELECTION}
    assert agent == {"hidden-check", "grader-planted", "call-timeout", "output-limit"}
    assert selection == {
        "proposal-invalid",
        "selector-failed",
        "excluded",
        "native-authority",
        "manual-only",
        "opt-out-conflict",
        "unknown-id",
        "context-budget",
    }
    assert {fault for code, fault in faults.items() if code not in agent | selection} == {Fault.INFRASTRUCTURE}


def test_the_page_has_one_row_for_each_code_and_for_nothing_else_in_their_order() -> None:
    assert list(rows()) == [str(code) for code in FailureCode]


@pytest.mark.parametrize("code", FailureCode)
def test_the_row_of_a_code_says_whose_fault_it_is_what_it_means_and_what_to_do(code: FailureCode) -> None:
    fault, meaning, advice = rows()[code]
    assert fault == code.fault
    assert re.fullmatch(r"[A-Z][^|]{20,}\.", meaning)
    assert re.fullmatch(r"[A-Z][^|]{15,}\.", advice)


def test_the_flags_that_the_page_names_exist() -> None:
    flags = set(re.findall(r"`(?:[^`]* )?--([a-z-]+)`", PAGE.read_text("utf-8")))
    assert {"max-calls", "deadline", "call-timeout", "settle", "new"} <= flags
    assert flags <= {option["long"] for command in options.COMMANDS.values() for option in command}


def test_a_stop_keeps_its_line_and_the_code_that_settling_would_write() -> None:
    assert str(ExperimentStopped("mend it")) == "mend it"
    assert ExperimentStopped("mend it").code is None
    assert ExperimentStopped("mend it", FailureCode.SOURCE_DRIFT).code is FailureCode.SOURCE_DRIFT


def test_a_failed_trial_keeps_its_code_and_the_limit_that_fired() -> None:
    failed = TrialFailed(FailureCode.CALL_TIMEOUT, "call")
    assert (failed.code, failed.limit, str(failed)) == (FailureCode.CALL_TIMEOUT, "call", "call-timeout")
    assert TrialFailed(FailureCode.AGENT_FAILED).limit is None


def test_the_two_families_have_one_root_and_neither_catches_the_other() -> None:
    assert issubclass(ExperimentStopped, EvaluationError)
    assert issubclass(TrialFailed, EvaluationError)
    assert not issubclass(TrialFailed, ExperimentStopped)
    assert not issubclass(ExperimentStopped, TrialFailed)
