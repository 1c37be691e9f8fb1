"""Words that may reach neither disk nor terminal: one for each private thing, in whatever coding, and the search.

Must never name a place where it is fine to find one: each test says that itself.
"""

from __future__ import annotations

import base64
import codecs
import os
import secrets
import string
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

CHANNELS = (
    *("prompt", "case-file", "selected-skill", "installed-skill", "other-skill"),
    *("message", "output", "stderr", "file-name", "command"),
    *("environment", "api-key", "login", "home", "project", "user", "exception"),
)
PATHS = frozenset({"home", "project", "work", "node"})
"""What `local.json` is there to hold."""

SEQUENCES = "\x1b]0;owned\x07\x1b[2J\r\u202e"
"""What a terminal would obey: a title, a cleared screen, a carriage return, a turned direction."""

_HALF = 12


class Canaries:
    """A fresh word for each channel, with an `@` in its middle, so that its URL-encoded form differs.

    Parameters
    ----------
    more
        Texts by channel that are private as they are, such as paths.
    """

    def __init__(self, **more: str) -> None:
        self._words = {channel: "@".join((_letters(), _letters())) for channel in CHANNELS}
        self._forms = {
            form: channel
            for channel, word in self._words.items()
            for half in word.split("@")
            for form in _forms(half.encode("ascii"))
        }
        self._forms |= {text.encode("utf-8"): channel for channel, text in more.items()}

    def __getitem__(self, channel: str) -> str:
        return self._words[channel]

    def spoken(self, channel: str) -> str:
        """Return shell text that comes to the word and does not hold it, for a script that lies where we look."""
        return f"$(echo {codecs.encode(self[channel], 'rot13')} | tr a-z n-za-m)"

    def within(self, content: bytes, *, but: Collection[str] = ()) -> set[str]:
        """Return the channels whose word stands in some bytes: half of it is enough, in whatever coding."""
        return {channel for form, channel in self._forms.items() if form in content and channel not in but}

    def below(self, folder: Path, *, skip: Callable[[str], bool] = lambda name: False) -> list[str]:
        """Return each file below a folder that holds a word in its content or its name, with the word's channel.

        Parameters
        ----------
        skip
            Told each relative path; a folder that it skips is not entered.
        """
        found = []
        for name, content in _files(folder, skip):
            but = PATHS if os.path.basename(name) == "local.json" else ()
            found += [f"{channel} in {name}" for channel in sorted(self.within(content, but=but))]
        return found


def _letters() -> str:
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(_HALF))


def _forms(word: bytes) -> Iterator[bytes]:
    """Yield a word as it is, in base64 at each of the three alignments, in hexadecimal and percent-encoded."""
    yield word
    for shift in range(3):
        # Without the characters that also depend on what stands before and after the word.
        whole = base64.b64encode(b"\0" * shift + word)
        yield whole[-(-8 * shift // 6) : 8 * (shift + len(word)) // 6]
    yield word.hex().encode("ascii")
    for case in ("%02x", "%02X"):
        yield "".join("%" + case % byte for byte in word).encode("ascii")


def _files(folder: Path, skip: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield the relative path and the content of each entry; a link's content is where it leads."""
    for parent, folders, files in os.walk(folder):
        here = os.path.relpath(parent, folder)
        folders[:] = [name for name in folders if not skip(os.path.normpath(os.path.join(here, name)))]
        for name in (*folders, *files):
            relative = os.path.normpath(os.path.join(here, name))
            path = folder / relative
            if skip(relative):
                continue
            content = os.fsencode(relative) + b"\n"
            if path.is_symlink():
                content += os.fsencode(os.readlink(path))
            elif path.is_file():
                content += path.read_bytes()
            yield relative, content


def obeyed(text: str) -> set[str]:
    """Return the characters of a text that a terminal could obey."""
    return {character for character in text if not character.isprintable() and character != "\n"}
