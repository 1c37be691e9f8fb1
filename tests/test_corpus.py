from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eval_tasks import corpus, digests
from eval_tasks.errors import ExperimentStopped

STATEMENT = """\
schemaVersion: context-eval.corpus.v1
id: mine@1
sampling: Chosen by hand.
minimumCases: 30
minimumProbes: 30
marginPoints: 5
"""
CASE = """\
id: bread
category: api
prompt: |
  The loaves in src/loaf.js are counted twice.
skill: baking
bearsOn: "Counting: why a loaf is counted once"
hastyFails: true
vocabulary: plain
"""
PROBES = """\
probes:
  - id: near-bread
    category: near-miss
    prompt: Which of my ovens is hottest?
    explicit: [baking]
    exclude: [frying]
    noWorkflow: false
    expect: {selected: [baking]}
    half: tune
    why: The question is about ovens.
  - id: no-bread
    category: policy
    prompt: What is two and two?
    expect: {code: excluded}
    half: held
    why: Nothing of it is bread.
"""
GRADER = "module.exports = async () => {};\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "elsewhere" / "mine"
    case = root / "cases" / "bread"
    (case / "workspace" / "src").mkdir(parents=True)
    (root / "corpus.yaml").write_text(STATEMENT)
    (root / "probes.yaml").write_text(PROBES)
    (case / "case.yaml").write_text(CASE)
    (case / "grader.cjs").write_text(GRADER)
    (case / "workspace" / "README.md").write_text("Bread.\n")
    (case / "workspace" / "src" / "loaf.js").write_text("module.exports = 1;\n")
    return root


def refusal(folder: Path) -> str:
    """Return the one line with which a corpus is refused."""
    with pytest.raises(ExperimentStopped) as caught:
        corpus.load(folder, "mine")
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_corpus_of_somebody_else_in_another_folder_loads_whole(folder: Path) -> None:
    found = corpus.load(folder, "mine")
    assert (found.id, found.minimum_cases, found.minimum_probes, found.margin_points) == ("mine@1", 30, 30, 5)
    case = found.case("bread")
    assert (case.skill, case.category, case.hasty_fails, case.vocabulary) == ("baking", "api", True, "plain")
    assert case.bears_on == "Counting: why a loaf is counted once"
    assert case.workspace == {"README.md": b"Bread.\n", "src/loaf.js": b"module.exports = 1;\n"}
    assert case.grader_digest == digests.of_bytes(GRADER.encode())


def test_a_probe_has_its_options_and_expects_ids_or_a_code(folder: Path) -> None:
    near, none = corpus.load(folder, "mine").probes
    assert (near.explicit, near.exclude, near.no_workflow, near.half) == (("baking",), ("frying",), False, "tune")
    assert (near.expect, none.expect) == ({"selected": ["baking"]}, {"code": "excluded"})
    assert (none.explicit, none.exclude, none.expected_ids, none.expected_code) == ((), (), None, "excluded")


def test_the_workspace_that_an_agent_gets_holds_no_grader_and_no_case_file(folder: Path) -> None:
    found = corpus.load(folder, "mine")
    assert set(found.files) - {"corpus.yaml", "probes.yaml"} == set(found.case("bread").files)
    assert set(found.case("bread").files) == {
        "cases/bread/case.yaml",
        "cases/bread/grader.cjs",
        "cases/bread/workspace/README.md",
        "cases/bread/workspace/src/loaf.js",
    }
    assert not any("grader" in name or "case.yaml" in name for name in found.case("bread").workspace)


@pytest.mark.parametrize(
    "name",
    [
        "corpus.yaml",
        "probes.yaml",
        "cases/bread/case.yaml",
        "cases/bread/grader.cjs",
        "cases/bread/workspace/README.md",
        "cases/bread/workspace/src/loaf.js",
    ],
)
def test_a_changed_byte_of_any_file_changes_the_corpus_and_only_that_files_digest(folder: Path, name: str) -> None:
    before = corpus.load(folder, "mine")
    path = folder / name
    path.write_bytes(path.read_bytes() + b"\n")
    after = corpus.load(folder, "mine")
    assert after.digest != before.digest
    assert {key for key in before.files if before.files[key] != after.files[key]} == {name}
    assert (after.case("bread").digest != before.case("bread").digest) == name.startswith("cases/")


def test_neither_a_case_nor_a_probe_shows_its_prompt_or_its_grader_when_it_is_printed(folder: Path) -> None:
    found = corpus.load(folder, "mine")
    printed = repr(found)
    assert "bread" in printed
    for hidden in ("hottest", "grader.cjs", "module.exports"):
        assert hidden not in printed


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change


def holding(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: void((folder / name).write_bytes(content))


def void(_: object) -> None:
    """Drop what a function of a change returns."""


CASE_FILE = "cases/bread/case.yaml"
WORKSPACE = "cases/bread/workspace"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edited(CASE_FILE, "category: api", "category: [api"), "mine/cases/bread/case.yaml:3: not valid YAML: "),
        (edited(CASE_FILE, "category", "\tcategory"), "mine/cases/bread/case.yaml:2: not valid YAML: "),
        (edited(CASE_FILE, "api", "a\x07pi"), "mine/cases/bread/case.yaml:2: not valid YAML: "),
        (edited(CASE_FILE, "id: bread", "# é\n# éé\nid: bread\x07"), "mine/cases/bread/case.yaml:3: not valid YAML: "),
        (edited(CASE_FILE, "category: api", "category: !!bool api"), "mine/cases/bread/case.yaml: not valid YAML: "),
        (edited(CASE_FILE, "vocab", "surprise: 1\nvocab"), "mine/cases/bread/case.yaml:1: unknown key 'surprise'"),
        (edited(CASE_FILE, "vocab", "on: 1\nvocab"), "mine/cases/bread/case.yaml:8: a key must be text"),
        (edited(CASE_FILE, "vocab", "<<: {a: 1}\nvocab"), "mine/cases/bread/case.yaml:8: a key must be text"),
        (edited(CASE_FILE, "category: api\n", ""), "mine/cases/bread/case.yaml:1: missing key 'category'"),
        (edited(CASE_FILE, "id: bread", "id: ../bread"), "mine/cases/bread/case.yaml:1: id: breaks pattern"),
        (
            edited(CASE_FILE, "id: bread", "id: cake"),
            "mine/cases/bread/case.yaml:1: id: must be the folder's name, bread",
        ),
        (
            edited(CASE_FILE, "id: bread", "id: bread\nid: bread"),
            "mine/cases/bread/case.yaml:2: the key 'id' stands twice",
        ),
        (
            edited(CASE_FILE, "The loaves", "Use $baking: the loaves"),
            "mine/cases/bread/case.yaml:3: prompt: holds $baking",
        ),
        (
            edited(CASE_FILE, "The loaves", "Loaf " * 1_700),
            "mine/cases/bread/case.yaml:3: prompt: is longer than 8192 bytes",
        ),
        (
            edited(CASE_FILE, "|\n  The loaves", '"\\ud83d"\n#'),
            "mine/cases/bread/case.yaml:3: ",
        ),
        (
            edited(CASE_FILE, "skill: baking", "skill: null"),
            "mine/cases/bread/case.yaml:6: bearsOn: must be given with",
        ),
        (
            edited(CASE_FILE, "hastyFails: true", "hastyFails: maybe"),
            "mine/cases/bread/case.yaml:7: hastyFails: must be",
        ),
        (
            edited(CASE_FILE, "plain", "odd"),
            "mine/cases/bread/case.yaml:8: vocabulary: must be one of plain, misleading",
        ),
        (
            holding(CASE_FILE, b"id: bread\nprompt: \xff\n"),
            "mine/cases/bread/case.yaml: not valid UTF-8 at byte 18 (line 2)",
        ),
        (
            edited("probes.yaml", "no-bread", "near-bread"),
            "mine/probes.yaml:11: probes.1.id: the id near-bread stands twice",
        ),
        (edited("probes.yaml", "no-bread", '"no-bread\\n"'), "mine/probes.yaml:11: probes.1.id: breaks pattern"),
        (edited("probes.yaml", "two and two", "$baking"), "mine/probes.yaml:13: probes.1.prompt: holds $baking"),
        (
            edited("probes.yaml", "half: held", "half: lost"),
            "mine/probes.yaml:15: probes.1.half: must be one of tune, held",
        ),
        (
            edited("probes.yaml", "{code: excluded}", "{code: deadline}"),
            "mine/probes.yaml:14: probes.1.expect: must be one of excluded, ",
        ),
        (holding("probes.yaml", b"probes: []\n"), "mine/probes.yaml:1: probes: breaks minItems 1"),
        (edited("corpus.yaml", "Points: 5", "Points: 11"), "mine/corpus.yaml:6: marginPoints: breaks maximum 10"),
        (
            edited("corpus.yaml", "Points: 5", "Points: .nan"),
            "mine/corpus.yaml:6: marginPoints: must be a finite number",
        ),
        (edited("corpus.yaml", "mine@1", "2020-01-01"), "mine/corpus.yaml:2: id: must be text, a number"),
        (holding(f"{WORKSPACE}/a.js", b"a\nb\n\xff\n"), "mine/cases/bread/workspace/a.js:3: not valid UTF-8"),
        (holding("cases/bread/grader.cjs", b"\n\xff"), "mine/cases/bread/grader.cjs:2: not valid UTF-8"),
        (holding("cases/bread/grader.cjs", b"x" * 65_537), "mine/cases/bread/grader.cjs: is larger than 65536 bytes"),
        (holding(f"{WORKSPACE}/a.js", b"x" * 16_385), "mine/cases/bread/workspace/a.js: is larger than 16384 bytes"),
        (holding(f"{WORKSPACE}/.env", b"x"), "mine/cases/bread/workspace/.env: is hidden"),
        (holding(f"{WORKSPACE}/..x", b"x"), "mine/cases/bread/workspace/..x: is hidden"),
        (holding(f"{WORKSPACE}/src/a b.js", b"x"), "mine/cases/bread/workspace/src/a b.js: has an unsafe name"),
        (holding(f"{WORKSPACE}/..\\x", b"x"), "mine/cases/bread/workspace/..\\x: is hidden"),
        (holding(f"{WORKSPACE}/C:\\x", b"x"), "mine/cases/bread/workspace/C:\\x: has an unsafe name"),
        (
            holding(f"{WORKSPACE}/__Grader__.CJS", b"x"),
            "mine/cases/bread/workspace/__Grader__.CJS: this name is reserved",
        ),
        (holding("cases/bread/notes.md", b"x"), "mine/cases/bread/notes.md: does not belong to a case"),
        (holding("cases/README.md", b"x"), "mine/cases/README.md: is no folder"),
    ],
)
def test_a_malformed_file_gets_one_line_with_file_line_and_reason(
    folder: Path, change: Callable[[Path], None], said: str
) -> None:
    change(folder)
    assert refusal(folder).startswith(said)


@pytest.mark.parametrize("target", ["../../../../outside.js", "/etc/passwd", "README.md", "nowhere", "."])
def test_a_path_that_could_lead_out_of_the_workspace_is_refused_wherever_it_leads(folder: Path, target: str) -> None:
    (folder.parent / "outside.js").write_text("secret")
    (folder / WORKSPACE / "src" / "out.js").symlink_to(target)
    assert refusal(folder).startswith("mine/cases/bread/workspace/src/out.js: is a link or a special file")


@pytest.mark.parametrize("name", ["corpus.yaml", "probes.yaml", CASE_FILE, "cases/bread/grader.cjs", WORKSPACE])
def test_a_link_in_the_place_of_a_file_or_folder_of_the_corpus_is_refused(folder: Path, name: str) -> None:
    (folder / name).rename(folder.parent / "moved")
    (folder / name).symlink_to(folder.parent / "moved")
    assert Path(name).name in refusal(folder)


@pytest.mark.parametrize("name", ["corpus.yaml", "probes.yaml", CASE_FILE, "cases/bread/grader.cjs", f"{WORKSPACE}/x"])
def test_a_pipe_is_refused_and_never_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert refusal(folder).startswith(f"mine/{name}: ")


@pytest.mark.parametrize(
    "name", ["corpus.yaml", "probes.yaml", CASE_FILE, "cases/bread/grader.cjs", WORKSPACE, "cases"]
)
def test_what_is_missing_is_named(folder: Path, name: str) -> None:
    (folder / name).rename(folder.parent / "moved")
    assert refusal(folder).startswith(f"mine/{name}: there is no such ")


def test_a_missing_corpus_is_named_with_the_setting(folder: Path) -> None:
    with pytest.raises(ExperimentStopped, match=r"^mine: there is no such folder; set `corpus:` in eval\.yaml"):
        corpus.load(folder / "nothing", "mine")


def test_a_corpus_without_a_case_is_refused(folder: Path) -> None:
    (folder / "cases" / "bread").rename(folder.parent / "moved")
    assert refusal(folder).startswith("mine/cases: holds no case")


@pytest.mark.parametrize("name", ["Bread", "2-loaves", "a_b", "x" * 65])
def test_a_case_folder_whose_name_is_no_id_is_refused(folder: Path, name: str) -> None:
    (folder / "cases" / "bread").rename(folder / "cases" / name)
    assert refusal(folder).startswith(f"mine/cases/{name}: a case's id has small letters")


@contextmanager
def files_in(folder: Path, count: int) -> Iterator[None]:
    """Let the workspace hold this many files."""
    kept = [folder / WORKSPACE / f"file{number}.js" for number in range(count - 2)]
    for path in kept:
        path.write_text("x")
    yield
    for path in kept:
        path.unlink()


def test_a_workspace_holds_one_to_eight_files(folder: Path) -> None:
    with files_in(folder, 8):
        assert len(corpus.load(folder, "mine").case("bread").workspace) == 8
    with files_in(folder, 9):
        assert refusal(folder).startswith("mine/cases/bread/workspace: holds 9 files; a case has 1 to 8")
    for path in ("README.md", "src/loaf.js"):
        (folder / WORKSPACE / path).unlink()
    assert refusal(folder).startswith("mine/cases/bread/workspace: holds 0 files")


@pytest.mark.parametrize("prompt", ["Costs 5$ or $5.", "Write `${name}` here.", "A lone $ sign, and US$."])
def test_a_dollar_that_no_agent_takes_for_a_skill_is_allowed(folder: Path, prompt: str) -> None:
    edited(CASE_FILE, "The loaves", f"{prompt} The loaves")(folder)
    assert corpus.load(folder, "mine").case("bread").prompt.startswith(prompt)


@pytest.mark.parametrize("size", [corpus.MAXIMUM_FILE_BYTES, 0])
def test_a_file_may_be_as_large_as_the_limit_or_empty(folder: Path, size: int) -> None:
    (folder / WORKSPACE / "a.js").write_bytes(b"x" * size)
    assert len(corpus.load(folder, "mine").case("bread").workspace["a.js"]) == size


@pytest.mark.parametrize("name", ["a\nb.js", "\x1b[31m.js", ".\nhidden", "\udcff.js"])
def test_a_name_with_control_characters_is_refused_in_one_printable_line(folder: Path, name: str) -> None:
    (folder / WORKSPACE / name).write_text("x")
    said = refusal(folder)
    assert said.isprintable()
    assert said.startswith("mine/cases/bread/workspace/")
