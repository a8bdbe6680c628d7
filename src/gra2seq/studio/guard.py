"""What every request passes: which host it names, where it comes from, how large it is; and headers of each answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from gra2seq.studio.limits import MAX_BODY, MAX_DISCARDED

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """ASGI middleware in front of the service.

    A page elsewhere can make a browser call 127.0.0.1, under its own name if that name resolves to it (DNS
    rebinding): only requests that name one of our hosts, and come from no page or from our own, are answered.
    """

    def __init__(self, app: App, hosts: Sequence[str]) -> None:
        self._app, self._hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        refused = self._refused(scope)
        body = await _body(receive)
        if refused or body is None:
            await _answer(guarded, *(refused or TOO_LARGE))
            return
        unread = [body]

        async def replay() -> Message:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            return await receive()

        await self._app(scope, replay, guarded)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason, if the request is not answered."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host not in self._hosts:
            return 421, "this host is not served: open the address that the studio printed"
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() != f"http://{host}":
            return 403, "requests from other pages are not answered"
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return 403, "requests from other pages are not answered"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > MAX_BODY:
            return TOO_LARGE
        if scope["method"] == "POST" and not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
            return 415, "send JSON: Content-Type application/json"
        return None


TOO_LARGE = 413, f"the request is larger than {MAX_BODY:,} bytes: simplify the drawing"


async def _body(receive: Receive) -> bytes | None:
    """The whole body of a request, or None if it is larger than the limit.

    Of a larger one the rest is read, up to a limit: a connection that is closed while the other side still sends is
    reset, and the answer is lost.
    """
    body, read = bytearray(), 0
    while read < MAX_DISCARDED:
        message = await receive()
        if message["type"] != "http.request":
            break
        part = message.get("body", b"")
        read += len(part)
        if read <= MAX_BODY:
            body += part
        if not message.get("more_body"):
            break
    return bytes(body) if read <= MAX_BODY else None


def _with_headers(send: Send) -> Send:
    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name for name, _ in HEADERS}
            own = [entry for entry in message.get("headers", []) if entry[0] not in names]
            message = {**message, "headers": own + HEADERS}
        await send(message)

    return add


async def _answer(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
