"""Reading a skill is recognised in every shape of a shell command; writing or naming one is not use."""

from __future__ import annotations

import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_tasks.agents import skill_reads

SKILLS = "/h/.codex/skills"
INSTALLED = {"api-design", "tdd-workflow", "seo"}
FILE = f"{SKILLS}/api-design/SKILL.md"


def opened(command: str) -> tuple[set[str], int]:
    return skill_reads.opened(command, INSTALLED, skills=SKILLS, roots={"HOME": "/h"}, cwd="/w")


@pytest.mark.parametrize(
    "command",
    [
        f"cat {FILE}",
        f"sed -n '1,200p' {FILE}",
        f"head -50 '{FILE}'",
        f'cat "{FILE}"',
        f"cat {FILE} | head",
        f"cat {FILE} > notes.md",
        f"cat < {FILE}",
        f"ls -la; cat {FILE}",
        f"cd /tmp && cat {FILE}",
        f"nl -ba {FILE} 2>/dev/null",
        f"rg -n pagination {FILE} || true",
        "cat ~/.codex/skills/api-design/SKILL.md",
        "cat $HOME/.codex/skills/api-design/SKILL.md",
        "cat ${HOME}/.codex/skills/api-design/SKILL.md",
        "cd /h/.codex/skills && cat api-design/SKILL.md",
        "cd ~/.codex/skills/api-design && cat SKILL.md",
        "cat ../h/.codex/skills/api-design/SKILL.md",
        "LC_ALL=C cat /h/.codex/skills/api-design/SKILL.md",
        "if true; then cat /h/.codex/skills/api-design/SKILL.md; fi",
        "(cat /h/.codex/skills/api-design/SKILL.md)",
        'text="$(cat /h/.codex/skills/api-design/SKILL.md)"; wc -c',
        f"""python3 -c "print(open('{FILE}').read())" """,
        f'node -e \'console.log(require("fs").readFileSync("{FILE}", "utf8"))\'',
        f"python3 - <<'EOF'\nprint(open('{FILE}').read())\nEOF",
        f"cat \\\n  {FILE}",
        "sed -n '1,20p' /h/.codex/skills/../skills/api-design/SKILL.md",
    ],
)
@pytest.mark.parametrize("wrap", ["plain", "bash -lc", "/usr/bin/bash -c", "/bin/zsh -lc"])
def test_a_skill_that_is_read_is_recognised(command: str, wrap: str) -> None:
    whole = command if wrap == "plain" else f"{wrap} {shlex.quote(command)}"
    assert opened(whole) == ({"api-design"}, 0)


@pytest.mark.parametrize(
    "command",
    [
        f"cat > {FILE}",
        f"echo x >> {FILE}",
        f"echo x | tee {FILE}",
        f"cat notes.md > {FILE} 2>&1",
        f"cat > {FILE} <<'EOF'\n---\nname: x\n---\nEOF",
        f"cat > notes.md <<'EOF'\nSee {FILE} for more.\nEOF",
        f"cat <<-END\n\tread {FILE}\n\tEND",
        f"sed -i s/a/b/ {FILE}",
        f"sed --in-place s/a/b/ {FILE}",
        f"cp draft.md {FILE}",
        f"mv draft.md {FILE}",
        f"rm -f {FILE}",
        f"mkdir -p {SKILLS}/api-design",
        f"touch {FILE}",
        f"echo {FILE}",
        f"printf '%s\\n' {FILE}",
        f"ls -l {FILE}",
        f"test -f {FILE} && echo there",
        f"[ -e {FILE} ]",
        f"find {SKILLS} -name SKILL.md",
        f"stat {FILE}",
        "ls",
        "cat README.md",
        "cat /h/.codex/skills/api-design/references/more.md",
        "",
    ],
)
def test_writing_naming_or_listing_a_skill_is_no_use(command: str) -> None:
    assert opened(command) == (set(), 0)
    assert opened(f"bash -lc {shlex.quote(command)}") == (set(), 0)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat /h/.codex/skills/{api-design,seo}/SKILL.md", ({"api-design", "seo"}, 0)),
        (f"cat {FILE} {SKILLS}/seo/SKILL.md", ({"api-design", "seo"}, 0)),
        (f"cat {SKILLS}/unselected/SKILL.md", (set(), 1)),
        (f"cat {SKILLS}/.system/imagegen/SKILL.md", (set(), 1)),
        ("cat /elsewhere/api-design/SKILL.md", (set(), 1)),
        ("cat $CODEX_HOME/skills/api-design/SKILL.md", (set(), 1)),
        (f"grep -l x {SKILLS}/*/SKILL.md", (set(), 1)),
        (f"cat {SKILLS}/unselected/SKILL.md; cat {SKILLS}/unselected/SKILL.md {SKILLS}/other/SKILL.md", (set(), 2)),
        (f"cat {SKILLS}/seo/../api-design/SKILL.md", ({"api-design"}, 0)),
    ],
)
def test_only_installed_ids_are_kept_and_others_are_counted(command: str, expected: tuple[set[str], int]) -> None:
    assert opened(command) == expected


@pytest.mark.parametrize("command", ["cat SKILL.md", "cat skills/seo/SKILL.md", "cat /w/skills/seo/SKILL.md"])
def test_a_skill_file_in_the_agents_own_workspace_is_no_skill(command: str) -> None:
    assert opened(command) == (set(), 0)


@pytest.mark.parametrize(
    "command", [f"cat {FILE} 'open", f'echo "{FILE}', "cat \ud835/SKILL.md", "bash -lc", "bash -lc 'cat \"'"]
)
def test_a_command_that_no_shell_would_take_is_no_error(command: str) -> None:
    ids, unknown = opened(command)
    assert ids <= {"api-design"}
    assert unknown <= 1


@given(st.text(max_size=200))
def test_no_text_becomes_an_id_that_is_not_installed(noise: str) -> None:
    ids, _ = opened(f"cat {SKILLS}/{noise}/SKILL.md; {noise} SKILL.md")
    assert ids <= INSTALLED


def test_a_long_command_costs_little() -> None:
    started = time.monotonic()
    opened("cat > x <<'EOF'\n" + "a " * 200_000 + FILE + "\nEOF\n")
    opened("{a,b}" * 40 + "/SKILL.md " + "x" * 100_000 + "SKILL.md")
    opened("<<E\n" * 5_000 + "SKILL.md")
    assert time.monotonic() - started < 5
