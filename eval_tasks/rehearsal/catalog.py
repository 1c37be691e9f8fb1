"""The model catalog of a rehearsal's install: the agent's own, with the registered model's context window pinned.

Pure; it must never change anything else, or the rehearsed agent would be told other things than users' agents are.
"""

from __future__ import annotations

import json

from eval_tasks.errors import ExperimentStopped

CONTEXT_WINDOW_TOKENS = 272_000
"""The window of today's default models, in which the list of a full install's skills does not fit."""


def pinned_catalog(bundled: bytes, model: str, context_window: int = CONTEXT_WINDOW_TOKENS) -> bytes:
    """Return the content of Codex's `model_catalog_json`.

    Parameters
    ----------
    bundled
        What `codex debug models --bundled` prints. All its models are kept: some are told of the others.
    model
        The registered model.
    context_window
        In tokens; Codex takes two per cent of it as the budget of the list of skills. The model's maximum is raised
        where it is lower, since Codex obeys the lower of the two.

    Raises
    ------
    ExperimentStopped
        The agent has no such model.
    """
    catalog = json.loads(bundled)
    known = [entry["slug"] for entry in catalog["models"]]
    if model not in known:
        raise ExperimentStopped(f"this agent has no model `{model}` to rehearse with; it has {', '.join(known)}")
    for entry in catalog["models"]:
        if entry["slug"] == model:
            maximum = max(context_window, entry["max_context_window"])
            entry |= {"context_window": context_window, "max_context_window": maximum}
    return (json.dumps(catalog, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8")
