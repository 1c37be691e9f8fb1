"""How far a run is, while it runs: one live panel on a terminal, one plain line an outcome elsewhere.

Must never show who passed, nor a code by arm, before the last outcome: whoever looks could stop when they like it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from eval_tasks import records
from eval_tasks.schedule import trial_of_name

if TYPE_CHECKING:
    from eval_tasks.stages.session import Session

_REFRESHES_A_SECOND = 4
_PROBE = "probe:"


@dataclass(frozen=True)
class Snapshot:
    """What a run shows at one moment; times in seconds."""

    done: int
    scheduled: int
    calls: int
    most_calls: int
    spent: float
    deadline: float
    left: float | None
    codes: dict[str, int]
    working: tuple[str, ...]

    @property
    def facts(self) -> dict[str, str]:
        """Return what there is to say, by what it is about; what is not known yet is left out."""
        found = {
            "outcomes": f"{self.done} of {self.scheduled}",
            "calls": f"{self.calls} of at most {self.most_calls}",
            "time": f"{clock(self.spent)} of at most {clock(self.deadline)}",
        }
        if self.left is not None:
            found["left"] = f"about {clock(self.left)}"
        if self.codes:
            found["codes"] = ", ".join(f"{code} {count}" for code, count in sorted(self.codes.items()))
        if self.working:
            found["at work"] = ", ".join(self.working)
        return found

    def line(self, name: str) -> str:
        """Return the line that says that one more outcome is recorded."""
        said = [f"{what} {value}" for what, value in self.facts.items() if what not in ("outcomes", "at work")]
        return f"[{self.done}/{self.scheduled}] {name}  ({'; '.join(said)})"


def clock(seconds: float) -> str:
    """Write a time in hours, minutes and seconds.

    >>> clock(3725.4), clock(9.9)
    ('1:02:05', '0:00:09')
    """
    return str(timedelta(seconds=int(seconds)))


class Progress:
    """What one run of `doit run_eval` shows.

    Parameters
    ----------
    live
        Show a panel that is drawn again and again; otherwise each outcome is a line.
    """

    def __init__(self, session: Session, *, live: bool) -> None:
        self._session = session
        self._lock = Lock()
        self._working: dict[str, None] = {}
        self._codes: Counter[str] = Counter()
        self._begun = time.monotonic()
        self._places = dict(_places(session))
        self._done = {key for key, path in self._places.items() if path.is_file()}
        self._before = len(self._done)
        for key in self._done:
            self._count(key)
        self._panel: Any = _panel(self) if live else None

    @contextmanager
    def working(self, key: str) -> Iterator[list[str]]:
        """Show that an outcome is being made; the list has the line to print once it is recorded."""
        said: list[str] = []
        with self._lock:
            self._working[_subject(key)] = None
        try:
            yield said
        finally:
            with self._lock:
                self._working.pop(_subject(key), None)
        if key not in self._done and self._places[key].is_file():
            with self._lock:
                self._done.add(key)
                self._count(key)
            if self._panel is None:
                said.append(self.snapshot().line(key.removeprefix(_PROBE)))

    def _count(self, key: str) -> None:
        code = records.parse(self._places[key].read_bytes(), self._places[key].name)["failure"]
        if code is not None:
            self._codes[code] += 1

    def snapshot(self) -> Snapshot:
        """Return what there is to show now."""
        limits = self._session.registration.limits
        totals = self._session.journal.totals()
        with self._lock:
            done, codes, working = len(self._done), dict(self._codes), tuple(self._working)
        return Snapshot(
            done=done,
            scheduled=len(self._places),
            calls=totals.calls,
            most_calls=limits["calls"],
            spent=totals.elapsed_ms / 1000,
            deadline=limits["deadlineSeconds"],
            left=_left(done - self._before, len(self._places) - done, time.monotonic() - self._begun),
            codes=codes,
            working=working,
        )

    def close(self) -> None:
        """Take the panel away."""
        if self._panel is not None:
            self._panel.stop()


def _left(made: int, missing: int, seconds: float) -> float | None:
    """Return how long the missing outcomes take at this run's own pace, or None while it has none."""
    return seconds / made * missing if made > 0 and missing > 0 else None


def _places(session: Session) -> Iterator[tuple[str, Path]]:
    for trial in session.registration.trials:
        yield trial.name, session.experiment.arm_run(trial.name)
    for probe in session.registration.probes:
        yield f"{_PROBE}{probe}", session.experiment.probe(probe)


def _subject(key: str) -> str:
    """Return the case of a trial or the id of a probe: never an arm, whose calls could be told fast from slow."""
    return key.removeprefix(_PROBE) if key.startswith(_PROBE) else trial_of_name(key).case_id


def is_live() -> bool:
    """Return whether somebody looks at a terminal that can be drawn on."""
    return sys.stdout.isatty()


def _panel(progress: Progress) -> Any:
    # Slow to import, and wanted on a terminal only.
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415
    from rich.progress_bar import ProgressBar  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    def draw() -> Table:
        now = progress.snapshot()
        table = Table.grid(padding=(0, 2))
        table.add_row("", ProgressBar(total=max(1, now.scheduled), completed=now.done, width=50))
        for what, value in now.facts.items():
            table.add_row(what, value)
        return table

    panel = Live(
        get_renderable=draw, console=Console(), refresh_per_second=_REFRESHES_A_SECOND, transient=True, screen=False
    )
    panel.start()
    return panel
