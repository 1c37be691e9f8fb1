"""The proof of a corpus: what it finds, what it keeps, and that it follows from the contents alone."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.grading import lints, proof, trying
from eval_tasks.grading.grader import Runtime, Verdict
from eval_tasks.grading.opponents import ESCAPED, Opponent
from eval_tasks.grading.proof import Proof
from eval_tasks.grading.syntax import Mutant, Parser

ROOT = Path(__file__).resolve().parents[1]
MODULES = ROOT / "toolchain" / "node_modules"
BUBBLEWRAPS = sorted(MODULES.glob("@openai/codex-linux-*/vendor/*/codex-resources/bwrap"))
ATTACKS = (
    "before/exit-0-at-import.js",
    "before/early-answers.js",
    "generic/yes-to-all.js",
    "generic/echo.js",
    "after/previous-answer.js",
)

INITIAL = "'use strict';\nexports.fee = (days) => 10;\n"
REFERENCE = "'use strict';\nexports.fee = (days) => {\n  if (days <= 3) return 10;\n  return 10 + (days - 3) * 2;\n};\n"
ALTERNATIVE = "'use strict';\nexports.fee = (days) => 10 + 2 * Math.max(0, days - 3);\n"
WRONG = {
    "early-bird": ("(days) => (days === 1 ? 11 : 10 + 2 * Math.max(0, days - 3))", "the first days cost the base fee"),
    "forgets-one": ("(days) => (days === 4 ? 10 : 10 + 2 * Math.max(0, days - 3))", "the fourth day costs more"),
    "one-step": ("(days) => (days > 3 ? 12 : 10)", "each further day costs more"),
    "by-half": ("(days) => 10 + Math.max(0, days - 3)", "the fourth day costs more"),
}
GRADER = """module.exports = async ({ subject, assert }) => {
  const fee = (days) => subject.run((load, days) => load('./fee.js').fee(days), days);
  assert.deepStrictEqual([await fee(1), await fee(3)], [10, 10], 'the first days cost the base fee');
  assert.strictEqual(await fee(4), 12, 'the fourth day costs more');
  assert.strictEqual(await fee(9), 22, 'each further day costs more');
};
"""
PROMPT = "Charge more from the fourth day on, two for each day."


class Corpus:
    """A corpus of small cases with its opponents, in a folder of the test."""

    def __init__(self, root: Path) -> None:
        self.corpus, self.tests, self.cache = root / "corpus", root / "tests", root / "cache"
        statement = {"schemaVersion": "context-eval.corpus.v1", "id": "small@1", "sampling": "Made for a test."}
        self.yaml(
            self.corpus / "corpus.yaml", {**statement, "minimumCases": 30, "minimumProbes": 30, "marginPoints": 5}
        )
        probe = {
            "id": "none-sum",
            "category": "none",
            "prompt": "Add 1 and 2.",
            "half": "tune",
            "why": "No skill bears on it.",
        }
        self.yaml(self.corpus / "probes.yaml", {"probes": [{**probe, "expect": {"selected": []}}]})
        for name in ATTACKS:
            self.text(self.tests / "attacks" / name, (ROOT / "tests" / "attacks" / name).read_text("utf-8"))

    def add(
        self, case_id: str = "late-fees", *, grader: str = GRADER, prompt: str = PROMPT, skill: str | None = None
    ) -> None:
        """Add a sound case."""
        folder = self.corpus / "cases" / case_id
        value = {
            "id": case_id,
            "category": "money",
            "prompt": prompt,
            "skill": skill,
            "hastyFails": True,
            "vocabulary": "plain",
        }
        self.yaml(folder / "case.yaml", {**value, "bearsOn": "a reason"} if skill else {**value, "bearsOn": None})
        self.text(folder / "workspace" / "fee.js", INITIAL)
        self.text(folder / "grader.cjs", grader)
        self.text(self.tests / "references" / case_id / "fee.js", REFERENCE)
        self.text(self.tests / "alternatives" / case_id / "shorter" / "fee.js", ALTERNATIVE)
        for name, (body, label) in WRONG.items():
            self.wrong(case_id, name, body, label)

    def wrong(self, case_id: str, name: str, body: str, label: str) -> None:
        """Add or change a wrong solution."""
        folder = self.tests / "wrong" / case_id / name
        self.text(folder / "fee.js", f"'use strict';\nexports.fee = {body};\n")
        self.yaml(folder / "why.yaml", {"why": "It is wrong.", "fails": label})

    @staticmethod
    def text(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    @classmethod
    def yaml(cls, path: Path, value: object) -> None:
        cls.text(path, yaml.safe_dump(value, sort_keys=False))


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    found = Runtime.find(bubblewrap=BUBBLEWRAPS[0])
    assert found.fault is None, found.fault
    return found


@pytest.fixture(scope="module")
def parser(runtime: Runtime) -> Parser:
    assert (MODULES / "acorn").is_dir(), "run `make toolchain` first: the lints need acorn"
    return Parser(runtime.machine.node, MODULES / "acorn")


@pytest.fixture
def made(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


@pytest.fixture
def prove(runtime: Runtime, parser: Parser, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Proof]:
    """Prove with few flake runs."""
    monkeypatch.setattr(trying, "FLAKE_RUNS", 2)
    monkeypatch.setattr(trying, "THOROUGH_RUNS_EACH", 1)

    def run(made: Corpus, **options: object) -> Proof:
        settings = {"jobs": 2, "parser": parser, "cache": made.cache, **options}
        return proof.prove(made.corpus, made.tests, runtime, **settings)  # type: ignore[arg-type]

    return run


def test_a_sound_case_is_proven_once_and_for_all(made: Corpus, prove: Callable[..., Proof], parser: Parser) -> None:
    made.add()
    calls: list[tuple[int, int, str]] = []
    first = prove(made, progress=lambda *call: calls.append(call))
    assert first.faults == ()
    assert dict(first.cases[0].counts) == {
        "references": 1,
        "alternatives": 1,
        "wrong": 4,
        "generic": 3,
        "attacks": 10,
        "checks": 3,
    }
    assert [done for done, _, _ in calls] == list(range(1, calls[-1][1] + 1))
    records.check("proof", first.value, "proof")
    assert proof.is_current(first.value, made.corpus, made.tests)

    calls.clear()
    again = prove(made, progress=lambda *call: calls.append(call))
    assert (calls, again.value) == ([], first.value)

    made.add("other-fees")
    prove(made, progress=lambda *call: calls.append(call))
    assert {case for _, _, case in calls} == {"other-fees"}
    assert not proof.is_current(first.value, made.corpus, made.tests)


def test_any_change_of_an_opponent_or_an_attack_asks_for_a_new_proof(made: Corpus, prove: Callable[..., Proof]) -> None:
    made.add()
    first = prove(made)
    assert first.passed
    for path in (
        "alternatives/late-fees/shorter/fee.js",
        "attacks/generic/echo.js",
        "wrong/late-fees/by-half/why.yaml",
    ):
        original = (made.tests / path).read_text("utf-8")
        made.text(made.tests / path, original.replace("wrong", "not right") + "\n")
        changed = not path.endswith("why.yaml")
        assert proof.is_current(first.value, made.corpus, made.tests) is not changed
        made.text(made.tests / path, original)
    made.wrong("late-fees", "by-half", "(days) => 10", "the fourth day costs more")
    assert not proof.is_current(first.value, made.corpus, made.tests)


def test_every_kind_of_fault_is_found_and_nothing_faulty_is_kept(made: Corpus, prove: Callable[..., Proof]) -> None:
    made.add(prompt="Use late fees. Fees are due for days that come late.", skill="late-fees")
    made.wrong("late-fees", "is-right", "(days) => 10 + 2 * Math.max(0, days - 3)", "the fourth day costs more")
    made.wrong("late-fees", "elsewhere", "(days) => 10 + days * 2", "the fourth day costs more")
    made.wrong("late-fees", "unknown", "(days) => 11", "no such check")
    made.text(made.tests / "alternatives" / "late-fees" / "broken" / "fee.js", "throw new Error('x');\n")
    found = prove(made, descriptions={"late-fees": "When fees are due for days"})
    base = "the first days cost the base fee"
    assert set(found.cases[0].faults) == {
        "the prompt names its skill, late-fees",
        "the prompt quotes its skill's description: 'fees are due for'",
        "alternative/broken must pass and fails: threw: Error",
        "wrong/is-right passes",
        f"wrong/elsewhere must fail at 'the fourth day costs more' and fails at {base!r}",
        f"wrong/unknown must fail at 'no such check' and fails at {base!r}",
        "wrong/unknown names a check that the reference does not meet",
    }
    assert "7 faults" in found.summary
    assert list(made.cache.glob("*")) == []


def test_a_weak_grader_is_found(made: Corpus, prove: Callable[..., Proof]) -> None:
    made.add(
        grader="""module.exports = async ({ subject, assert }) => {
  assert.equal(await subject.run((load) => load('./fee.js').fee(4) === 12), true, 'a');
  assert.ok(await subject.run((load) => load('./fee.js').fee(9)), 'a');
  assert.ok(await subject.run((load) => load('./fee.js').fee(9)));
};
"""
    )
    faults = prove(made).cases[0].faults
    assert "generic/yes-to-all passes" in faults
    assert "a driver compares instead of returning a value: (load) => load('./fee.js').fee(4) === 12" in faults
    assert "a driver only ever returns one boolean: (load) => load('./fee.js').fee(4) === 12" in faults
    assert "the label 'a' stands on 2 checks" in faults
    assert "1 checks have no label" in faults


def test_a_reference_that_depends_on_its_surroundings_is_found(
    made: Corpus, prove: Callable[..., Proof], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "FLAKE_RUNS", 6)
    made.add()
    made.text(
        made.tests / "references" / "late-fees" / "fee.js", REFERENCE.replace("<= 3", "<= 3 + new Date(0).getHours()")
    )
    faults = prove(made).cases[0].faults
    assert "the reference fails in Pacific/Kiritimati, tr_TR.UTF-8: the fourth day costs more" in faults
    assert not any("UTC" in fault for fault in faults)


def test_a_thorough_proof_tries_mutants_and_asks_what_each_check_is_for(
    made: Corpus, prove: Callable[..., Proof]
) -> None:
    made.add(grader=GRADER.replace("};\n", "  assert.strictEqual(await fee(100), 204, 'long ago');\n};\n"))
    faults = prove(made, thorough=True).cases[0].faults
    assert faults == (
        "no wrong solution needs the check 'each further day costs more'",
        "no wrong solution needs the check 'long ago'",
        "the mutant fee.js:3:12 <= -> < passes",
    )
    made.add()
    made.text(
        made.tests / "mutants" / "late-fees.yaml", "fee.js:3:12 <= -> <: Both branches give 10 on the third day.\n"
    )
    thorough = prove(made, thorough=True)
    assert thorough.faults == ()
    mutants = thorough.cases[0].mutants
    assert mutants is not None
    assert (mutants.killed, mutants.excused) == (mutants.total - 1, 1)
    assert mutants.total > 8
    # What was proven thoroughly is proven, on this machine and, by the record, on another.
    assert prove(made).value == thorough.value
    shutil.rmtree(made.cache)
    assert prove(made, previous=thorough.value).value == thorough.value
    assert prove(made, cache=None).cases[0].mutants is None


def test_a_machine_that_can_not_grade_proves_nothing(made: Corpus, runtime: Runtime) -> None:
    made.add()
    with pytest.raises(ExperimentStopped, match="can't be proven here: no box"):
        proof.prove(made.corpus, made.tests, replace(runtime, fault="no box"), jobs=1)
    bare = replace(runtime, machine=replace(runtime.machine, bubblewrap=None))
    with pytest.raises(ExperimentStopped, match="its attacks would reach this machine"):
        proof.prove(made.corpus, made.tests, bare, jobs=1)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda tests: shutil.rmtree(tests / "references" / "late-fees"),
            "references/late-fees: there is no such folder",
        ),
        (
            lambda tests: Corpus.text(tests / "wrong/late-fees/by-half/why.yaml", "why: x\n"),
            "wrong/late-fees/by-half/why.yaml:1: must have exactly",
        ),
        (
            lambda tests: Corpus.text(tests / "wrong/late-fees/by-half/why.yaml", "why: x\nfails: ''\n"),
            "must have exactly",
        ),
        (
            lambda tests: Corpus.text(tests / "mutants/late-fees.yaml", "- a\n"),
            "mutants/late-fees.yaml: must give a reason",
        ),
    ],
)
def test_malformed_opponents_stop_with_one_line(
    made: Corpus, runtime: Runtime, spoil: Callable[[Path], None], message: str
) -> None:
    made.add()
    spoil(made.tests)
    with pytest.raises(ExperimentStopped, match=message) as stopped:
        proof.prove(made.corpus, made.tests, runtime, jobs=1)
    assert "\n" not in str(stopped.value)


# What a verdict says about an opponent

FAILED = Verdict(False, FailureCode.HIDDEN_CHECK, 1, "a", 1)
PASSED = Verdict(True, None, 1, "", 1)
LOST = Verdict(False, FailureCode.GRADING_FAILED, 0, "no Node", 1)
ANY = Opponent("attack", "any", {})


@pytest.mark.parametrize(
    ("opponent", "verdict", "fault"),
    [
        (ANY, FAILED, None),
        (ANY, PASSED, "passes"),
        (ANY, LOST, "must get hidden-check and gets grading-failed: no Node"),
        (ANY, replace(FAILED, detail=f"x\n{ESCAPED} read /"), "could do what it must not"),
        (replace(ANY, code=FailureCode.GRADER_PLANTED), FAILED, "must get grader-planted and gets hidden-check: a"),
        (replace(ANY, label="a"), FAILED, None),
        (replace(ANY, label="b"), FAILED, "must fail at 'b' and fails at 'a'"),
        (replace(ANY, must_pass=True), PASSED, None),
        (replace(ANY, must_pass=True), FAILED, "must pass and fails: a"),
        (replace(ANY, must_pass=True), LOST, "must pass and fails: no Node"),
    ],
)
def test_a_verdict_is_held_against_what_must_become_of_the_opponent(
    opponent: Opponent, verdict: Verdict, fault: str | None
) -> None:
    assert trying.fault_of(opponent, verdict) == fault


# Lints


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Make the API  Design better", ["the prompt names its skill, api-design"]),
        ("the designed api", []),
        (
            "REST patterns, for paging and filters!",
            ["the prompt quotes its skill's description: 'rest patterns for paging'"],
        ),
        ("REST patterns for sorting", []),
    ],
)
def test_a_prompt_gives_nothing_of_its_skill_away(prompt: str, found: list[str]) -> None:
    assert lints.of_prompt(prompt, "api-design", "REST patterns for paging") == found
    assert lints.of_prompt(prompt, None, None) == []


def test_reasons_that_are_no_labels_may_be_stated() -> None:
    stated = {"one": "threw: TypeError", "two": "subject: exited", "three": "c"}
    assert lints.of_labels(["a", "b"], stated) == ["wrong/three names a check that the reference does not meet"]


@pytest.mark.parametrize(
    ("driver", "compares"),
    [
        ("(load, x) => load('./a.js')(x) === 6", True),
        ("async (load) => { const r = await load('./a.js')(); return !r; }", True),
        ("(load) => { try { load('./a.js')(); return false; } catch { return true; } }", True),
        ("(load, x) => require('node:util').isDeepStrictEqual(load('./a.js')(x), x)", True),
        ("function (load, x) { return load('./a.js')(x) > 3 && x < 2; }", True),
        ("(load, x) => load('./a.js').isOpen(x)", False),
        ("(load, xs) => xs.filter((x) => x > 3)", False),
        ("(load, x) => { for (let i = 0; i < 3; i += 1) if (x === i) return load('./a.js')(i); return null; }", False),
        ("(load, x) => { const same = load('./a.js')(x) === x; return { same, x }; }", False),
    ],
)
def test_a_driver_that_judges_is_told_from_one_that_reports(parser: Parser, driver: str, compares: bool) -> None:
    assert parser.comparing([driver]) == ([driver] if compares else [])


def test_mutants_change_operators_boundaries_constants_and_conditions(parser: Parser) -> None:
    module = textwrap.dedent("""\
        'use strict';
        const a = require('./a.js');
        module.exports = (n) => {
          if (n <= 3 && !a) n++;
          return { kind: n ? 'big' : 'far too big', on: true, sum: n + 1 };
        };
        """)
    named = [mutant.named("m.js", module) for mutant in parser.mutants(module)]
    assert named == [
        "m.js:4:7 n <= 3 && !a -> !(n <= 3 && !a)",
        "m.js:4:9 <= -> <",
        "m.js:4:12 3 -> 4",
        "m.js:4:14 && -> ||",
        "m.js:4:17 ! -> nothing",
        "m.js:4:22 ++ -> --",
        "m.js:5:18 n -> !(n)",
        "m.js:5:22 'big' -> ''",
        "m.js:5:49 true -> false",
        "m.js:5:62 + -> -",
        "m.js:5:64 1 -> 2",
    ]
    assert Mutant(0, 1, "x").applied("abc") == "xbc"


def test_what_is_no_javascript_stops_with_one_line(parser: Parser) -> None:
    with pytest.raises(ExperimentStopped, match="can't be parsed as JavaScript"):
        parser.mutants("const = ;")
