"""Runs the bare native Codex, without the evaluator's sandbox, against a loopback model: for tests of the rehearsal.

Must never be used where the agent module itself is under test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_tasks.rehearsal.model import Endpoint

MODULES = Path(__file__).resolve().parents[1] / "toolchain" / "node_modules"
PACKAGES = {
    "0.155.1": MODULES / "@openai" / "codex-linux-x64",
    "0.154.0": MODULES / "codex-0154" / "node_modules" / "@openai" / "codex-linux-x64",
}
VERSIONS = tuple(PACKAGES)
MODEL = "gpt-5.5"
CODE_MODE_MODEL = "gpt-6-astra"

_OFF = ("plugins", "apps", "remote_plugin", "shell_snapshot", "unbounded_connection_retries", "multi_agent", "memories")
_SETTINGS = (
    *(f"features.{name}=false" for name in _OFF),
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "allow_login_shell=false",
    'web_search="disabled"',
    'shell_environment_policy.inherit="core"',
    'history.persistence="none"',
    'approval_policy="never"',
    "sandbox_workspace_write.exclude_slash_tmp=true",
    "sandbox_workspace_write.exclude_tmpdir_env_var=true",
    'model_provider="local"',
)


@dataclass
class Bare:
    """One version of Codex with a home and a workspace of its own."""

    version: str
    root: Path

    @property
    def native(self) -> Path:
        return PACKAGES[self.version] / "vendor" / "x86_64-unknown-linux-musl" / "bin" / "codex"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def environment(self) -> dict[str, str]:
        home = os.fspath(self.home)
        temp = self.root / "temp"
        for folder in (self.home, temp):
            folder.mkdir(exist_ok=True)
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "CODEX_HOME": home,
            "TMPDIR": os.fspath(temp),
            "LANG": "C.UTF-8",
        }

    def ask(self, *arguments: str) -> bytes:
        """Run a command that calls no model."""
        done = subprocess.run(
            [self.native, *arguments], env=self.environment, capture_output=True, check=True, timeout=60
        )
        return done.stdout

    def exec(
        self,
        endpoint: Endpoint,
        prompt: str = "hello",
        *,
        model: str = MODEL,
        stream_retries: int = 0,
        seconds: float = 60,
        settings: Sequence[str] = (),
    ) -> Turn:
        """Run one turn; a turn that is not over in time is killed."""
        self.workspace.mkdir(exist_ok=True)
        provider = (
            f'name="local", base_url="{endpoint.base_url}", wire_api="responses", requires_openai_auth=false, '
            f"request_max_retries=0, stream_max_retries={stream_retries}"
        )
        wanted = (*_SETTINGS, f"model_providers.local={{{provider}}}", *settings)
        command = [
            *(os.fspath(self.native), "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--strict-config"),
            *("--ignore-rules", "--sandbox", "workspace-write", "-C", os.fspath(self.workspace), "-m", model),
            *(part for setting in wanted for part in ("-c", setting)),
            "-",
        ]
        began = time.monotonic()
        with subprocess.Popen(
            command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                stdout, stderr = process.communicate(prompt.encode(), timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
        return Turn(process.returncode, stdout, stderr.decode(), time.monotonic() - began)

    def write(self, files: dict[str, bytes]) -> None:
        """Make the workspace hold exactly these files."""
        shutil.rmtree(self.workspace, ignore_errors=True)
        self.workspace.mkdir()
        for name, content in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def files(self) -> dict[str, bytes]:
        """Return what the workspace holds."""
        paths = [path for path in self.workspace.rglob("*") if path.is_file()]
        return {path.relative_to(self.workspace).as_posix(): path.read_bytes() for path in paths}


@contextmanager
def opened(version: str) -> Iterator[Bare]:
    """Give one version a folder; not below /tmp, where Codex's own sandbox may fail to start."""
    root = Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        yield Bare(version, root)
    finally:
        shutil.rmtree(root)


@dataclass
class Turn:
    """What one turn of Codex left."""

    exit_status: int
    stdout: bytes = field(repr=False)
    stderr: str
    seconds: float

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def last(self) -> str:
        """The kind of the last event."""
        return str(self.events[-1]["type"])

    @property
    def usage(self) -> dict[str, int]:
        """Usage as Codex sums it up."""
        return dict(self.events[-1]["usage"])

    @property
    def transient(self) -> int:
        """How many recoverable errors were reported."""
        return sum(event["type"] == "error" and event["message"].startswith("Reconnecting") for event in self.events)

    @property
    def failure(self) -> str:
        """Why the turn failed."""
        return str(self.events[-1]["error"]["message"])

    def items(self, kind: str) -> list[dict[str, Any]]:
        """Return the completed items of a kind."""
        done = [event["item"] for event in self.events if event["type"] == "item.completed"]
        return [item for item in done if item["type"] == kind]

    @property
    def message(self) -> str:
        """The last message of the agent."""
        return str(self.items("agent_message")[-1]["text"])
