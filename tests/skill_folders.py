"""Skill folders that tests make, so that no test needs a library of somebody else's."""

from __future__ import annotations

from pathlib import Path


def write(library: Path, skill: str, line: str | None = None, body: str = "Do it well.") -> Path:
    """Write one skill and return its folder.

    Parameters
    ----------
    line
        A further line of front matter.
    """
    folder = library / skill
    folder.mkdir(parents=True)
    matter = [
        f'name: "{skill}"',
        f"description: Everything about {skill} that a team has to know.",
        *([line] if line else []),
    ]
    (folder / "SKILL.md").write_text("\n".join(["---", *matter, "---", "", f"# {skill}", "", body, ""]), "utf-8")
    return folder
