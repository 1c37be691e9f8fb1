"""`doit library`: the skills of the bound library, and what the agent's own list of them would show of each.

Must never spend, write a record, or print a word of a skill but its id.
"""

from __future__ import annotations

from collections.abc import Iterator

from eval_tasks.agents.contract import Exposure
from eval_tasks.installs.profiles import Profile
from eval_tasks.library import Library, Skill
from eval_tasks.paths import Project
from eval_tasks.selection import policy, resolver
from eval_tasks.selection.resolver import Blocked, Reason
from eval_tasks.stages import bench
from eval_tasks.stages.assemble import Local, assemble, node_on_path
from eval_tasks.stages.bench import Bench

EVERY = "every skill"


def shelf(project: Project) -> list[str]:
    """Return one line a skill and what all of them come to.

    Raises
    ------
    ExperimentStopped
        If the library can't be read, with file and line, or the agent does not list it.
    """
    assembly = assemble(project, {}, Local(None, node_on_path()))
    with bench.set_up(assembly) as there:
        exposure = _exposure(there, assembly.library)
    return [*_rows(assembly.library, exposure), *_sums(assembly.library, exposure, assembly.settings.agent["model"])]


def _exposure(there: Bench, library: Library) -> Exposure:
    """Install everything and return what the agent would tell a model of it."""
    return there.builder(library).build(there.install("all"), EVERY, Profile("all@1", tuple(library.skills))).exposure


def _rows(library: Library, exposure: Exposure) -> Iterator[str]:
    width = max(len(skill_id) for skill_id in library.skills)
    yield f"{'skill':<{width}}  files     bytes  notes"
    for skill in library.skills.values():
        notes = ", ".join(_notes(skill, library, exposure))
        size = sum((library.root / skill.id / path).stat().st_size for path in skill.files)
        yield f"{skill.id:<{width}}  {len(skill.files):5}  {size:8,}  {notes}".rstrip()


def _notes(skill: Skill, library: Library, exposure: Exposure) -> Iterator[str]:
    alone = resolver.deliver((skill.id,), Reason.EXPLICIT, (), library)
    if isinstance(alone, Blocked):
        yield str(alone.code)
    if skill.id in exposure.shortened_ids:
        yield "listed shortened"
    if skill.id in exposure.dropped_ids:
        yield "not listed"


def _sums(library: Library, exposure: Exposure, model: str) -> Iterator[str]:
    refused = sum(policy.refusal(skill_id, (), library) is not None for skill_id in library.skills)
    yield ""
    yield f"{len(library.skills)} skills, {refused} of which can't be delivered with a prompt (a code says why)"
    yield (
        f"installed whole for {model}: {exposure.listed} listed, {len(exposure.shortened_ids)} of them shortened,"
        f" {len(exposure.dropped_ids)} not listed; start-up context {exposure.startup_context_bytes:,} bytes"
    )
