"""`doit selector`: ask the selector of the settings what the contract alone decides, without any agent.

Must never spend, write a record, or judge a choice that is the selector's to make.
"""

from __future__ import annotations

from eval_tasks import experiment, library, origin
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project
from eval_tasks.selection import command, conformance


def selector(project: Project) -> list[str]:
    """Return one line for each requirement.

    Raises
    ------
    ExperimentStopped
        If the selector breaks one; the lines are in its message.
    """
    settings = experiment.load(project, {})
    skills = library.load(origin.locate(settings.value["library"], project))
    asked = command.resolve_by(command.chosen(settings.value["selector"], project.root))
    found = conformance.findings(asked, skills)
    lines = [str(finding) for finding in found]
    broken = sum(finding.instead is not None for finding in found)
    if broken:
        raise ExperimentStopped(
            "\n".join([f"the selector breaks {broken} of {len(found)} requirements of docs/selection.md:", *lines])
        )
    return lines
