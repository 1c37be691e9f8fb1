"""`doit status`: how far an experiment is, without any arm's results.

Must never show who passed before every outcome is recorded.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from eval_tasks import records, registration
from eval_tasks.journal import Journal
from eval_tasks.paths import Experiment, Project
from eval_tasks.registration import Registration


def status(project: Project) -> dict[str, Any]:
    """Return what has been done and spent, ready for JSON."""
    experiment = registration.require_current(project)
    found = registration.read(experiment)
    with Journal(experiment.journal, found.digest) as journal:
        totals, stop = journal.totals(), journal.last_stop()
    trials = [trial.name for trial in found.trials]
    done = [name for name in trials if experiment.arm_run(name).is_file()]
    probes = [name for name in found.probes if experiment.probe(name).is_file()]
    complete = len(done) == len(trials) and len(probes) == len(found.probes)
    return {
        "experiment": experiment.id,
        "evidence": found.design["evidence"],
        "complete": complete,
        "trials": {"recorded": len(done), "scheduled": len(trials)},
        "probes": {"recorded": len(probes), "scheduled": len(found.probes)},
        "calls": {"made": totals.calls, "limit": found.limits["calls"]},
        "seconds": {"spent": totals.elapsed_ms // 1000, "limit": found.limits["deadlineSeconds"]},
        "sessions": totals.sessions,
        "codesOfCalls": _codes(experiment, found, done),
        "lastStop": str(stop) if stop is not None else None,
    }


def _codes(experiment: Experiment, found: Registration, done: list[str]) -> dict[str, int]:
    """Count the failure codes of arm-runs over all arms together; what a grader found is not among them."""
    codes = [records.read(experiment.arm_run(name), "arm-run")["failure"] for name in done]
    return dict(sorted(Counter(code for code in codes if code is not None).items()))


def lines(value: dict[str, Any]) -> list[str]:
    """Return the status as lines for a terminal."""
    trials, probes, calls, seconds = value["trials"], value["probes"], value["calls"], value["seconds"]
    state = "complete: run `doit report`" if value["complete"] else "unfinished: run `doit run_eval`"
    found = [
        f"experiment {value['experiment']} ({value['evidence']}), {state}",
        f"  trials  {trials['recorded']} of {trials['scheduled']} recorded",
        f"  probes  {probes['recorded']} of {probes['scheduled']} recorded",
        f"  calls   {calls['made']} of at most {calls['limit']}, in {value['sessions']} sessions",
        f"  time    {seconds['spent']} s of at most {seconds['limit']} s",
    ]
    codes = ", ".join(f"{code} {count}" for code, count in value["codesOfCalls"].items())
    found += [f"  codes   {codes}"] if codes else []
    return found + ([f"  last stop: {value['lastStop']}"] if value["lastStop"] else [])
