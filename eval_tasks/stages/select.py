"""Selection with its one bounded proposal call, the same for a trial of Auto Lean and for a probe.

Must never select by another way in a probe than in a trial.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from eval_tasks.agents.contract import Reading
from eval_tasks.arms import LEAN
from eval_tasks.rehearsal.model import Behaviour
from eval_tasks.selection import proposal
from eval_tasks.selection.proposal import Candidate
from eval_tasks.selection.resolver import Task
from eval_tasks.stages import calls
from eval_tasks.stages.calls import Called, Order
from eval_tasks.stages.session import Session
from eval_tasks.trials import choice
from eval_tasks.trials.choice import Choice

PlayProposal = Callable[[Sequence[str]], Behaviour]
"""Makes what the loopback model proposes, from the shortlisted ids."""


@dataclass
class Selection:
    """A choice with the calls that were made for it."""

    choice: Choice
    calls: list[Called] = field(default_factory=list)

    @property
    def reading(self) -> Reading | None:
        """Return what the last call said, if there was one."""
        return self.calls[-1].reading if self.calls else None


def select(session: Session, key: str, task: Task, exclude: Collection[str], play: PlayProposal) -> Selection:
    """Select for a task, with at most one proposal call inside the claim `key`."""
    made: list[Called] = []
    library = session.assembly.library

    def propose(shortlist: Sequence[Candidate]) -> tuple[str, ...]:
        order = Order(
            key=key,
            phase="proposal",
            install=LEAN,
            prompt=proposal.question(task.prompt, shortlist, library),
            contents=None,
            behaviour=lambda: play([candidate.id for candidate in shortlist]),
        )
        with calls.make(session, order) as called:
            made.append(called)
        if called.failed is not None:
            raise called.failed
        return proposal.parse(called.reading.message or "", shortlist)

    return Selection(choice.select(task, exclude, library, propose, session.assembly.resolve), made)
