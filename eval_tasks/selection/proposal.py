"""The one bounded question to the agent when the resolver has only a shortlist, and the only answers it accepts.

Must never put a path of this machine or a call for a skill into the question, nor guess what a malformed answer meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped, FailureCode, TrialFailed
from eval_tasks.library import Library
from eval_tasks.selection.context import without_mentions

MAXIMUM_ANSWER_BYTES = 64 * 1024
MAXIMUM_DESCRIPTION = 1_024
"""Characters of a description in the question: the specification's own bound, which some authors exceed."""

_QUESTION = """\
Choose reference material for a coding task. Do not work on the task, run nothing and read no file.

Below is one JSON object: the task, and at most five candidates, each with an id and a description. Choose the one \
candidate whose material would change how a careful developer does this very task. Choose none if the task merely \
shares words with a candidate, if it mentions a candidate only to rule it out, or if it needs no such material.

Answer with one JSON object and nothing else: {"selectedIds": ["<id>"]} for a choice, {"selectedIds": []} for none.

"""


@dataclass(frozen=True)
class Candidate:
    """A skill of a shortlist, as the agent gets to see it."""

    id: str
    description: str


def question(prompt: str, shortlist: Sequence[Candidate], library: Library) -> str:
    """Return the text of the proposal call: the instruction, then the task and its candidates as JSON."""
    value = {
        "task": prompt,
        "candidates": [
            {"id": candidate.id, "description": candidate.description[:MAXIMUM_DESCRIPTION]} for candidate in shortlist
        ],
    }
    return _QUESTION + without_mentions(records.canonical(value).decode("utf-8"), library) + "\n"


def answer_schema(shortlist: Sequence[Candidate]) -> dict[str, Any]:
    """Return the JSON Schema of an acceptable answer, in the subset that agents' structured output knows."""
    return {
        "type": "object",
        "properties": {
            "selectedIds": {
                "type": "array",
                "items": {"type": "string", "enum": [candidate.id for candidate in shortlist]},
                "maxItems": 1,
            }
        },
        "required": ["selectedIds"],
        "additionalProperties": False,
    }


def parse(text: str, shortlist: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the chosen id, or nothing, from the agent's last message.

    Raises
    ------
    TrialFailed
        `proposal-invalid` for anything but one strict JSON object with `selectedIds` and zero or one shortlisted id:
        prose or a code fence around it, another key, a key twice, NaN, two ids, an id of no candidate, over 64 KiB.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAXIMUM_ANSWER_BYTES:
        raise TrialFailed(FailureCode.PROPOSAL_INVALID)
    try:
        value = records.parse(text, "the proposal")
    except ExperimentStopped as error:
        raise TrialFailed(FailureCode.PROPOSAL_INVALID) from error
    if not isinstance(value, dict) or set(value) != {"selectedIds"}:
        raise TrialFailed(FailureCode.PROPOSAL_INVALID)
    return _chosen(value["selectedIds"], shortlist)


def _chosen(ids: object, shortlist: Sequence[Candidate]) -> tuple[str, ...]:
    known = {candidate.id for candidate in shortlist}
    if not isinstance(ids, list) or len(ids) > 1 or any(not isinstance(item, str) or item not in known for item in ids):
        raise TrialFailed(FailureCode.PROPOSAL_INVALID)
    return tuple(ids)
