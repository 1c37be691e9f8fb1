"""Agents that misbehave: a Codex of the registered version whose `exec` plays a shell script instead.

Everything but `exec` is the real binary, so that registration, discovery and inventory are; must never be run unboxed
with a play that floods or damages anything.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from tests.laboratory import REPOSITORY

REAL = REPOSITORY / "toolchain/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl"
PROPOSAL = "proposal"
ARMS = ("full", "manual-lean", "auto-lean")

_LIBRARY = r"""
prompt=$(cat)
start() { echo '{"type":"thread.started","thread_id":"t"}'; echo '{"type":"turn.started"}'; }
item() { printf '{"type":"item.completed","item":%s}\n' "$1"; }
say() { item "{\"id\":\"m\",\"type\":\"agent_message\",\"text\":\"$1\"}"; }
end() { echo '{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":3}}'; }
failed() { echo '{"type":"turn.failed","error":{"message":"It failed."}}'; }
real() { printf '%s' "$prompt" | "$here/codex-real" "$@"; }
"""

_WHICH = r"""
case "$prompt" in
%s
*canary.txt*) cell=canary ;;
*proof.txt*) cell=doctor ;;
*) cell=unknown ;;
esac
many=$(ls "$HOME/.codex/skills" | wc -l)
case " $* " in *" --output-schema "*) cell="$cell.proposal" ;; *)
  if [ "$many" -gt %d ]; then cell="$cell.full"
  else case "$prompt" in *'"selectedIds"'*) cell="$cell.manual-lean" ;; *) cell="$cell.auto-lean" ;; esac; fi ;;
esac
"""

WRITES = "start; echo 'it works' > /w/canary.txt; end"
"""What a canary call comes to, so that the trials begin; the doctor gets the real agent."""

PROPOSE_NOTHING = r"""start; say '{\"selectedIds\": []}'; end"""
"""What every proposal comes to unless the plays say otherwise; so Auto Lean is told from Manual Lean by its prompt."""


def package(
    folder: Path,
    prompts: Mapping[str, str],
    plays: Mapping[str, str],
    default: str = 'real "$@"',
    *,
    most_lean: int = 20,
    canary: str = WRITES,
) -> Path:
    """Make an agent's package and return its executable.

    Parameters
    ----------
    folder
        Where it will lie, on the toolchain's file system.
    prompts
        For each case or probe a part of its prompt that no other has.
    plays
        Shell scripts by `<case>.<arm>`, `<case>.proposal` or `<probe>.proposal`, run inside the box with the functions
        above; `real "$@"` goes on as the real agent.
    default
        For every cell that has no play.
    most_lean
        An install with more skills is Full.
    canary
        For the canary calls; `$many` is how many skills their install holds.
    """
    for name in ("codex-resources", "codex-path"):
        _link_tree(REAL / name, folder / name)
    (folder / "bin").mkdir(parents=True)
    for source, name in (("codex", "codex-real"), ("codex-code-mode-host", "codex-code-mode-host")):
        os.link(REAL / "bin" / source, folder / "bin" / name)
    (folder / "codex-package.json").write_bytes((REAL / "codex-package.json").read_bytes())
    executable = folder / "bin" / "codex"
    executable.write_text(_script(prompts, plays, default, most_lean, canary), "utf-8")
    executable.chmod(0o755)
    return executable


def _link_tree(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, place)


def _script(prompts: Mapping[str, str], plays: Mapping[str, str], default: str, most_lean: int, canary: str) -> str:
    which = "\n".join(f"*{shlex.quote(part)}*) cell={name} ;;" for name, part in prompts.items())
    cells = "\n".join(f"{cell})\n{play}\n;;" for cell, play in plays.items())
    return (
        '#!/bin/sh\nhere=${0%/*}\ncase "$1" in exec) ;; *) exec "$here/codex-real" "$@" ;; esac\n'
        f"{_LIBRARY}{_WHICH % (which, most_lean)}\n"
        f'case "$cell" in\ndoctor.*)\nreal "$@"\n;;\ncanary.*)\n{canary}\n;;\n{cells}\n'
        f"*.{PROPOSAL})\n{PROPOSE_NOTHING}\n;;\n*)\n{default}\n;;\nesac\n"
    )
