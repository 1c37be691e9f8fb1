"""The registered script becomes behaviours; a wrong one is refused in one line; the real agent plays the right one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_tasks.errors import ExperimentStopped
from eval_tasks.rehearsal.behaviour import Behaviour, Patch, Run, Say
from eval_tasks.rehearsal.model import LoopbackModel
from eval_tasks.rehearsal.script import GARBAGE, REFUSAL, Opponents, Script, drawn, opponents_from, overlay_from, parse
from tests.bare_codex import VERSIONS, Bare, opened

INITIAL = {"sum.js": b"exports.sum = () => 0;\n", "README.md": b"# Sum\n"}
RIGHT = {"sum.js": b"exports.sum = (a, b) => a + b;\n", "lib/more.js": b"x\n"}
WRONG = {
    "minus": {"sum.js": b"exports.sum = (a, b) => a - b;\n"},
    "always-one": {"sum.js": b"exports.sum = () => 1;\n"},
}
OPPONENTS = {"sum": Opponents(RIGHT, WRONG), "bare": Opponents(RIGHT)}
ARMS = ("full", "manual-lean", "auto-lean")
PROBES = ("exact-one", "near-one")


def parsed(**rehearsal: Any) -> Script:
    return parse(rehearsal, opponents=OPPONENTS, arms=ARMS, probes=PROBES)


def said(behaviour: Behaviour) -> str:
    (step,) = behaviour.steps
    assert isinstance(step, Say)
    return step.text


# Which behaviour a call gets


def test_without_a_script_the_oracle_plays_everywhere_and_proposals_are_right() -> None:
    script = parse(None, opponents=OPPONENTS, arms=ARMS, probes=PROBES)

    assert {script.task_name(case, arm, repeat) for case in OPPONENTS for arm in ARMS for repeat in (1, 2)} == {
        "oracle"
    }
    assert {script.proposal_name("sum", "auto-lean", 1), script.probe_name("near-one")} == {"propose:expected"}


def test_a_trial_is_named_by_case_and_arm_and_falls_back_to_the_default() -> None:
    script = parsed(default="nop", trials={"sum": {"full": "oracle", "auto-lean": "wrong:minus"}})

    assert [script.task_name("sum", arm, 1) for arm in ARMS] == ["oracle", "nop", "wrong:minus"]
    assert script.task_name("bare", "full", 1) == "nop"


def test_proposals_are_named_by_case_and_by_probe() -> None:
    script = parsed(
        proposal="propose:none", proposals={"sum": "propose:garbage"}, probes={"near-one": "propose:api-design"}
    )

    assert [script.proposal_name(case, "auto-lean", 1) for case in OPPONENTS] == ["propose:garbage", "propose:none"]
    assert [script.probe_name(probe) for probe in PROBES] == ["propose:none", "propose:api-design"]


def test_a_mix_is_drawn_by_seed_and_trial_in_the_proportion_of_its_weights() -> None:
    mix = {"oracle": 3, "nop": 1}
    keys = [(arm, repeat) for arm in ARMS for repeat in range(1, 401)]
    names = [parsed(default=mix, seed=7).task_name("sum", *key) for key in keys]
    other = [parsed(default=mix, seed=8).task_name("sum", *key) for key in keys]

    assert names == [parsed(default=mix, seed=7).task_name("sum", *key) for key in keys]
    assert names != other
    assert 0.7 < Counter(names)["oracle"] / len(names) < 0.8


def test_a_draw_is_the_same_on_every_machine() -> None:
    # Computed with sha256sum: the first eight bytes of the key's digest, modulo the sum of the weights.
    assert [drawn({"a": 1, "b": 1, "c": 2}, f"0:task:x:full:{repeat}") for repeat in range(1, 9)] == list("ccccbabc")


# What a behaviour does


def test_the_oracle_overlays_the_reference_and_a_wrong_solution_its_own_files() -> None:
    script = parsed(trials={"sum": {"full": "oracle", "manual-lean": "wrong:minus", "auto-lean": "wrong"}})
    steps = [script.task("sum", arm, 1, INITIAL).steps for arm in ARMS]

    assert all(isinstance(of_arm[0], Patch) and of_arm[-1] == Say("Done.") for of_arm in steps)
    added = [re.findall(r"(?m)^\+(.*)$", of_arm[0].text) for of_arm in steps if isinstance(of_arm[0], Patch)]
    assert added == [
        ["x", "exports.sum = (a, b) => a + b;"],
        ["exports.sum = (a, b) => a - b;"],
        ["exports.sum = () => 1;"],
    ]


def test_nop_and_refusal_only_speak() -> None:
    script = parsed(trials={"sum": {"full": "nop", "manual-lean": "refuse"}})

    assert said(script.task("sum", "full", 1, INITIAL)) == "Done."
    assert said(script.task("sum", "manual-lean", 1, INITIAL)) == REFUSAL


def test_an_attack_runs_its_commands_in_order_in_one_turn() -> None:
    script = parsed(default="attack:look", attacks={"look": ["id", "ls /"]})

    assert script.task("sum", "full", 1, INITIAL).steps == (Run("id"), Run("ls /"), Say("Done."))


def test_a_fault_is_laid_over_the_oracle_or_over_nothing_where_there_is_no_reference() -> None:
    script = parse(
        {"default": "fault:zero-usage"}, opponents={"sum": OPPONENTS["sum"], "none": Opponents()}, arms=ARMS, probes=()
    )

    assert isinstance(script.task("sum", "full", 1, INITIAL).steps[0], Patch)
    assert script.task("none", "full", 1, INITIAL).steps == (Say("Done."),)


@pytest.mark.parametrize(
    ("name", "shortlist", "answer"),
    [
        ("propose:expected", ["tdd", "api-design"], '{"selectedIds": ["api-design"]}'),
        ("propose:expected", ["tdd"], '{"selectedIds": []}'),
        ("propose:none", ["api-design"], '{"selectedIds": []}'),
        ("propose:elsewhere", ["api-design"], '{"selectedIds": ["elsewhere"]}'),
        ("propose:garbage", ["api-design"], GARBAGE),
        ("refuse", ["api-design"], REFUSAL),
    ],
)
def test_a_proposal_says_what_its_name_says(name: str, shortlist: list[str], answer: str) -> None:
    script = parsed(proposal=name)
    of_trial = script.trial_proposal("sum", "auto-lean", 1, expected="api-design", shortlist=shortlist)
    of_probe = script.probe_proposal("near-one", expected="api-design", shortlist=shortlist)

    assert said(of_trial) == said(of_probe) == answer


def test_a_proposal_that_survives_its_fault_is_the_expected_one() -> None:
    behaviour = parsed(proposal="fault:transient").probe_proposal("near-one", expected="a", shortlist=["a"])

    assert json.loads(said(behaviour)) == {"selectedIds": ["a"]}
    assert behaviour.fault is not None


def test_expecting_nothing_proposes_nothing() -> None:
    behaviour = parsed().probe_proposal("near-one", expected=None, shortlist=["a"])

    assert json.loads(said(behaviour)) == {"selectedIds": []}


# What is refused


@pytest.mark.parametrize(
    ("rehearsal", "words"),
    [
        ({"defaults": "oracle"}, "unknown key `defaults`; known: attacks, default, "),
        ({"default": "orakel"}, "unknown behaviour `orakel`; known here: oracle, nop, .* (case sum, arm full)"),
        ({"default": "oracle:"}, "unknown behaviour `oracle:`"),
        ({"default": "propose:none"}, "unknown behaviour `propose:none`"),
        ({"default": "fault:flood"}, "unknown fault `fault:flood`; known: .* (case sum, arm full)"),
        ({"default": "attack:x"}, "unknown behaviour `attack:x`"),
        ({"default": "wrong"}, "`wrong` is played, but the case has no such solution (case bare, arm full)"),
        ({"trials": {"sum": {"full": "wrong:x"}}}, "`wrong:x` is played, but .* (case sum, arm full)"),
        ({"trials": {"x": {"full": "nop"}}}, "unknown case `x`; known: bare, sum"),
        ({"trials": {"sum": {"half": "nop"}}}, "unknown arm of case sum `half`; known: auto-lean, full, manual-lean"),
        ({"proposal": "oracle"}, "unknown behaviour `oracle`; known here: propose:expected, .* (proposal)"),
        ({"proposals": {"x": "refuse"}}, "unknown case `x`"),
        ({"proposals": {"sum": "propose:"}}, "unknown behaviour `propose:`.* (proposal of case sum)"),
        ({"probes": {"x": "refuse"}}, "unknown probe `x`; known: exact-one, near-one"),
        ({"probes": {"near-one": "nop"}}, "unknown behaviour `nop`.* (probe near-one)"),
        ({"default": {"oracle": 1, "nix": 1}}, "unknown behaviour `nix`"),
        ({"default": {}}, "`default` must be a behaviour, or a mapping"),
        ({"default": {"oracle": 0}}, "`default` must be a behaviour, or a mapping"),
        ({"default": {"oracle": True}}, "`default` must be a behaviour, or a mapping"),
        ({"default": None}, "`default` must be a behaviour, or a mapping"),
        ({"seed": "1"}, "`seed` must be a whole number"),
        ({"trials": {"sum": "nop"}}, "`trials` must be a mapping from cases to arms"),
        ({"probes": ["near-one"]}, "`probes` must be a mapping from probes"),
        ({"attacks": {"x": "ls"}}, "`attacks` must be a mapping from names to lists"),
    ],
)
def test_a_wrong_script_is_refused_in_one_line(rehearsal: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentStopped) as stopped:
        parsed(**rehearsal)
    line = str(stopped.value)

    assert re.match("rehearsal: " + words.replace("(", r"\(").replace(")", r"\)"), line), line
    assert "\n" not in line


def test_a_case_without_reference_is_refused_only_where_the_oracle_plays_it() -> None:
    unsolved = {"sum": Opponents(None, WRONG)}
    with pytest.raises(ExperimentStopped, match=r"`oracle` is played, but .* \(case sum, arm full\)"):
        parse({}, opponents=unsolved, arms=ARMS, probes=())

    parse({"trials": {"sum": dict.fromkeys(ARMS, "wrong")}}, opponents=unsolved, arms=ARMS, probes=())


# The opponents' trees


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_opponents_are_read_byte_for_byte_without_what_is_said_about_them(tmp_path: Path) -> None:
    write(tmp_path / "references" / "sum", {"a/b.js": b"\r\n\xff", "why.md": b"kept\n"})
    write(tmp_path / "wrong" / "sum" / "one", {"a/b.js": b"1", "why.yaml": b"why: x\n", "a/why.yaml": b"kept\n"})
    write(tmp_path / "wrong" / "sum" / "two", {"why.yaml": b"why: x\n"})
    found = opponents_from(tmp_path, "sum")

    assert found.reference == {"a/b.js": b"\r\n\xff", "why.md": b"kept\n"}
    assert found.wrongs == {"one": {"a/b.js": b"1", "a/why.yaml": b"kept\n"}, "two": {}}
    assert overlay_from(tmp_path / "wrong" / "sum" / "one") == found.wrongs["one"]


def test_a_case_without_opponents_has_none(tmp_path: Path) -> None:
    assert opponents_from(tmp_path, "sum") == Opponents(None, {})


# The real agent


@pytest.fixture(scope="module", params=VERSIONS)
def codex(request: pytest.FixtureRequest) -> Iterator[Bare]:
    with opened(request.param) as bare:
        yield bare


@pytest.mark.agent
@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("oracle", {**INITIAL, **RIGHT}),
        ("wrong:minus", {**INITIAL, **WRONG["minus"]}),
        ("nop", INITIAL),
        ("refuse", INITIAL),
        ("attack:tamper", {**INITIAL, "README.md": b"!\n"}),
    ],
)
def test_the_agent_leaves_what_the_script_says(codex: Bare, name: str, left: dict[str, bytes]) -> None:
    script = parsed(trials={"sum": {"full": name}}, attacks={"tamper": ["false", "echo '!' > README.md"]})
    codex.write(INITIAL)
    with LoopbackModel() as model, model.play(script.task("sum", "full", 1, INITIAL)) as endpoint:
        turn = codex.exec(endpoint)

    assert (turn.exit_status, turn.last) == (0, "turn.completed")
    assert codex.files() == left
    assert turn.message == (REFUSAL if name == "refuse" else "Done.")
    assert [item["exit_code"] for item in turn.items("command_execution")] == (
        [1, 0] if name == "attack:tamper" else []
    )


@pytest.mark.agent
@pytest.mark.parametrize("name", ["propose:expected", "propose:none", "propose:other", "propose:garbage"])
def test_the_agent_passes_a_proposal_on_unchanged(codex: Bare, name: str) -> None:
    proposed = parsed(proposal=name).probe_proposal("near-one", expected="a", shortlist=["a"])
    with LoopbackModel() as model, model.play(proposed) as endpoint:
        turn = codex.exec(endpoint)

    assert turn.message == said(proposed)
    assert endpoint.request_count == 1
