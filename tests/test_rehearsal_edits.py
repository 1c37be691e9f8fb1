"""An overlay becomes steps, and the real agent's tools make of them exactly the overlaid files."""

from __future__ import annotations

import random

import pytest

from eval_tasks.rehearsal.behaviour import Behaviour, Patch, Run, Say
from eval_tasks.rehearsal.edits import steps_for
from eval_tasks.rehearsal.model import LoopbackModel
from tests.bare_codex import VERSIONS, opened

LINES = (
    "a",
    "b",
    "",
    "  ",
    "x = 1;",
    "*** End Patch",
    "@@",
    "+x",
    "-y",
    "*** Update File: z",
    "é☃",
    "\u2028",
    "😀",
    "t\t",
)


def patched(initial: dict[str, bytes], overlay: dict[str, bytes | None]) -> str:
    (patch,) = steps_for(initial, overlay)
    assert isinstance(patch, Patch)
    return patch.text


def test_one_patch_updates_adds_and_deletes() -> None:
    initial = {"a.js": b"1\n2\n3\n4\n5\n6\n", "old.js": b"x\n", "same.js": b"s\n"}
    overlay = {
        "a.js": b"1\n2\n3\n4\nfive\n6\n",
        "new/b.js": b"y\n\n",
        "old.js": None,
        "same.js": b"s\n",
        "gone.js": None,
    }

    assert patched(initial, overlay) == (
        "*** Begin Patch\n"
        "*** Update File: a.js\n@@\n 2\n 3\n 4\n-5\n+five\n 6\n"
        "*** Add File: new/b.js\n+y\n+\n"
        "*** Delete File: old.js\n"
        "*** End Patch\n"
    )


def test_nothing_to_do_is_no_step() -> None:
    assert steps_for({"a": b"x\n"}, {"a": b"x\n", "b": None}) == ()


def test_a_hunk_that_would_fit_earlier_is_written_with_the_whole_file() -> None:
    old = b"a\n" * 12

    assert patched({"f": old}, {"f": b"a\n" * 11 + b"b\n"}).count("\n a") == 11


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\n", b"b"),
        (b"a", b"b\n"),
        (b"a\r\n", b"b\r\n"),
        (b"a\n", b""),
        (None, b""),
        (b"a\n", b"b\n\n"),
        (b"\xff\n", b"b\n"),
        (b"\xff", None),
    ],
)
def test_what_a_patch_cannot_say_is_done_by_a_command(old: bytes | None, new: bytes | None) -> None:
    (step,) = steps_for({} if old is None else {"f": old}, {"f": new})

    assert isinstance(step, Run)


def test_a_deleting_command_is_not_one_that_the_agent_refuses() -> None:
    assert steps_for({"a b": b"\xff"}, {"a b": None}) == (Run("rm -- './a b'"),)


def some_text(chance: random.Random) -> str:
    lines = [chance.choice(LINES if chance.random() < 0.5 else ("a", "b")) for _ in range(chance.choice((1, 2, 9, 30)))]
    text = "\n".join(lines) + chance.choice(("\n", "\n", "\n", ""))
    return text.replace("\n", "\r\n") if chance.random() < 0.1 else text


def changed(chance: random.Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(lines))
        lines[at : at + chance.randrange(2)] = [chance.choice(("new", "a", "b", "", "zé"))] * chance.randrange(3)
        lines = lines or [""]
    return "\n".join(lines)


def some_edits(seed: int, count: int) -> tuple[dict[str, bytes], dict[str, bytes | None]]:
    chance = random.Random(seed)
    initial: dict[str, bytes] = {}
    overlay: dict[str, bytes | None] = {}
    for number in range(count):
        name = chance.choice(("{}.js", "d{}/e/f.js", "with space {}", "ünï {}.md", "it's {}$x", "-dash{}")).format(
            number
        )
        text = some_text(chance)
        if number % 4:
            initial[name] = text.encode()
        overlay[name] = changed(chance, text).encode() if number % 8 else None
    return initial, overlay


@pytest.mark.agent
@pytest.mark.parametrize("version", VERSIONS)
def test_the_agents_tools_make_exactly_the_overlaid_files(version: str) -> None:
    initial, overlay = some_edits(seed=VERSIONS.index(version), count=18)
    initial |= {"kept.txt": b"k", "binary": b"\x00\xff"}
    overlay |= {"crlf.txt": b"a\r\nb\r\n", "no-newline.txt": b"x", "empty": b"", "binary": b"\xff\xfe\x00"}
    overlay |= {"added.js": "// é😀\n".encode()}
    steps = steps_for(initial, overlay)
    with opened(version) as codex, LoopbackModel() as model:
        codex.write(initial)
        with model.play(Behaviour("oracle", (*steps, Say("Done.")))) as endpoint:
            turn = codex.exec(endpoint, seconds=120)
        found = codex.files()

    wanted = {**initial, **overlay}
    assert found == {name: content for name, content in wanted.items() if content is not None}
    assert turn.last == "turn.completed"
    assert {type(step) for step in steps} == {Patch, Run}
    assert len(turn.items("command_execution")) == len(steps) - 1
