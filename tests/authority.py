"""A loopback token authority with a model behind it: every refresh token works once, every access token for one call.

Must never be kinder than the real one: a refresh token that was used before is refused, and noted.
"""

from __future__ import annotations

import base64
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ACCOUNT = "account-1"
REFRESH = "/oauth/token"
MODEL = "/v1"
WAITS = "/waits"
"""Answers what the plan says of the call that waits for ever just now, or `none`."""

OVER, FRESH = -60, 3600
"""Seconds that an access token has to live: Codex renews the first kind before it asks, and the other if refused."""

ANSWER = (
    {
        "type": "response.output_item.done",
        "item": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    },
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "usage": {
                "input_tokens": 9,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 3,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 12,
            },
        },
    },
)


def token(seconds: int, **more: Any) -> str:
    """Return an unsigned token as Codex reads one, which is over in so many seconds."""
    claims = {"exp": int(time.time()) + seconds, "https://api.openai.com/auth": {"chatgpt_account_id": ACCOUNT}, **more}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({}, claims)]
    return ".".join([*parts, "x"])


class Authority:
    """What the server knows; made and run by `serving`.

    Parameters
    ----------
    plan
        What happens in the calls that renew their login, in order, each one of `answer`, and `hang` and `crash` (no
        reply ever); it stands in the refresh token that the call gets. After the last, calls are answered.
    on_hang
        Called when a call begins to wait for ever.

    Attributes
    ----------
    renewed
        The refresh tokens that were given out for others, in order.
    reused
        Refresh tokens that came a second time.
    hanging
        Set while a call waits for ever.
    """

    def __init__(self, plan: Iterable[str] = (), on_hang: Callable[[], None] = lambda: None) -> None:
        self._plan = iter(plan)
        self._numbers = itertools.count()
        self._on_hang = on_hang
        self._lock = threading.Lock()
        self._good: set[str] = set()
        self._access = ""
        self.now = "answer"
        self.renewed: list[str] = []
        self.reused: list[str] = []
        self.hanging = threading.Event()

    def sign_in(self, name: str = "first", seconds: int = OVER) -> bytes:
        """Return a login as `codex login` writes it; calls that use it as it is are answered."""
        with self._lock:
            self.now = "answer"
            tokens = {**self._give(name, seconds), "account_id": ACCOUNT}
        login = {"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": tokens, "last_refresh": _now()}
        return json.dumps(login).encode("ascii")

    def _give(self, name: str, seconds: int) -> dict[str, str]:
        refresh = f"rt-{name}-{next(self._numbers)}"
        self._good.add(refresh)
        self._access = token(seconds, jti=refresh)
        return {"id_token": token(seconds), "access_token": self._access, "refresh_token": refresh}

    def renew(self, refresh: str) -> dict[str, str] | None:
        """Return new tokens for a refresh token, which is worth nothing from then on; None if it is already."""
        with self._lock:
            if refresh not in self._good:
                self.reused.append(refresh)
                return None
            self._good.remove(refresh)
            self.now = next(self._plan, "answer")
            tokens = self._give(self.now, FRESH)
            self.renewed.append(tokens["refresh_token"])
            return tokens

    def admits(self, header: str | None) -> bool:
        """Return whether an access token is the newest one, and take it back, so that the next call has to renew it."""
        with self._lock:
            admitted = header == f"Bearer {self._access}"
            if admitted:
                self._access = ""
            return admitted

    def wait_for_ever(self, connection: socket.socket) -> None:
        """Keep a call waiting until it hangs up."""
        self.hanging.set()
        self._on_hang()
        with suppress(ConnectionResetError):
            while connection.recv(1024):
                continue
        self.hanging.clear()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    authority: Authority


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        authority = self.server.authority
        if self.path == REFRESH:
            tokens = authority.renew(body["refresh_token"])
            fault = {"error": {"code": "refresh_token_reused", "message": "used before"}}
            self._send(200 if tokens else 401, json.dumps(tokens or fault).encode("ascii"), "application/json")
        elif not authority.admits(self.headers["Authorization"]):
            self._send(401, b'{"error":{"message":"invalid token"}}', "application/json")
        elif authority.now in ("hang", "crash"):
            authority.wait_for_ever(self.connection)
        else:
            events = b"".join(b"data: " + json.dumps(event).encode("ascii") + b"\n\n" for event in ANSWER)
            self._send(200, events, "text/event-stream")

    def do_GET(self) -> None:
        if self.path != WAITS:
            return self._send(404, b"{}", "application/json")
        authority = self.server.authority
        return self._send(200, (authority.now if authority.hanging.is_set() else "none").encode("ascii"), "text/plain")

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(authority: Authority) -> Iterator[str]:
    """Give the address of a server with this authority, with `REFRESH` and `MODEL` below it."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.authority = authority
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
