"""Build a golden install: the profile's skills byte for byte, the agent's configuration and own skills, nothing else.

Must never leave an install behind that the agent does not list exactly as planned.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_tasks import files, sandbox
from eval_tasks.agents.contract import Agent, Backend, Discovery, Executable, Exposure
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.installs import inventory
from eval_tasks.installs.inventory import Observed
from eval_tasks.installs.profiles import Profile
from eval_tasks.library import Library
from eval_tasks.processes import Level

SKILLS = "skills"


@dataclass(frozen=True)
class Builder:
    """What is needed to build an install.

    Parameters
    ----------
    executable
        Where children can reach it.
    level
        The registered isolation level, at which discovery is observed.
    """

    agent: Agent
    executable: Executable
    backend: Backend
    library: Library
    level: Level = Level.SEALED

    def build(self, install: Path, name: str, profile: Profile, recorded: Mapping[str, Any] | None = None) -> Observed:
        """Build an install in place of what may be there, and observe it through the agent.

        Parameters
        ----------
        install
            Where it will lie; the folder's name must say nothing, since an agent can see it.
        name
            The install, such as `full`, for messages and the record.
        recorded
            The inventory of an earlier build, which the new one must equal.

        Raises
        ------
        ExperimentStopped
            If the agent lists anything but the planned skills, or if the result is not what was recorded.
        """
        if self.level is not Level.SEALED:
            inventory.refuse_admin_settings(self.agent.ADMIN_FOLDER)
        fresh = install.with_name(f".{secrets.token_hex(8)}")
        sandbox.make_work_folder(install.parent, drop=os.geteuid() == 0)
        try:
            self._fill(fresh, profile)
            observed = self._observe(fresh, name, profile)
            if recorded is not None:
                inventory.verify(fresh, recorded)
            if os.path.lexists(install):
                files.remove_tree(install)
            os.rename(fresh, install)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return observed

    def observe(self, install: Path) -> tuple[Discovery, Exposure]:
        """Return what the agent discovers in an install, and what it would tell a model of it."""
        if self.level is Level.SEALED:
            return self._ask(self.agent.sealed(self.executable, install, None, network=False))
        scratch = install.with_name(f".{secrets.token_hex(8)}")
        try:
            sandbox.make_work_folder(scratch, drop=os.geteuid() == 0)
            workspace = scratch / "w"
            workspace.mkdir()
            sandbox.own(workspace, drop=os.geteuid() == 0)
            place = self.agent.unsealed(self.executable, install, self.backend, call=scratch, workspace=workspace)
            return self._ask(place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _ask(self, place: sandbox.AgentPlace) -> tuple[Discovery, Exposure]:
        discovery = self.agent.discover(place)
        return discovery, self.agent.exposure(place, self.backend, discovery)

    def _fill(self, fresh: Path, profile: Profile) -> None:
        (fresh / SKILLS).mkdir(parents=True)
        for skill in profile.skills:
            for path in self.library.skills[skill].files:
                target = fresh / SKILLS / skill / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.library.root / skill / path, target)
        self.agent.write_home(fresh, self.backend, self.executable, self.level)

    def _observe(self, fresh: Path, name: str, profile: Profile) -> Observed:
        found = inventory.take(fresh)
        for skill in profile.skills:
            for path, digest in self.library.skills[skill].files.items():
                if found.get(f"{SKILLS}/{skill}/{path}") != digest:
                    raise ExperimentStopped(
                        f"source-drift: library: {skill}/{path} changed while it was copied; run again",
                        FailureCode.SOURCE_DRIFT,
                    )
        discovery, exposure = self.observe(fresh)
        refuse_other_skills(name, profile, discovery)
        return Observed(name, found, self.agent.OWN_SKILLS, self.agent.DIFFERENCES, discovery, exposure)


def refuse_other_skills(name: str, profile: Profile, discovery: Discovery) -> None:
    """Refuse an install in which the agent lists anything but the planned skills and its own.

    Raises
    ------
    ExperimentStopped
        With the first skill that is missing, unplanned or switched off.
    """
    listed = discovery.ids(system=False)
    planned = set(profile.skills)
    missing = sorted(planned - set(listed))
    strange = [*sorted(set(listed) - planned), *discovery.strangers]
    off = sorted(skill.id for skill in discovery.skills if not skill.enabled)
    for skills, what in (
        (missing, "is planned but the agent does not list it"),
        (strange, "is listed but not planned"),
        (off, "is listed but switched off"),
    ):
        if skills:
            more = f" (and {len(skills) - 1} more)" if len(skills) > 1 else ""
            raise ExperimentStopped(
                f"environment-drift: install {name}: {skills[0]} {what}{more}; mend the library or the profile",
                FailureCode.ENVIRONMENT_DRIFT,
            )
    if len(listed) != len(planned):
        raise ExperimentStopped(
            f"environment-drift: install {name}: a skill is listed twice; mend the library",
            FailureCode.ENVIRONMENT_DRIFT,
        )
