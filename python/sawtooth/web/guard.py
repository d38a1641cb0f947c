"""Who may ask: a browser on this machine that was shown the token, of pages that come from here.

**Host and Origin.** A page of somebody else's can make a browser ask this server (a cross-site request), or make a name of its own stand for 127.0.0.1 (DNS rebinding). So the
Host has to be loopback at this port, and an Origin, if there is one, the same (RFC 6454); what would change something needs one, or the token itself as `Authorization: Bearer`.

**Token.** The address that `serve` prints has it. It is then a cookie that no script can read and no other site sends (SameSite=Strict).

**Content security policy.** Scripts, styles, pictures and connections are from here and from nowhere else.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sawtooth.web.settings import Settings

_SAFE = {"GET", "HEAD"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_UNKNOWN = """Sawtooth's explorer does not know this browser.

Open the address that `sawtooth serve` printed: it ends in ?token=... and is good as long as that command runs.
"""


class Guard:
    """Middleware around the application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        names = ("127.0.0.1", "localhost", "[::1]")
        self._hosts = {f"{name}:{settings.port}" for name in names}
        self._origins = {f"http://{host}" for host in self._hosts}
        # Cookies are of a host and not of a port: two explorers side by side have one each.
        self._cookie = f"sawtooth-{settings.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers itself what may not be asked."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce
        refused = self._refused(scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await (refused or self._app)(scope, receive, send_guarded)

    def _refused(self, scope: Scope) -> Response | None:
        if scope["type"] != "http":
            return PlainTextResponse("there are no web sockets here\n", 403)
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("this address is answered as 127.0.0.1 or localhost only\n", 421)
        origin = headers.get("origin")
        if (origin is not None and origin not in self._origins) or headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        ):
            return PlainTextResponse("pages of other sites may not ask here\n", 403)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer):
            return None
        if scope["method"] not in _SAFE and origin is None:
            return PlainTextResponse(
                "a request that changes something has to say from which page it comes (Origin), or to show the token\n", 403
            )
        if self._is_token(self._shown(headers)):
            return None
        return self._first(scope) or PlainTextResponse(_UNKNOWN, 401)

    def _first(self, scope: Scope) -> Response | None:
        """The answer to the address that was printed: the same page without the token, which is a cookie from now on."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] not in _SAFE or not self._is_token(dict(query).get("token", "")):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # A path that begins with two slashes would be another host's.
        path = "/" + scope["path"].lstrip("/")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(self._cookie, self._settings.token, httponly=True, samesite="strict", path="/")
        return answer

    def _shown(self, headers: Headers) -> str:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return cookie.value if cookie else ""

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._settings.token.encode())
