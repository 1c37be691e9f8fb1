from __future__ import annotations

import copy
import getpass
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_tasks import digests, records, registration, schedule
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.paths import Project
from tests import small_project

HEX = r"[0-9a-f]{12}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return small_project.make(tmp_path / "p")


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return one design that tests may copy but never change."""
    return small_project.design(small_project.make(tmp_path_factory.mktemp("design") / "p"))


# The design and its identity


@pytest.mark.parametrize("overrides", [{}, {"backend": "codex", "effort": "high"}, {"backend": "codex", "repeats": 3}])
def test_a_registration_survives_its_schema_and_the_disk(project: Project, overrides: dict[str, Any]) -> None:
    value = small_project.registered(project, **overrides)
    found = registration.read(small_project.retain(project, value))
    assert found == value
    assert (found.id, len(found.digest)) == (found.digest[:12], 64)
    assert found.rehearsing == (not overrides)


def test_the_id_covers_the_design_and_the_attempt(project: Project) -> None:
    plain = small_project.registered(project)
    again = small_project.registered(project, reason="once more")
    other = small_project.registered(project, repeats=2)
    assert plain == small_project.registered(project)
    assert len({plain.id, again.id, other.id}) == 3
    assert plain.design == again.design


def test_the_design_is_the_same_wherever_the_project_lies(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.root, tmp_path / "another-place")
    assert small_project.design(Project(tmp_path / "another-place")) == small_project.design(project)


def test_the_design_holds_no_path_and_no_user_of_this_machine(project: Project) -> None:
    small_project.change_settings(project, library={"folder": str(project.root / "skills")})
    text = records.canonical(small_project.design(project)).decode("utf-8")
    for private in (str(project.root), str(Path.home()), str(Path(__file__).parent), f'"{getpass.getuser()}"'):
        assert private not in text


def test_the_schedule_is_bound_in_order_with_every_trial_and_probe(project: Project) -> None:
    found = small_project.registered(project, repeats=2)
    assert found.trials == schedule.trials(["bread", "cake"], ["full", "manual-lean", "auto-lean"], 2)
    assert found.probes == ["near-bread", "no-bread"]


def test_every_lean_arm_is_compared_with_full_and_with_nothing_else(project: Project) -> None:
    assert small_project.design(project)["analysis"]["comparisons"] == [["auto-lean", "full"], ["manual-lean", "full"]]
    small_project.change_settings(project, arms=["full", "auto-lean"])
    assert small_project.design(project)["analysis"]["comparisons"] == [["auto-lean", "full"]]


def test_a_real_provider_makes_evidence_of_its_own_without_a_script(project: Project) -> None:
    live, rehearsal = small_project.design(project, backend="codex"), small_project.design(project)
    assert (live["evidence"], live["rehearsal"], live["authentication"]) == ("live", None, "api-key")
    assert (rehearsal["evidence"], rehearsal["rehearsal"]) == ("rehearsal", {"default": "oracle"})
    assert rehearsal["authentication"] == "none"


@pytest.mark.parametrize("place", [("design", "limits", "calls"), ("attempt", "number")])
def test_a_registration_that_was_changed_afterwards_is_refused(project: Project, place: tuple[str, ...]) -> None:
    found = small_project.retain(project, small_project.registered(project))
    value = json.loads(found.registration.read_bytes())
    target = value
    for part in place[:-1]:
        target = target[part]
    target[place[-1]] += 1
    found.registration.write_text(json.dumps(value), "utf-8")
    with pytest.raises(ExperimentStopped, match=f"^registration.json of {found.id} was changed after it was written"):
        registration.read(found)


def test_a_registration_with_a_key_of_its_own_is_refused(project: Project) -> None:
    found = small_project.retain(project, small_project.registered(project))
    value = json.loads(found.registration.read_bytes())
    value["design"]["retries"] = 3
    found.registration.write_text(json.dumps(value), "utf-8")
    with pytest.raises(ExperimentStopped, match=r"^registration\.json: design: unknown key 'retries'; "):
        registration.read(found)


def test_the_current_experiment_is_the_one_that_was_made_current(project: Project) -> None:
    first = small_project.retain(project, small_project.registered(project))
    assert registration.current(project) == first
    second = small_project.retain(project, small_project.registered(project, reason="again"))
    assert registration.require_current(project) == second != first


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"0123456789ab\n"])
def test_without_a_registration_the_way_on_is_named(project: Project, content: bytes | None) -> None:
    if content is not None:
        project.experiments.mkdir()
        project.current.write_bytes(content)
    assert registration.current(project) is None
    with pytest.raises(ExperimentStopped, match=r"^no experiment is registered here; run `doit register` first$"):
        registration.require_current(project)


# What has changed

Change = Callable[[Project], None]


def appended(name: str, text: str = "\n") -> Change:
    def change(project: Project) -> None:
        path = project.root / name
        path.write_text(path.read_text("utf-8") + text, "utf-8")

    return change


def set_to(**changes: Any) -> Change:
    return lambda project: small_project.change_settings(project, **changes)


def lean(*skills: str) -> Change:
    def change(project: Project) -> None:
        value = {"id": "lean@1", "skills": list(skills), "required": [], "exclude": []}
        small_project.dump(project.root / "corpus" / "profiles" / "lean.yaml", value)

    return change


def renamed_skill(project: Project) -> None:
    (project.root / "skills" / "frying").rename(project.root / "skills" / "grilling")


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (appended("corpus/cases/cake/grader.cjs"), [f"corpus/cases/cake/grader.cjs: {HEX} -> {HEX}"]),
        (appended("corpus/cases/bread/workspace/index.js"), [f"corpus/cases/bread/workspace/index.js: {HEX} -> {HEX}"]),
        (appended("corpus/probes.yaml", "# note\n"), [f"corpus/probes.yaml: {HEX} -> {HEX}"]),
        (
            lambda project: small_project.add_case(project.root, "pie"),
            [
                f"corpus/cases/pie/{name}: nothing -> {HEX}"
                for name in ("case.yaml", "grader.cjs", "workspace/index.js")
            ],
        ),
        (appended("skills/frying/SKILL.md"), [f"skill frying: {HEX} -> {HEX}"]),
        (
            renamed_skill,
            [
                f"skill frying: {HEX} -> nothing",
                f"skill grilling: nothing -> {HEX}",
                f"profiles.full.digest: {HEX} -> {HEX}",
                r'profiles.full.skills: \["baking","frying","icing"\] -> \["baking","grilling","icing"\]',
            ],
        ),
        (
            lean("baking", "icing"),
            [f"profiles.lean.digest: {HEX} -> {HEX}", r'profiles.lean.skills: \["icing"\] -> \["baking","icing"\]'],
        ),
        (set_to(limits={"calls": 299}), ["limits.calls: 300 -> 299"]),
        (set_to(agent={"model": "gpt-6"}), ["agent.model: gpt-5.5 -> gpt-6"]),
        (set_to(agent={"effort": "low"}), ["agent.effort: null -> low"]),
        (set_to(isolation="agent-sandbox"), ["isolation: sealed -> agent-sandbox"]),
        (set_to(repeats=2), ["repeats: 1 -> 2"]),
        (set_to(rehearsal={"default": "nop"}), ["rehearsal.default: oracle -> nop"]),
        (appended("dodo.py"), [f"dodo.py: {HEX} -> {HEX}"]),
        (appended("eval.yaml", "# a remark\n"), []),
    ],
)
def test_each_change_gets_the_line_of_its_cause_and_no_line_of_what_only_follows(
    project: Project, change: Change, lines: list[str]
) -> None:
    before = small_project.design(project)
    assert registration.changes(before, small_project.design(project)) == []
    change(project)
    found = registration.changes(before, small_project.design(project))
    assert len(found) == len(lines)
    for line, pattern in zip(found, lines, strict=True):
        assert re.fullmatch(pattern, line)


def test_every_cause_has_its_own_line_and_hides_no_other(project: Project) -> None:
    before = small_project.design(project)
    for change in (
        set_to(limits={"calls": 299}, agent={"model": "gpt-6"}, arms=["full", "auto-lean"], repeats=2, name="other"),
        appended("corpus/cases/cake/grader.cjs"),
        appended("skills/frying/SKILL.md"),
        appended("dodo.py"),
    ):
        change(project)
    found = [line.split(":")[0] for line in registration.changes(before, small_project.design(project))]
    assert found == [
        "agent.model",
        "analysis.comparisons",
        "arms",
        "corpus/cases/cake/grader.cjs",
        "skill frying",
        "limits.calls",
        "name",
        "repeats",
        "dodo.py",
    ]


def test_a_changed_margin_is_named_by_its_file_and_by_its_number(project: Project) -> None:
    before = small_project.design(project)
    path = project.root / "corpus" / "corpus.yaml"
    path.write_text(path.read_text("utf-8").replace("marginPoints: 5", "marginPoints: 7"), "utf-8")
    found = registration.changes(before, small_project.design(project))
    assert [line.split(":")[0] for line in found] == ["analysis.marginPoints", "corpus/corpus.yaml"]
    assert found[0] == "analysis.marginPoints: 5 -> 7"


def test_a_flag_that_says_what_the_file_says_is_still_a_change(project: Project) -> None:
    before, after = small_project.design(project), small_project.design(project, maxCalls=300)
    assert registration.changes(before, after) == ["overrides.maxCalls: nothing -> 300"]


def test_a_changed_source_is_named_by_its_path(design: dict[str, Any]) -> None:
    for part, name in (("execution", "eval_tasks/journal.py"), ("analysis", "eval_tasks/intervals.py")):
        after = copy.deepcopy(design)
        old = after["sources"][part][name]
        after["sources"][part][name] = "f" * 64
        assert registration.changes(design, after) == [f"{name}: {old[:12]} -> ffffffffffff"]


def test_the_execution_ignores_the_sources_of_the_analysis_and_nothing_else(design: dict[str, Any]) -> None:
    after = copy.deepcopy(design)
    after["sources"]["analysis"]["eval_tasks/intervals.py"] = "f" * 64
    assert registration.changes(design, after) != []
    assert registration.execution_changes(design, after) == []
    assert registration.execution_digest(design) == registration.execution_digest(after)
    registration.refuse_drift(design, after)
    after["sources"]["execution"]["eval_tasks/journal.py"] = "f" * 64
    assert len(registration.execution_changes(design, after)) == 1
    assert registration.execution_digest(design) != registration.execution_digest(after)


def test_a_drift_is_one_line_that_names_what_changed_how_much_more_did_and_what_to_do(project: Project) -> None:
    before = small_project.design(project)
    appended("skills/frying/SKILL.md")(project)
    appended("skills/icing/SKILL.md")(project)
    with pytest.raises(ExperimentStopped) as caught:
        registration.refuse_drift(before, small_project.design(project))
    assert caught.value.code is FailureCode.SOURCE_DRIFT
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith("source-drift: skill frying: ")
    assert said.endswith("(and 1 more); restore it, or register what is here now with `doit register --new`")


def test_text_of_several_lines_or_with_control_characters_stays_one_printable_line(design: dict[str, Any]) -> None:
    for text in ("one\ntwo", "\x1b[31mred", "x" * 500):
        after = copy.deepcopy(design)
        after["corpus"]["sampling"] = text
        (line,) = registration.changes(design, after)
        assert line.isprintable()
        assert line.startswith("corpus.sampling: ")
        assert len(line) < 160


scalars = st.none() | st.booleans() | st.integers(-2, 400) | st.sampled_from([1.0, 5.0, "", "a", "x\ny", "f" * 64])
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), scalars, max_size=2)


def places_in(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every list and of every part that holds no others, but for ids."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    own = [] if isinstance(value, dict) or place[-1] == "id" else [place]
    return own + [found for key, part in inner for found in places_in(part, (*place, key))]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_two_designs_differ_exactly_when_a_line_says_so(design: dict[str, Any], data: st.DataObject) -> None:
    after = copy.deepcopy({key: value for key, value in design.items() if key != "sources"})
    before = copy.deepcopy(after)
    place = data.draw(st.sampled_from(places_in(after)))
    target = after
    for part in place[:-1]:
        target = target[part]
    target[place[-1]] = data.draw(values)
    differ = digests.of_value(before) != digests.of_value(after)
    assert (registration.changes(before, after) != []) == differ


def test_what_has_no_leaf_is_a_change_all_the_same(design: dict[str, Any]) -> None:
    reordered, emptied = copy.deepcopy(design), copy.deepcopy(design)
    reordered["corpus"]["cases"].reverse()
    emptied["overrides"]["nothing"] = {}
    for after in (reordered, emptied):
        (line,) = registration.changes(design, after)
        assert re.fullmatch(f"design: {HEX} -> {HEX}", line)
        with pytest.raises(ExperimentStopped, match=r"^source-drift: design: "):
            registration.refuse_drift(design, after)
