from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eval_tasks import library, origin
from eval_tasks.errors import ExperimentStopped
from eval_tasks.paths import Project

PROJECT = Path(__file__).resolve().parents[1]
ECC = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}


def write_skill(root: Path, skill_id: str, matter: str, body: str = "# Body\n") -> Path:
    folder = root / skill_id
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\n{matter}\n---\n\n{body}", encoding="utf-8")
    return folder


def refusal(root: Path) -> str:
    with pytest.raises(ExperimentStopped) as stopped:
        library.load(root)
    assert "\n" not in str(stopped.value)
    return str(stopped.value)


@pytest.fixture(scope="module")
def ecc() -> library.Library:
    return library.load(origin.locate(ECC, Project(PROJECT)))


def test_all_skills_of_the_pinned_package_load(ecc: library.Library) -> None:
    assert len(ecc.skills) == 197
    assert list(ecc.skills) == sorted(ecc.skills)


def test_the_id_is_the_folders_name_and_either_name_finds_the_skill(ecc: library.Library) -> None:
    skill = ecc.skills["scientific-thinking-literature-review"]
    assert skill.name == "literature-review"
    assert ecc.ids_by_name["literature-review"] == skill.id
    assert ecc.ids_by_name[skill.id] == skill.id
    assert sorted(name for name, skill_id in ecc.ids_by_name.items() if name != skill_id) == [
        "gget",
        "literature-review",
        "pubmed-database",
        "scholar-evaluation",
        "uspto-database",
    ]


def test_nine_skills_of_the_pinned_package_need_a_hosts_grant_and_none_is_manual_only(ecc: library.Library) -> None:
    granted = {skill.id: skill.native_authority for skill in ecc.skills.values() if skill.native_authority}
    assert granted.pop("videodb") == ("allowed-tools",)
    assert set(granted.values()) == {("tools",)}
    assert sorted(granted) == [
        "agent-architecture-audit",
        "benchmark-optimization-loop",
        "blender-motion-state-inspection",
        "data-throughput-accelerator",
        "eval-harness",
        "latency-critical-systems",
        "parallel-execution-optimizer",
        "recursive-decision-ledger",
    ]
    assert not any(skill.manual_only for skill in ecc.skills.values())


def test_every_file_of_a_skill_is_digested_and_the_digest_of_the_library_follows_it(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "one", "name: one\ndescription: First.")
    (folder / "references").mkdir()
    (folder / "references/a.bin").write_bytes(b"\x00\xff")
    write_skill(tmp_path, "two", "name: two\ndescription: Second.")
    before = library.load(tmp_path)
    assert before.skills["one"].files["references/a.bin"] == hashlib.sha256(b"\x00\xff").hexdigest()
    assert set(before.skills["one"].files) == {"SKILL.md", "references/a.bin"}
    (folder / "references/a.bin").write_bytes(b"\x00\xfe")
    after = library.load(tmp_path)
    assert after.skills["two"].digest == before.skills["two"].digest
    assert after.skills["one"].digest != before.skills["one"].digest
    assert after.digest != before.digest


def test_the_digest_does_not_depend_on_where_the_library_lies(tmp_path: Path) -> None:
    write_skill(tmp_path / "here", "one", "name: one\ndescription: First.")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    assert library.load(tmp_path / "here").digest == library.load(tmp_path / "there").digest


def test_hidden_folders_loose_files_and_folders_without_a_skill_are_no_skills(tmp_path: Path) -> None:
    write_skill(tmp_path, "one", "name: one\ndescription: First.")
    write_skill(tmp_path, ".hidden", "name: hidden\ndescription: No.")
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("no skill", encoding="utf-8")
    assert list(library.load(tmp_path).skills) == ["one"]


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"# No front matter\n", "bad/SKILL.md:1:", "no front matter"),
        (b"---\nname: bad\ndescription: x\n", "bad/SKILL.md:1:", "never closed"),
        (b"---\nname: bad\ndescription: [x\n---\n", "bad/SKILL.md:", "no valid YAML"),
        (b"---\nname: bad\nfoo: bar: baz\ndescription: x\n---\n", "bad/SKILL.md:3:", "no valid YAML"),
        (b"---\n- name\n- description\n---\n", "bad/SKILL.md:2:", "not a mapping"),
        (b"---\n---\nbody", "bad/SKILL.md:2:", "not a mapping"),
        (b"---\ndescription: x\n---\n", "bad/SKILL.md:2:", "no name"),
        (b"---\nname: bad\n---\n", "bad/SKILL.md:2:", "no description"),
        (b"---\nname: bad\ndescription: '  '\n---\n", "bad/SKILL.md:2:", "no description"),
        (b"---\nname: bad\ndescription: [a, b]\n---\n", "bad/SKILL.md:2:", "no description"),
        (b"---\nname: bad\ndescription: x\n---\n\n\xff\n", "bad/SKILL.md:6:", "invalid UTF-8"),
    ],
)
def test_a_malformed_skill_is_one_line_with_file_line_and_reason(
    tmp_path: Path, content: bytes, place: str, reason: str
) -> None:
    write_skill(tmp_path, "good", "name: good\ndescription: Good.")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/SKILL.md").write_bytes(content)
    line = refusal(tmp_path)
    assert place in line
    assert reason in line
    assert str(tmp_path) not in line


def test_what_hosts_tolerate_is_tolerated(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    lines = [
        "\ufeff---",
        "name: Another Name",
        "description: >",
        "  Two",
        "  lines.",
        "version: 1.0",
        "x-own: [1]",
        "---",
        "",
    ]
    text = "\r\n".join(lines)
    (folder / "SKILL.md").write_bytes(text.encode("utf-8"))
    skill = library.load(tmp_path).skills["odd"]
    assert (skill.name, skill.description) == ("Another Name", "Two lines.")
    assert skill.text == text


def test_a_description_longer_than_the_specification_allows_is_kept_whole(tmp_path: Path) -> None:
    write_skill(tmp_path, "long", f"name: long\ndescription: {'word ' * 400}")
    assert len(library.load(tmp_path).skills["long"].description) == 1_999


def test_an_id_that_records_could_not_hold_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path, "My_Skill", "name: my-skill\ndescription: x")
    assert "My_Skill is no skill id" in refusal(tmp_path)


def test_a_link_in_a_skill_is_refused(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "one", "name: one\ndescription: First.")
    (folder / "secret").symlink_to("/etc/hostname")
    assert "link" in refusal(tmp_path)


def test_a_linked_skill_folder_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path / "elsewhere", "one", "name: one\ndescription: First.")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/one").symlink_to(tmp_path / "elsewhere/one")
    assert "one is a link" in refusal(tmp_path / "skills")


def test_a_folder_without_skills_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no <id>/SKILL.md" in refusal(tmp_path / "empty")


@pytest.mark.parametrize(
    ("matter", "expected"),
    [
        ("disable-model-invocation: true", True),
        ('disable-model-invocation: "true"', True),
        ("disable-model-invocation: false", False),
        ("policy: {allow_implicit_invocation: false}", True),
        ("policy: {allow_implicit_invocation: true}", False),
        ("policy: none", False),
        ("user-invocable: true", False),
    ],
)
def test_the_front_matter_says_whether_only_a_person_may_start_a_skill(
    tmp_path: Path, matter: str, expected: bool
) -> None:
    write_skill(tmp_path, "one", f"name: one\ndescription: First.\n{matter}")
    assert library.load(tmp_path).skills["one"].manual_only is expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("policy:\n  allow_implicit_invocation: false\n", True),
        ("policy:\n  allow_implicit_invocation: true\n", False),
        ("interface:\n  display_name: One\n", False),
        ("", False),
    ],
)
def test_codexs_own_settings_say_it_as_well(tmp_path: Path, settings: str, expected: bool) -> None:
    folder = write_skill(tmp_path, "one", "name: one\ndescription: First.")
    (folder / "agents").mkdir()
    (folder / "agents/openai.yaml").write_text(settings, encoding="utf-8")
    assert library.load(tmp_path).skills["one"].manual_only is expected


def test_malformed_settings_of_codex_are_reported_with_file_and_line(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "one", "name: one\ndescription: First.")
    (folder / "agents").mkdir()
    (folder / "agents/openai.yaml").write_text("policy:\n  allow: [\n", encoding="utf-8")
    assert "one/agents/openai.yaml:3:" in refusal(tmp_path)


@pytest.mark.parametrize("key", ["allowed-tools", "tools", "context", "agent", "hooks"])
def test_front_matter_that_only_a_host_can_grant_is_noted(tmp_path: Path, key: str) -> None:
    write_skill(tmp_path, "one", f"name: one\ndescription: First.\n{key}: x")
    assert library.load(tmp_path).skills["one"].native_authority == (key,)


@pytest.mark.parametrize(
    ("body", "live"),
    [
        ("!`git status`\n", True),
        ("Now: !`git status` and on.\n", True),
        ("\t!``echo ` ``\n", True),
        ("Avoid `!`, prefer `?.` instead.\n", False),
        ("Prefer `assert_eq!` over `assert!` for messages.\n", False),
        ("Use assert!`x` here.\n", False),
        ("Never closed: !`git status\nnext line`\n", False),
        ("Wow! `code` follows.\n", False),
        ("!important\n", False),
    ],
)
def test_a_live_command_is_an_exclamation_mark_right_before_a_closed_code_span(
    tmp_path: Path, body: str, live: bool
) -> None:
    write_skill(tmp_path, "one", "name: one\ndescription: First.", body)
    assert library.load(tmp_path).skills["one"].native_authority == (("live-command",) if live else ())


def test_an_ambiguous_name_of_the_front_matter_cites_nobody_and_a_folders_name_wins(tmp_path: Path) -> None:
    write_skill(tmp_path, "first", "name: shared-name\ndescription: x")
    write_skill(tmp_path, "second", "name: shared-name\ndescription: x")
    write_skill(tmp_path, "third", "name: first\ndescription: x")
    names = library.load(tmp_path).ids_by_name
    assert "shared-name" not in names
    assert names["first"] == "first"


def test_importing_the_selection_imports_neither_numpy_nor_scipy() -> None:
    code = (
        "import sys; from eval_tasks import library; from eval_tasks.selection import resolver, proposal, context; "
        "print(sorted({'numpy', 'scipy', 'bm25s'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
