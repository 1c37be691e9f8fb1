"""The registration: one retained plan that binds by digest everything an experiment's outcomes can depend on.

Must never hold a path of a machine or a credential, and never be changed once it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval_tasks import digests, records, schedule
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.paths import Experiment, Project
from eval_tasks.schedule import Trial

REHEARSAL = "rehearsal"
"""The backend whose calls are answered by the loopback model."""


@dataclass(frozen=True)
class Registration:
    """A written registration."""

    value: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        return digests.of_value(dict(self.value))

    @property
    def id(self) -> str:
        return digests.short(self.digest)

    @property
    def design(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.value["design"]
        return found

    @property
    def rehearsing(self) -> bool:
        return bool(self.design["agent"]["backend"] == REHEARSAL)

    @property
    def limits(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.design["limits"]
        return found

    @property
    def jobs(self) -> int:
        """How many calls may run at once."""
        return int(self.design.get("jobs", 1))

    @property
    def trials(self) -> list[Trial]:
        return [schedule.trial(value) for value in self.design["schedule"]["trials"]]

    @property
    def probes(self) -> list[str]:
        return list(self.design["schedule"]["probes"])


def current(project: Project) -> Experiment | None:
    """Return the folder of the experiment that commands act on, or None if nothing is registered."""
    try:
        name = project.current.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    experiment = project.experiment(name)
    return experiment if experiment.registration.is_file() else None


def require_current(project: Project) -> Experiment:
    """Return the experiment that commands act on.

    Raises
    ------
    ExperimentStopped
        If nothing is registered.
    """
    found = current(project)
    if found is None:
        raise ExperimentStopped("no experiment is registered here; run `doit register` first")
    return found


def unchecked(experiment: Experiment) -> Registration:
    """Read a registration for the graph, which every command makes; the stages that use it check it by `read`."""
    return Registration(records.parse(experiment.registration.read_bytes(), experiment.registration.name))


def read(experiment: Experiment) -> Registration:
    """Read a registration and check that its folder's name is its digest's."""
    found = Registration(records.read(experiment.registration, "registration"))
    if found.id != experiment.id:
        raise ExperimentStopped(
            f"registration.json of {experiment.id} was changed after it was written; restore it, or register anew"
        )
    return found


Leaves = Mapping[tuple[str, ...], Any]


def _leaves(value: Any, place: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the leaves of nested objects; a list of objects with ids counts as an object by id."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and "id" in item for item in value):
        value = {item["id"]: item for item in value}
    if not isinstance(value, Mapping):
        return {place: value}
    found: dict[tuple[str, ...], Any] = {}
    for key, inner in value.items():
        found |= _leaves(inner, (*place, str(key)))
    return found


_FOLLOWS: Sequence[tuple[str, ...]] = (
    ("corpus", "digest"),
    ("corpus", "cases"),
    ("corpus", "probes"),
    ("library", "digest"),
    ("schedule",),
    ("overrides",),
)
"""Parts that only follow from others, left out of a list of changes when something else has changed."""


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what differs between two designs, one line each: `what: old -> new`, digests by their first digits."""
    before, after = _leaves(old), _leaves(new)
    places = sorted(place for place in {*before, *after} if _differ(before, after, place))
    causes = [place for place in places if not any(place[: len(part)] == part for part in _FOLLOWS)]
    found = [f"{_label(place)}: {_shown(before, place)} -> {_shown(after, place)}" for place in causes or places]
    digest, present = digests.of_value(dict(old)), digests.of_value(dict(new))
    if not found and digest != present:
        # An order, or an object that is empty and so has no leaf: what changes the digest must never pass unsaid.
        return [f"design: {digests.short(digest)} -> {digests.short(present)}"]
    return found


def _differ(before: Leaves, after: Leaves, place: tuple[str, ...]) -> bool:
    """Return whether a leaf differs as the digest sees it, which tells 5 from 5.0 and 1 from true."""
    if place not in before or place not in after:
        return True
    return records.canonical(before[place]) != records.canonical(after[place])


def _label(place: tuple[str, ...]) -> str:
    if place[:2] == ("corpus", "files"):
        return f"corpus/{place[2]}"
    if place[:1] == ("sources",):
        return place[2]
    if place[:2] == ("library", "skills"):
        return f"skill {place[2]}"
    return ".".join(place)


def _shown(leaves: Leaves, place: tuple[str, ...]) -> str:
    if place not in leaves:
        return "nothing"
    value = leaves[place]
    if isinstance(value, str) and len(value) == 64:
        return digests.short(value)
    text = records.canonical(value).decode("utf-8") if not isinstance(value, str) else value
    return text if len(text) <= 60 and text.isprintable() else digests.short(digests.of_value(value))


def execution_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what differs of the things that stop an execution: all but the sources of the analysis."""
    return changes(_without_analysis(old), _without_analysis(new))


def _without_analysis(value: Mapping[str, Any]) -> dict[str, Any]:
    return {**value, "sources": {"execution": value["sources"]["execution"]}}


def execution_digest(value: Mapping[str, Any]) -> str:
    """Return the digest of the part of a design that stops an execution when it changes."""
    return digests.of_value(_without_analysis(value))


def refuse_drift(registered: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    """Raise `ExperimentStopped` with what has changed since the registration, if anything has."""
    found = execution_changes(registered, derived)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ExperimentStopped(
            f"source-drift: {found[0]}{more}; restore it, or register what is here now with `doit register --new`",
            FailureCode.SOURCE_DRIFT,
        )
