"""The agent CLIs that the evaluator can run, one row each, and the protocol that each satisfies.

Must never hold more than the table: the protocol is in `contract`, each agent in a module of its own.
"""

from __future__ import annotations

from eval_tasks.agents import claude, codex
from eval_tasks.agents.contract import Agent, Backend, Call, Discovery, Executable, Exposure, Reading, Usage

__all__ = ["AGENTS", "Agent", "Backend", "Call", "Discovery", "Executable", "Exposure", "Reading", "Usage"]

AGENTS: dict[str, Agent] = {
    codex.KIND: codex,
    claude.KIND: claude,
}
