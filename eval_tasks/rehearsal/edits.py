"""From an overlay of files to the steps by which an agent brings it about with its own tools.

Pure; it must never write a file itself, since the rehearsal exists to exercise the agent's tools and sandbox.
"""

from __future__ import annotations

import base64
import difflib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from eval_tasks.rehearsal.behaviour import Edit, Patch, Run, Step

Files = Mapping[str, bytes]
"""Relative POSIX path to content."""

Overlay = Mapping[str, bytes | None]
"""Files to write over others; None deletes."""

CONTEXT_LINES = 3

_Hunk = tuple[list[str], int, int]
"""Marked lines, where they begin in the old file, and how many of its lines they hold."""


def steps_for(initial: Files, overlay: Overlay) -> tuple[Step, ...]:
    """Return one patch for all that the patch language can say, then one command a file for the rest.

    Parameters
    ----------
    initial
        The workspace before the edits; a patch is written against it.
    overlay
        What to write and to delete. Files that already are as wanted, and deletions of what isn't there, are left out.
    """
    sections: list[str] = []
    edits: list[Edit] = []
    commands: list[Step] = []
    for path, new in sorted(overlay.items()):
        old = initial.get(path)
        if old == new:
            continue
        section = _section(path, old, new)
        if section is None:
            commands.append(Run(_command(path, new)))
        else:
            sections.append(section)
            edits.append(Edit(path, None if new is None else new.decode(), old is not None))
    patch = f"*** Begin Patch\n{''.join(sections)}*** End Patch\n"
    return (*([Patch(patch, tuple(edits))] if sections else []), *commands)


def _section(path: str, old: bytes | None, new: bytes | None) -> str | None:
    """Return a file's section of a patch, or None where the patch language can't say it."""
    before, after = _lines(old), _lines(new)
    if path != path.strip() or "\n" in path or before is None or after is None:
        return None
    if new is None:
        return f"*** Delete File: {path}\n"
    if old is None:
        return f"*** Add File: {path}\n" + "".join(f"+{line}\n" for line in after)
    if not after[-1]:
        # Codex takes an empty last line for the file's end and swallows a newline.
        return None
    return f"*** Update File: {path}\n" + "".join(f"@@\n{hunk}" for hunk in _hunks(before, after))


def _lines(content: bytes | None) -> list[str] | None:
    """Split text that a patch can carry into lines; None if it can't.

    Codex reads a patch line by line, drops a carriage return and always ends a file with a newline.
    """
    if content is None:
        return []
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if "\r" in text or not text.endswith("\n"):
        return None
    return text[:-1].split("\n")


def _hunks(before: Sequence[str], after: Sequence[str]) -> list[str]:
    for context in (CONTEXT_LINES, max(len(before), len(after))):
        # A matcher trims its own list of opcodes when it groups them, so it serves once.
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        hunks = [_hunk(before, after, group) for group in matcher.get_grouped_opcodes(context)]
        if _unambiguous(before, hunks):
            break
    return ["".join(f"{line}\n" for line in lines) for lines, _, _ in hunks]


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[tuple[str, int, int, int, int]]) -> _Hunk:
    lines: list[str] = []
    for kind, old_from, old_to, new_from, new_to in group:
        if kind == "equal":
            lines += [f" {line}" for line in before[old_from:old_to]]
            continue
        lines += [f"-{line}" for line in before[old_from:old_to]]
        lines += [f"+{line}" for line in after[new_from:new_to]]
    return lines, group[0][1], group[-1][2] - group[0][1]


def _unambiguous(before: Sequence[str], hunks: Sequence[_Hunk]) -> bool:
    """Tell whether Codex, which takes the first place that fits, finds each hunk where it belongs."""
    searched_from = 0
    for _, start, length in hunks:
        wanted = list(before[start : start + length])
        places = (at for at in range(searched_from, start + 1) if list(before[at : at + length]) == wanted)
        if next(places) != start:
            return False
        searched_from = start + length
    return True


def _command(path: str, new: bytes | None) -> str:
    target = shlex.quote(f"./{path}")
    if new is None:
        # Codex refuses `rm -f` before any sandbox sees it.
        return f"rm -- {target}"
    return " && ".join([*_folder(path), f"printf %s {base64.b64encode(new).decode()} | base64 -d > {target}"])


def _folder(path: str) -> Iterator[str]:
    parent = PurePosixPath(path).parent
    if parent != PurePosixPath("."):
        yield f"mkdir -p -- {shlex.quote(f'./{parent}')}"
