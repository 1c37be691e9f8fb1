"""The rehearsal script: from the registered mapping to what the loopback model does in each call.

Pure but for `overlay_from` and `opponents_from`; what those two read must never reach anything but the loopback model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_tasks.errors import ExperimentStopped
from eval_tasks.rehearsal.behaviour import Behaviour, Run, Say
from eval_tasks.rehearsal.edits import Files, steps_for
from eval_tasks.rehearsal.faults import spoiled

Choice = str | Mapping[str, int]
"""A behaviour's name, or a mix: names with integer weights, from which the script's seed draws."""

WHY = "why.yaml"
"""What a wrong solution's folder says about it; no part of the solution."""

DONE = "Done."
REFUSAL = "I'm sorry, but I can't help with that."
GARBAGE = "I would take the first one, since it fits best."

_TASK_NAMES = ("oracle", "nop", "refuse", "wrong", "wrong:<name>", "attack:<name>", "fault:<name>")
_PROPOSAL_NAMES = (
    *("propose:expected", "propose:none", "propose:garbage", "propose:<id>"),
    *("refuse", "attack:<name>", "fault:<name>"),
)


@dataclass(frozen=True)
class Opponents:
    """The solutions that the rehearsal may play for a case, as files that overlay its workspace."""

    reference: Files | None = field(default=None, repr=False)
    wrongs: Mapping[str, Files] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Script:
    """A checked rehearsal script; made by `parse`.

    Parameters
    ----------
    opponents
        By case.
    seed
        Of the draws from mixes.
    default, trials
        Behaviours of task calls: of all, and by case and arm.
    proposal, proposals, probes
        Behaviours of proposal calls: of all, of a trial's by case, and by probe.
    attacks
        Named lists of shell commands.
    """

    opponents: Mapping[str, Opponents]
    seed: int = 0
    default: Choice = "oracle"
    trials: Mapping[str, Mapping[str, Choice]] = field(default_factory=dict)
    proposal: Choice = "propose:expected"
    proposals: Mapping[str, Choice] = field(default_factory=dict)
    probes: Mapping[str, Choice] = field(default_factory=dict)
    attacks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def task_name(self, case_id: str, arm: str, repeat: int) -> str:
        """Return the name of the behaviour that this trial's task call plays."""
        return drawn(self._of_trial(case_id, arm), f"{self.seed}:task:{case_id}:{arm}:{repeat}")

    def proposal_name(self, case_id: str, arm: str, repeat: int) -> str:
        """Return the name of the behaviour that this trial's proposal call plays."""
        choice = self.proposals.get(case_id, self.proposal)
        return drawn(choice, f"{self.seed}:proposal:{case_id}:{arm}:{repeat}")

    def probe_name(self, probe_id: str) -> str:
        """Return the name of the behaviour that this probe's proposal call plays."""
        return drawn(self.probes.get(probe_id, self.proposal), f"{self.seed}:probe:{probe_id}")

    def task(self, case_id: str, arm: str, repeat: int, initial: Files) -> Behaviour:
        """Return what the model does in this trial's task call.

        Parameters
        ----------
        initial
            The workspace as the agent finds it.
        """
        name = self.task_name(case_id, arm, repeat)
        return task_behaviour(name, initial, self.opponents[case_id], self.attacks)

    def trial_proposal(
        self, case_id: str, arm: str, repeat: int, *, expected: str | None, shortlist: Collection[str]
    ) -> Behaviour:
        """Return what the model does in this trial's proposal call.

        Parameters
        ----------
        expected
            The case's skill, if it has one.
        shortlist
            The ids that the call's prompt offers.
        """
        return proposal_behaviour(self.proposal_name(case_id, arm, repeat), expected, shortlist, self.attacks)

    def probe_proposal(self, probe_id: str, *, expected: str | None, shortlist: Collection[str]) -> Behaviour:
        """Return what the model does in this probe's proposal call; parameters as in `trial_proposal`."""
        return proposal_behaviour(self.probe_name(probe_id), expected, shortlist, self.attacks)

    def choices(self, arms: Collection[str]) -> Iterator[tuple[str, Choice, Opponents | None]]:
        """Yield every choice that can come to play: where it stands, the choice, and a task call's solutions."""
        for case_id, opponents in self.opponents.items():
            for arm in arms:
                yield f"case {case_id}, arm {arm}", self._of_trial(case_id, arm), opponents
        yield "proposal", self.proposal, None
        for case_id, choice in self.proposals.items():
            yield f"proposal of case {case_id}", choice, None
        for probe_id, choice in self.probes.items():
            yield f"probe {probe_id}", choice, None

    def _of_trial(self, case_id: str, arm: str) -> Choice:
        return self.trials.get(case_id, {}).get(arm, self.default)


def drawn(choice: Choice, key: str) -> str:
    """Return the name that a choice comes to for a key: the same on every machine and in every run."""
    if isinstance(choice, str):
        return choice
    ticket = int.from_bytes(hashlib.sha256(key.encode("utf-8")).digest()[:8], "big") % sum(choice.values())
    tickets = (name for name in sorted(choice) for _ in range(choice[name]))
    return next(name for number, name in enumerate(tickets) if number == ticket)


# From a name to a behaviour


def task_behaviour(
    name: str, initial: Files, opponents: Opponents, attacks: Mapping[str, Sequence[str]] | None = None
) -> Behaviour:
    """Return a task call's behaviour by its name.

    A call that survives its fault goes on as `oracle`, or as `nop` where there is no reference.

    Raises
    ------
    ExperimentStopped
        The name is unknown, or the case has no such solution.
    """
    kind, _, rest = name.partition(":")
    if name == "oracle":
        return _solution(name, initial, opponents.reference)
    if kind == "wrong":
        return _solution(name, initial, opponents.wrongs.get(rest or min(opponents.wrongs, default="")))
    if kind == "fault":
        reference = opponents.reference
        return spoiled(name, _said(name, DONE) if reference is None else _solution(name, initial, reference))
    if name == "nop":
        return _said(name, DONE)
    return _either(name, attacks, DONE, _TASK_NAMES)


def proposal_behaviour(
    name: str,
    expected: str | None,
    shortlist: Collection[str],
    attacks: Mapping[str, Sequence[str]] | None = None,
) -> Behaviour:
    """Return a proposal call's behaviour by its name.

    `propose:expected` answers as a perfect chooser would: the expected id if it is shortlisted, else none. Any other
    id is answered whether it is shortlisted or not. A call that survives its fault goes on as `propose:expected`.

    Raises
    ------
    ExperimentStopped
        The name is unknown.
    """
    kind, _, rest = name.partition(":")
    perfect = _proposal(expected if expected in shortlist else None)
    if kind == "fault":
        return spoiled(name, _said(name, perfect))
    if kind == "propose" and rest:
        known = {"expected": perfect, "none": _proposal(None), "garbage": GARBAGE}
        return _said(name, known.get(rest, _proposal(rest)))
    return _either(name, attacks, perfect, _PROPOSAL_NAMES)


def commands(name: str, lines: Sequence[str], last: str = DONE) -> Behaviour:
    """Return a behaviour that runs shell commands one after the other in one turn, then says `last`."""
    return Behaviour(name, (*(Run(line) for line in lines), Say(last)))


def _either(name: str, attacks: Mapping[str, Sequence[str]] | None, last: str, known: Collection[str]) -> Behaviour:
    """Return a behaviour that both kinds of call can have."""
    kind, _, rest = name.partition(":")
    if name == "refuse":
        return _said(name, REFUSAL)
    if kind == "attack" and attacks is not None and rest in attacks:
        return commands(name, attacks[rest], last)
    raise ExperimentStopped(f"rehearsal: unknown behaviour `{name}`; known here: {', '.join(known)}")


def _said(name: str, text: str) -> Behaviour:
    return Behaviour(name, (Say(text),))


def _proposal(skill: str | None) -> str:
    return json.dumps({"selectedIds": [] if skill is None else [skill]})


def _solution(name: str, initial: Files, overlay: Files | None) -> Behaviour:
    if overlay is None:
        raise ExperimentStopped(f"rehearsal: `{name}` is played, but the case has no such solution")
    return Behaviour(name, (*steps_for(initial, overlay), Say(DONE)))


# From the registered mapping to a script


def parse(
    rehearsal: Mapping[str, Any] | None,
    *,
    opponents: Mapping[str, Opponents],
    arms: Collection[str],
    probes: Collection[str],
) -> Script:
    """Check a registered rehearsal mapping and return the script.

    Parameters
    ----------
    rehearsal
        The fields of `Script` but for the opponents, each optional; None plays the oracle everywhere.
    opponents
        For every case of the corpus, the solutions that can be played.
    arms, probes
        The ids that the experiment knows.

    Raises
    ------
    ExperimentStopped
        One line names the first unknown key, id, behaviour or solution, and where it stands.
    """
    given = {} if rehearsal is None else rehearsal
    _known("key", given, _SHAPES)
    for key, value in given.items():
        fits, form = _SHAPES[key]
        if not fits(value):
            raise ExperimentStopped(f"rehearsal: `{key}` must be {form}")
    script = Script(opponents, **given)
    _known("case", script.trials, opponents)
    _known("case", script.proposals, opponents)
    _known("probe", script.probes, probes)
    for case_id, choices in script.trials.items():
        _known(f"arm of case {case_id}", choices, arms)
    for place, choice, case in script.choices(arms):
        for name in [choice] if isinstance(choice, str) else choice:
            _require_playable(name, case, script, place)
    return script


def _known(what: str, given: Collection[str], known: Collection[str]) -> None:
    for word in given:
        if word not in known:
            raise ExperimentStopped(f"rehearsal: unknown {what} `{word}`; known: {', '.join(sorted(known))}")


def _require_playable(name: str, case: Opponents | None, script: Script, place: str) -> None:
    try:
        if case is None:
            proposal_behaviour(name, None, (), script.attacks)
        else:
            task_behaviour(name, {}, case, script.attacks)
    except ExperimentStopped as stopped:
        raise ExperimentStopped(f"{stopped} ({place})") from None


def _is_seed(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_choice(value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(_is_text(name) and _is_seed(weight) and weight > 0 for name, weight in value.items())
    return _is_text(value)


def _are_commands(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


def _each(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    """Return the check of a mapping whose every value fits."""
    return lambda value: isinstance(value, Mapping) and all(_is_text(key) and fits(one) for key, one in value.items())


_CHOICE = "a behaviour, or a mapping from behaviours to positive whole weights"
_SHAPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "seed": (_is_seed, "a whole number"),
    "default": (_is_choice, _CHOICE),
    "trials": (_each(_each(_is_choice)), f"a mapping from cases to arms to {_CHOICE}"),
    "proposal": (_is_choice, _CHOICE),
    "proposals": (_each(_is_choice), f"a mapping from cases to {_CHOICE}"),
    "probes": (_each(_is_choice), f"a mapping from probes to {_CHOICE}"),
    "attacks": (_each(_are_commands), "a mapping from names to lists of shell commands"),
}


# From the opponents' trees


def overlay_from(folder: Path) -> dict[str, bytes]:
    """Read the files that an opponent's folder lays over a workspace."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / WHY)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def opponents_from(tree: Path, case_id: str) -> Opponents:
    """Read what the rehearsal may play for a case; what the tree lacks, the rehearsal can't play.

    Parameters
    ----------
    tree
        Holds `references/<case>/` and `wrong/<case>/<name>/`.
    """
    reference = tree / "references" / case_id
    wrong = tree / "wrong" / case_id
    folders = sorted(path for path in wrong.iterdir() if path.is_dir()) if wrong.is_dir() else []
    return Opponents(
        reference=overlay_from(reference) if reference.is_dir() else None,
        wrongs={folder.name: overlay_from(folder) for folder in folders},
    )
