"""A provider of OpenID Connect of the tests' own, on 127.0.0.1, that says what it is told to say."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "maia-tests", "a+secret of the tests"


@dataclass
class FakeProvider:
    """`claims` is who signs in; `spoil` may change the token's claims, `sign` makes something else of them."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] | None = None
    document: dict[str, Any] = field(default_factory=dict)
    spoil: Callable[[dict[str, Any]], Any] = lambda _: None
    sign: Callable[[dict[str, Any]], str] | None = None
    status: int = 200
    redirect: str = ""
    key: Any = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    kid: str = "one"
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    posted: list[dict[str, str]] = field(default_factory=list)

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/me",
            **self.document,
        }

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": self.kid, "use": "sig"}]}

    def approve(self, address: str) -> str:
        """What a person does at the provider: where their browser is sent back to."""
        query = dict(parse_qsl(urlsplit(address).query))
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?code={code}&state={query['state']}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        asked = self.codes.pop(form.get("code", ""), None)
        digest = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if asked is None or digest != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return None
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": asked["nonce"], **self.claims}
        self.spoil(claims)
        signed = self.sign(claims) if self.sign else jwt.encode(claims, self.key, "RS256", {"kid": self.kid})
        return {"id_token": signed, "access_token": "of the tests", "token_type": "Bearer"}


@contextmanager
def provider() -> Generator[FakeProvider]:
    """A running one."""
    fake = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, body: Any) -> None:
            fake.asked.append(self.path)
            sent = json.dumps(body).encode()
            self.send_response(302 if fake.redirect else fake.status if body is not None else 400)
            if fake.redirect:
                self.send_header("location", fake.redirect)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def do_GET(self) -> None:  # the name is the library's
            path = urlsplit(self.path).path
            known: dict[str, Callable[[], Any]] = {
                "/.well-known/openid-configuration": fake.discovery,
                "/keys": fake.keys,
                "/me": lambda: fake.more,
            }
            self.answer(known.get(path, lambda: None)())

        def do_POST(self) -> None:  # likewise
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            fake.posted.append({**form, "authorization": self.headers.get("authorization", "")})
            self.answer(fake.token(form))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
