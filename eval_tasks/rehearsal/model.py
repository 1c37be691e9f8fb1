"""The loopback model: a server on 127.0.0.1 that plays one behaviour to each call of the real agent.

It never writes a request, a reply or a path to disk, and it never answers a call that it was not asked to play.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from eval_tasks.rehearsal import messages, responses
from eval_tasks.rehearsal.behaviour import SUMMARY, Behaviour, Reply, Silence, Wire, steps_taken

__all__ = ["Behaviour", "Endpoint", "LoopbackModel"]

HOST = "127.0.0.1"
KEPT_BYTES = 64 * 1024 * 1024
"""How much of the requests an endpoint remembers; an endless tool loop sends gigabytes."""

ENDING_SECONDS = 10.0
"""How long the end waits for its threads; each has lost its connection by then."""

_POLL_SECONDS = 0.05
_NOT_FOUND = Reply(status=HTTPStatus.NOT_FOUND, headers=())

WIRES: Mapping[str, Wire] = {"v1/responses": responses, "v1/messages": messages}
"""The protocol that is spoken at each path below a call's token."""

Answer = Callable[[str, bytes, Wire], Reply | None]
"""From a call's token, a request's body and its protocol to the reply; None if no such call is open."""


@dataclass
class Endpoint:
    """Where one call finds its model, and what it has asked there.

    Attributes
    ----------
    base_url
        What the agent's provider setting gets.
    behaviour, name
        As they were given to `LoopbackModel.play`.
    requests
        The bodies of the requests, in memory only: the first `KEPT_BYTES` of them.
    request_count
        How many there were, kept or not.
    """

    base_url: str
    behaviour: Behaviour
    name: str
    requests: list[dict[str, Any]] = field(default_factory=list, repr=False)
    request_count: int = 0
    _kept_bytes: int = 0
    _tokens: dict[int, int] = field(default_factory=dict, repr=False)
    _outputs: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """Return what the agent's tools gave back, one item a step, in the order of the steps."""
        return list(self._outputs.values())

    def answer(self, body: bytes, wire: Wire) -> Reply:
        """Remember a request and return the reply that the behaviour gives it."""
        request: dict[str, Any] = json.loads(body)
        with self._lock:
            self.request_count += 1
            self._kept_bytes += len(body)
            if self._kept_bytes <= KEPT_BYTES:
                self.requests.append(request)
            honest = self._honest(request, wire)
            fault = self.behaviour.fault
            return honest if fault is None else fault.spoil(honest, self.request_count)

    def _honest(self, request: Mapping[str, Any], wire: Wire) -> Reply:
        # Outputs are told apart by the ids that we gave: a retried request brings nothing new and gets the same step
        # again, and an agent that forgets its history when it compacts it is not sent back to the beginning.
        self._outputs |= wire.answered(request)
        index = steps_taken(self._outputs)
        step = SUMMARY if wire.compacts(request) else self.behaviour.step(index)
        # Of the step before, not of the request before: a retry must report what its first try would have.
        self._tokens[index] = wire.tokens_read(request)
        before = self._tokens.get(index - 1, 0)
        return wire.reply(step, request, index=index, before=before, report=self.behaviour.usage)


class LoopbackModel:
    """A server for any number of calls at once, open between `with` and its end.

    Parameters
    ----------
    ledger
        A file that gets one line `{"name": …, "token": …}` before the first request of a call is answered, so that a
        test can count paid calls from outside this process; None writes nothing.
    keep_calls
        Keep the endpoint of every call in `calls`, also when it is over.

    Attributes
    ----------
    calls
        The endpoints in the order in which they were opened, if they are kept.
    """

    def __init__(self, ledger: Path | None = None, *, keep_calls: bool = False) -> None:
        self.calls: list[Endpoint] = []
        self._ledger = ledger
        self._keep_calls = keep_calls
        self._endpoints: dict[str, Endpoint] = {}
        self._paid: set[str] = set()
        self._lock = threading.Lock()
        self._server = _Server(self._answer)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="loopback-model", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.hang_up()
        self._server.wait_until_idle()

    @contextmanager
    def play(self, behaviour: Behaviour, name: str = "") -> Iterator[Endpoint]:
        """Open an endpoint of its own for one call; at the end it hangs up on whatever still waits there.

        Parameters
        ----------
        behaviour
            What the model does in this call.
        name
            Stands in the ledger beside the token, for a test that asks whether a trial was paid twice.
        """
        token = secrets.token_hex(8)
        with _port(self._server, behaviour) as port:
            endpoint = Endpoint(f"http://{HOST}:{port}/{token}/v1", behaviour, name)
            if self._keep_calls:
                self.calls.append(endpoint)
            with self._lock:
                self._endpoints[token] = endpoint
            try:
                yield endpoint
            finally:
                with self._lock:
                    del self._endpoints[token]
                self._server.hang_up(token)

    def _answer(self, token: str, body: bytes, wire: Wire) -> Reply | None:
        with self._lock:
            endpoint = self._endpoints.get(token)
            if endpoint is None:
                return None
            if self._ledger is not None and token not in self._paid:
                # Under the lock, so that the line is on disk before any request of this call is answered.
                _append(self._ledger, {"name": endpoint.name, "token": token})
                self._paid.add(token)
        return endpoint.answer(body, wire)


def _append(ledger: Path, entry: Mapping[str, str]) -> None:
    line = json.dumps(entry, sort_keys=True) + "\n"
    descriptor = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode("utf-8"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _port(server: _Server, behaviour: Behaviour) -> Iterator[int]:
    """Give the server's port, or one that is bound and never listens: there every connection is refused."""
    if behaviour.fault is None or not behaviour.fault.refused:
        yield server.server_address[1]
        return
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as deaf:
        deaf.bind((HOST, 0))
        yield deaf.getsockname()[1]


class _Server(ThreadingHTTPServer):
    """Serves each connection on a thread, and can hang up on them so that no thread outlives its call."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self._connections: dict[socket.socket, str] = {}
        self._changed = threading.Condition()
        super().__init__((HOST, 0), _Handler)

    def server_bind(self) -> None:
        """Bind without looking up the host's own name, as `HTTPServer` does: that can block without a network."""
        socketserver.TCPServer.server_bind(self)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection, and remember it until its thread has closed it."""
        connection, address = super().get_request()
        self.assign(connection, "")
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close a connection and forget it; its thread does this last."""
        super().shutdown_request(request)
        with self._changed:
            del self._connections[cast(socket.socket, request)]
            self._changed.notify_all()

    def assign(self, connection: socket.socket, token: str) -> None:
        """Note to which call a connection belongs."""
        with self._changed:
            self._connections[connection] = token

    def hang_up(self, token: str | None = None) -> None:
        """Shut the connections of one call, or all; a thread that waits on one ends at once."""
        with self._changed:
            for connection, owner in self._connections.items():
                if token in (None, owner):
                    # The agent may have hung up first.
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)

    def wait_until_idle(self) -> None:
        """Wait until every connection's thread is done with it."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._connections, ENDING_SECONDS):
                raise RuntimeError(f"{len(self._connections)} connections of the loopback model did not end")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let an agent hang up in the middle of anything; every other error is a bug, shown as of any thread."""
        # The server's own way would print the message, which may hold what the agent sent.
        if not isinstance(sys.exc_info()[1], OSError):
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))


class _Handler(BaseHTTPRequestHandler):
    """Reads one request and sends one reply, then closes the connection."""

    server: _Server

    def do_POST(self) -> None:
        """Answer a request for a step, if it is one."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        token, _, path = self.path.partition("?")[0].strip("/").partition("/")
        self.server.assign(self.connection, token)
        wire = WIRES.get(path)
        reply = None if wire is None else self.server.answer(token, body, wire)
        self._send(_NOT_FOUND if reply is None else reply)

    def do_GET(self) -> None:
        """Have nothing to show, not even a list of models."""
        self._send(_NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the evaluator."""

    def _send(self, reply: Reply) -> None:
        if reply.silence is not Silence.BEFORE_HEADERS:
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body[: reply.cut])
        if reply.silence is not None:
            self._wait()

    def _wait(self) -> None:
        # The agent sends nothing more: this returns when it hangs up, or when we do.
        while self.connection.recv(1024):
            continue
