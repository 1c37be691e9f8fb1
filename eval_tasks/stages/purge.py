"""`doit purge`, and the end of `doit run_eval`: remove what an experiment keeps outside the project.

Must never remove a record, nor a submission or an install that an unfinished experiment still needs without being told.
"""

from __future__ import annotations

from eval_tasks import files, records
from eval_tasks.stages import completion
from eval_tasks.stages.session import Session


def finish(session: Session) -> list[str]:
    """Remove installs and call folders once every outcome is recorded and every grade final."""
    experiment, found = session.experiment, session.registration
    if not completion.is_complete(experiment, found):
        return []
    grades = [path for path in completion.scheduled_records(experiment, found) if path.parent.name == "grades"]
    if not all(completion.is_final(records.read(path, "grade")) for path in grades):
        return ["some grades failed for reasons of this machine: mend it and run `doit run_eval` again, or --settle"]
    files.remove_tree(session.work.root)
    return [completion.said_when_closed(experiment)]


def purge(session: Session) -> list[str]:
    """Remove everything that this experiment keeps outside the project."""
    gone = files.remove_tree(session.work.root)
    return ["removed" if gone else "some folders could not be removed; run `doit purge` as the user that made them"]
