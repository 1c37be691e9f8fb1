"""Which skill files a shell command reads, for every agent whose tools are shell commands.

Must never return a text from a command that is not the id of an installed skill, and never count writing as reading.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import string
from collections.abc import Collection, Iterator, Mapping, Sequence

_FILE = "SKILL.md"
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_SCRIPT_FLAG = re.compile(r"-[a-z]*c[a-z]*")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_INTERPRETER = re.compile(r"python[\d.]*|node|perl|ruby|bash|sh")
_IN_A_PATH = frozenset(string.ascii_letters + string.digits + "_.,$~{}*/+@-")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_SEPARATORS = frozenset({";", "&&", "||", "|", "&", "\n", "(", ")", ";;", "|&"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>"})
_WORDS_BEFORE_A_COMMAND = frozenset({"sudo", "time", "exec", "command", "env", "nice", "then", "do", "else", "if", "!"})
_ASSIGNMENT = re.compile(r"\w+=")
_NO_READERS = frozenset(
    [
        "ls",
        "test",
        "[",
        "[[",
        "stat",
        "touch",
        "rm",
        "rmdir",
        "mv",
        "cp",
        "ln",
        "mkdir",
        "chmod",
        "chown",
        "echo",
        "printf",
        "find",
        "fd",
        "tee",
        "realpath",
        "readlink",
        "basename",
        "dirname",
        "file",
        "which",
        "du",
        "cd",
        "pushd",
        "export",
        "apply_patch",
    ]
)
_EXPANSIONS_LIMIT = 64
_LONGEST_PATH = 4096
_LONGEST_COMMAND = 16_384
"""Beyond that a command is text that is written somewhere, and taking it apart would cost seconds."""


def opened(
    command: str, installed: Collection[str], *, skills: str, roots: Mapping[str, str], cwd: str
) -> tuple[set[str], int]:
    """Return the ids of installed skills whose file a command reads, and how many other skill files it reads.

    Parameters
    ----------
    command
        A shell command as an agent reports it, with or without its `bash -c` wrapper.
    installed
        The ids that may be returned.
    skills
        The folder that holds the installed skills.
    roots
        What variables stand for, such as `{"HOME": "/h"}`; `~` is `HOME`.
    cwd
        Where the command starts. Files below it are the agent's own work and no skills.
    """
    ids: set[str] = set()
    unknown: set[str] = set()
    if _FILE not in command:
        return ids, 0
    for path in _read_paths(_script(command[:_LONGEST_COMMAND]), roots, cwd):
        if path.startswith(f"{cwd.rstrip('/')}/"):
            continue
        folder = posixpath.basename(posixpath.dirname(path))
        if folder in installed and path == f"{skills}/{folder}/{_FILE}":
            ids.add(folder)
        else:
            unknown.add(path)
    return ids, len(unknown)


def _script(command: str) -> str:
    """Return the script inside `bash -lc '…'`, or the command itself."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if words and posixpath.basename(words[0]) in _SHELLS:
        for index, word in enumerate(words[1:-1], start=1):
            if _SCRIPT_FLAG.fullmatch(word):
                return words[index + 1]
    return command


def _read_paths(script: str, roots: Mapping[str, str], cwd: str) -> Iterator[str]:
    """Yield the absolute path of every SKILL.md that a script gives to a command as something to read."""
    for words in _simple_commands("\n".join(_without_texts(script.split("\n")))):
        name, arguments = _command_of(words)
        if name in {"cd", "pushd"} and arguments:
            cwd = _absolute(arguments[0], roots, cwd)
        if name in _NO_READERS or _edits_in_place(name, arguments):
            continue
        for word in words:
            for text in _embedded(word):
                for path in _braced(text):
                    yield _absolute(path, roots, cwd)


def _without_texts(lines: Sequence[str]) -> Iterator[str]:
    """Yield a script's lines without here-documents, which are written or printed unless an interpreter runs them."""
    rest = iter(lines)
    for line in rest:
        heredoc = _HEREDOC.search(line)
        if heredoc is None or _runs_its_input(line[: heredoc.start()]):
            yield line
            continue
        yield line[: heredoc.start()] + line[heredoc.end() :]
        for text in rest:
            if text.strip() == heredoc[2]:
                break


def _runs_its_input(line: str) -> bool:
    """Return whether the last command of a line is an interpreter."""
    name, _ = _command_of(re.split(r"[;&|(]", line)[-1].split())
    return _INTERPRETER.fullmatch(name) is not None


def _simple_commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command, without the targets of redirections that write."""
    for line in script.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            tokens = list(lexer)
        except ValueError:
            tokens = line.split()
        words: list[str] = []
        writing = False
        for token in tokens:
            if token in _SEPARATORS:
                yield words
                words = []
            elif not writing and not set(token) <= set("<>&"):
                words.append(token)
            writing = token in _WRITES
        yield words


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """Return a simple command's name and arguments, past assignments and words such as `sudo` or `do`."""
    for index, word in enumerate(words):
        if word not in _WORDS_BEFORE_A_COMMAND and not _ASSIGNMENT.match(word):
            return posixpath.basename(word), words[index + 1 :]
    return "", []


def _edits_in_place(name: str, arguments: list[str]) -> bool:
    return name in {"sed", "perl"} and any(re.match(r"-\w*i|--in-place", word) for word in arguments)


def _embedded(word: str) -> Iterator[str]:
    """Yield every path in a word that ends in SKILL.md, also inside a program's text."""
    done = 0
    at = word.find(_FILE)
    while at >= 0:
        start = at
        while start > max(done, at - _LONGEST_PATH) and word[start - 1] in _IN_A_PATH:
            start -= 1
        done = at + len(_FILE)
        yield word[start:done]
        at = word.find(_FILE, done)


def _braced(text: str) -> Iterator[str]:
    """Yield what a word with braces stands for, up to a limit."""
    waiting = [text]
    for _ in range(_EXPANSIONS_LIMIT):
        if not waiting:
            return
        word = waiting.pop()
        match = _BRACES.search(word)
        if match is None:
            yield word
        else:
            waiting += [word[: match.start()] + choice + word[match.end() :] for choice in match[1].split(",")]


def _absolute(path: str, roots: Mapping[str, str], cwd: str) -> str:
    for name, value in roots.items():
        for spelling in (f"${{{name}}}", f"${name}"):
            if path == spelling or path.startswith(f"{spelling}/"):
                path = value + path[len(spelling) :]
    if path == "~" or path.startswith("~/"):
        path = roots.get("HOME", "") + path[1:]
    if path.startswith(("$", "~")):
        return f"/{path}"  # Wherever that is, it is not the workspace.
    return posixpath.normpath(posixpath.join(cwd, path))
