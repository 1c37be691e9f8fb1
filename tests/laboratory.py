"""A project of its own for a test: a copy of the sources and of a small corpus, driven by the real doit.

Must never share an experiment, a database or a work folder with another test.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from eval_tasks import corpus, records
from eval_tasks.grading import proof, trying
from eval_tasks.grading.proof import CaseProof, Proof

REPOSITORY = Path(__file__).resolve().parents[1]
CASES = ("catalogue-query", "open-slots")
"""One case that benefits from a skill and one that needs none."""
PROBES = ("exact-survey", "none-train", "policy-excluded-id")
COUNTS = ("references", "alternatives", "wrong", "generic", "checks", "attacks")
_SECONDS = 240


class Laboratory:
    """One project folder.

    Parameters
    ----------
    root
        Where it will lie; must not exist.
    cases, probes
        Which of the repository's cases and probes its corpus holds.
    rehearsal
        The script of `eval.yaml`.
    """

    def __init__(
        self,
        root: Path,
        *,
        cases: Collection[str] = CASES,
        probes: Collection[str] = PROBES,
        rehearsal: Mapping[str, Any] | None = None,
    ) -> None:
        self.root = root
        self.ledger = root / "paid.jsonl"
        root.mkdir(mode=0o700)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / "eval_tasks", root / "eval_tasks", ignore=ignored)
        for name in ("dodo.py", "eval.yaml", "pyproject.toml"):
            shutil.copy(REPOSITORY / name, root / name)
        self._copy_corpus(cases, probes)
        (root / "toolchain").mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(REPOSITORY / "toolchain" / name, root / "toolchain" / name)
        (root / "toolchain" / "node_modules").symlink_to(REPOSITORY / "toolchain" / "node_modules")
        # The digest of the native binary, which every doit command of every laboratory asks for.
        (REPOSITORY / ".cache" / "digests").mkdir(parents=True, exist_ok=True)
        (root / ".cache").mkdir()
        (root / ".cache" / "digests").symlink_to(REPOSITORY / ".cache" / "digests")
        self.settings(rehearsal=dict(rehearsal or {"default": "oracle"}))

    def _copy_corpus(self, cases: Collection[str], probes: Collection[str]) -> None:
        folder = self.root / "corpus"
        shutil.copytree(REPOSITORY / "corpus" / "profiles", folder / "profiles")
        shutil.copy(REPOSITORY / "corpus" / "corpus.yaml", folder / "corpus.yaml")
        for case in cases:
            shutil.copytree(REPOSITORY / "corpus" / "cases" / case, folder / "cases" / case)
            for tree in ("references", "alternatives", "wrong", "mutants"):
                if (REPOSITORY / "tests" / tree / case).is_dir():
                    shutil.copytree(REPOSITORY / "tests" / tree / case, self.root / "tests" / tree / case)
        shutil.copytree(REPOSITORY / "tests" / "attacks", self.root / "tests" / "attacks")
        known = yaml.safe_load((REPOSITORY / "corpus" / "probes.yaml").read_text("utf-8"))["probes"]
        kept = [probe for probe in known if probe["id"] in probes]
        assert len(kept) == len(probes), "the repository lacks a probe of this test"
        (folder / "probes.yaml").write_text(yaml.safe_dump({"probes": kept}, sort_keys=False), "utf-8")
        self.vouch()

    def vouch(self) -> None:
        """Write a proof of the corpus as it is, without proving anything: the graders are tried by other tests."""
        loaded = corpus.load(self.root / "corpus")
        counts = dict.fromkeys(COUNTS, 0)
        cases = [
            CaseProof(case.id, case.digest, trying.plan_of(case, self.root / "tests").digest, counts)
            for case in loaded.cases
        ]
        vouched = Proof(loaded.digest, proof._sources(), tuple(cases))
        (self.root / "corpus" / "proof.json").write_bytes(records.pretty(vouched.value))

    def settings(self, **changes: Any) -> None:
        """Change top-level settings of `eval.yaml`."""
        path = self.root / "eval.yaml"
        value = yaml.safe_load(path.read_text("utf-8"))
        path.write_text(yaml.safe_dump({**value, **changes}, sort_keys=False), "utf-8")

    def limits(self, **changes: int) -> None:
        """Change limits of `eval.yaml`."""
        value = yaml.safe_load((self.root / "eval.yaml").read_text("utf-8"))
        self.settings(limits={**value["limits"], **changes})

    # Commands

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "LANG", "PYTHONPATH", "TMPDIR", "XDG_STATE_HOME")
            if name in os.environ
        }
        return {**kept, "CONTEXT_EVAL_REHEARSAL_LEDGER": str(self.ledger), "PYTHONDONTWRITEBYTECODE": "1", **extra}

    def doit(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run one doit command to its end; keyword arguments are further environment variables."""
        return self.run("-m", "doit", *arguments, **extra)

    def run(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the project to its end; keyword arguments are further environment variables."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=self._environment(extra),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def ok(self, *arguments: str, **extra: str) -> str:
        """Run one doit command that must succeed, and return what it printed."""
        ran = self.doit(*arguments, **extra)
        assert ran.returncode == 0, f"doit {' '.join(arguments)}: {ran.stdout}{ran.stderr}"
        return ran.stdout

    def stopped(self, *arguments: str, **extra: str) -> str:
        """Run one doit command that must stop with exit status 1, and return its one message."""
        ran = self.doit(*arguments, **extra)
        assert ran.returncode == 1, f"doit {' '.join(arguments)}: exit {ran.returncode}: {ran.stdout}{ran.stderr}"
        assert "Traceback" not in ran.stderr + ran.stdout
        assert ran.stderr.count("stopped: ") == 1, ran.stderr
        return ran.stderr.split("stopped: ", 1)[1].strip()

    def kill_when(self, condition: Any, *arguments: str, number: int = signal.SIGKILL, **extra: str) -> int:
        """Start a doit command, send it a signal as soon as a condition holds, and return its exit status."""
        process = subprocess.Popen(
            [sys.executable, "-m", "doit", *arguments],
            cwd=self.root,
            env=self._environment(extra),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 120
        while process.poll() is None and not condition():
            assert time.monotonic() < deadline, "the condition never came true"
            time.sleep(0.01)
        process.send_signal(number)
        return process.wait(60)

    # What is on disk

    @property
    def experiment(self) -> Path:
        return self.root / "experiments" / (self.root / "experiments" / "current").read_text("ascii").strip()

    @property
    def registration(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.experiment / "registration.json").read_bytes())
        return found

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.experiment / "report" / "report.json").read_bytes())
        return found

    def records(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the records of `arm-runs`, `grades` or `probes` by name."""
        folder = self.experiment / kind
        return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}

    @property
    def work(self) -> Path:
        """Return the experiment's folder outside the project."""
        return Path(json.loads((self.experiment / "local.json").read_bytes())["workRoot"])

    def paid(self) -> list[str]:
        """Return the name of each call that the loopback model was asked for, as it counted them itself."""
        if not self.ledger.exists():
            return []
        return [json.loads(line)["name"] for line in self.ledger.read_text("utf-8").splitlines()]

    def survivors(self) -> list[int]:
        """Return the processes that still have this laboratory's work folder among their mounts."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and re.match(r"\d+", folder.name):
                try:
                    mounts = (folder / "mountinfo").read_text("utf-8", "replace")
                except OSError:
                    continue
                if self.work.name in mounts:
                    found.append(int(folder.name))
        return found

    def close(self) -> None:
        """Remove what this laboratory keeps outside its folder."""
        if (self.root / "experiments" / "current").exists():
            shutil.rmtree(self.work, ignore_errors=True)
