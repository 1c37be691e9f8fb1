"""Which skill files a shell command reads, for every agent whose tools are shell commands.

Must never return a text from a command that is not the id of an installed skill, and never count writing as reading.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping

_FILE = "SKILL.md"
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_SCRIPT_FLAG = re.compile(r"-[a-z]*c[a-z]*")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n.*?\n[ \t]*\2[ \t]*(?=\n|$)", re.DOTALL)
_INTERPRETER = re.compile(r"(?:^|[;&|(\s])(?:python[\d.]*|node|perl|ruby|bash|sh)\b[^\n;&|]*$")
_EMBEDDED = re.compile(r"[\w.,$~{}*/+@-]*" + re.escape(_FILE))
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
    for path in _read_paths(_script(command), roots, cwd):
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
    if _FILE not in script:
        return
    script = _HEREDOC.sub(_without_text, script)
    for words in _simple_commands(script):
        name, arguments = _command_of(words)
        if name in {"cd", "pushd"} and arguments:
            cwd = _absolute(arguments[0], roots, cwd)
        if name in _NO_READERS or _edits_in_place(name, arguments):
            continue
        for word in words:
            for text in _EMBEDDED.findall(word):
                for path in _braced(text):
                    yield _absolute(path, roots, cwd)


def _without_text(heredoc: re.Match[str]) -> str:
    """Return a here-document's line without its text, which is written or printed, unless an interpreter runs it."""
    before = heredoc.string[: heredoc.start()]
    return heredoc[0] if _INTERPRETER.search(before[before.rfind("\n") + 1 :]) else heredoc[3]


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
    return posixpath.normpath(posixpath.join(cwd, path))
