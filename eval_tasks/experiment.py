"""The experiment's settings: `eval.yaml` with the overrides of `doit register`, resolved and checked.

Must never take consent to paid calls from a setting, and never resolve a path of somebody's machine into the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import documents, records
from eval_tasks.documents import Document, Place
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project
from eval_tasks.registration import REHEARSAL

_PLACES: Mapping[str, Place] = {
    "backend": ("agent", "backend"),
    "model": ("agent", "model"),
    "effort": ("agent", "effort"),
    "agentVersion": ("agent", "version"),
    "repeats": ("repeats",),
    "maxCalls": ("limits", "calls"),
    "deadline": ("limits", "deadlineSeconds"),
    "callTimeout": ("limits", "callSeconds"),
    "isolation": ("isolation",),
}
"""Where each override of the command line goes in the settings."""

FLAGS: Mapping[str, str] = {
    "backend": "--backend",
    "model": "--model",
    "effort": "--effort",
    "agentVersion": "--agent-version",
    "repeats": "--repeats",
    "maxCalls": "--max-calls",
    "deadline": "--deadline",
    "callTimeout": "--call-timeout",
    "isolation": "--isolation",
}
"""The flag of each override, for messages."""


@dataclass(frozen=True)
class Settings:
    """The resolved settings; `value` has exactly the keys of the `experiment` schema."""

    value: Mapping[str, Any]
    overrides: Mapping[str, Any]

    @property
    def corpus(self) -> str:
        return str(self.value["corpus"])

    @property
    def agent(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.value["agent"]
        return found

    @property
    def limits(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.value["limits"]
        return found

    @property
    def rehearsing(self) -> bool:
        return bool(self.agent["backend"] == REHEARSAL)


def load(project: Project, overrides: Mapping[str, Any]) -> Settings:
    """Read `eval.yaml`, lay the overrides over it and check the result.

    Parameters
    ----------
    overrides
        Values by the names of `FLAGS`; None means that the flag was not given. Besides, `authentication`, which
        `--auth-home` sets.

    Raises
    ------
    ExperimentStopped
        With file, line and reason, or with the flag whose value does not fit.
    """
    document = documents.read(project.settings, project.settings.name, "experiment")
    given = {name: value for name, value in overrides.items() if value is not None}
    value = _overridden(document, given)
    _check_backend(value["agent"], given)
    value["authentication"] = _authentication(value, given)
    value.setdefault("rehearsal", None)
    value.setdefault("jobs", 1)
    _refuse_racing_logins(document, value)
    if value["agent"]["backend"] != REHEARSAL:
        value["rehearsal"] = None
    return Settings(value=value, overrides=dict(sorted(given.items())))


def _overridden(document: Document, given: Mapping[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = records.parse(records.canonical(document.value), document.name)
    for name, wanted in given.items():
        place = _PLACES.get(name)
        if place is None:
            continue
        target: Any = value
        for part in place[:-1]:
            target = target[part]
        target[place[-1]] = wanted
        found = [line for line in records.problems("experiment", value) if line]
        if found:
            raise ExperimentStopped(f"{FLAGS[name]} {wanted}: {found[0].split(': ', 1)[1]}")
    return value


def _check_backend(agent: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse a backend that is neither the rehearsal nor the agent's own provider, which has the agent's name."""
    if agent["backend"] not in (REHEARSAL, agent["kind"]):
        place = f"{FLAGS['backend']} {agent['backend']}" if "backend" in given else "eval.yaml: agent.backend"
        raise ExperimentStopped(f"{place}: must be one of {REHEARSAL}, {agent['kind']}")


def _authentication(value: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return the authentication mode: none in rehearsal, else what was asked for, else an API key."""
    if value["agent"]["backend"] == REHEARSAL:
        return "none"
    asked = str(given.get("authentication") or value["authentication"])
    return "api-key" if asked == "none" else asked


def _refuse_racing_logins(document: Document, value: Mapping[str, Any]) -> None:
    """Refuse several calls at once on one login home: two of them could refresh its tokens at the same moment."""
    if value["jobs"] > 1 and value["authentication"] == "login-home":
        raise document.refuse(
            ("jobs",),
            f"{value['jobs']} calls at once can't share a login home, whose tokens they would refresh at the same"
            " time: set `jobs: 1`, or use an API key",
        )


def folder(project: Project, setting: str, what: str) -> Path:
    """Return a folder or file that a setting names relative to `eval.yaml`.

    Raises
    ------
    ExperimentStopped
        If there is nothing at that place.
    """
    found = (project.root / setting).resolve()
    if not found.exists():
        raise ExperimentStopped(f"eval.yaml: {what}: there is no such file or folder; correct the setting")
    return found
