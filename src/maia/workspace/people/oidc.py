"""Signing in at somebody else's provider: OpenID Connect's code flow with PKCE, state and nonce.

Sources: OpenID Connect Core 1.0 and Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (issuer in the answer), RFC 9700.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlencode

from maia.core.secret import Secret
from maia.core.text import visible
from maia.core.weburl import WebUrl, is_loopback_host, read_url
from maia.database.users import Role
from maia.workspace.problems import EnteringFailed

if TYPE_CHECKING:
    import httpx2

RETURN: Final = "/signin/oidc/return"
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key that the provider shows; never one that a client could make, and never none."""
STATE_SECONDS: Final = 600.0
_MOST_WAITING, _LARGEST, _PATIENCE, _LEEWAY = 1000, 1_000_000, 10.0, 60
_ASKED_EVERY = 60.0
"""Seconds for which what the provider says of itself, and its keys, are kept before they are asked for anew."""
_log = logging.getLogger("maia.oidc")


@dataclass(frozen=True, slots=True)
class Provider:
    """What the installation was told of its provider. Without a `role` only people who were invited get in."""

    issuer: str
    client_id: str
    client_secret: Secret
    name: str
    domains: tuple[str, ...] = ()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is at a provider. `email` is empty unless the provider has verified it."""

    issuer: str
    subject: str
    email: str
    name: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Where the browser goes, and what it keeps meanwhile so that nobody else can end what it began."""

    url: str
    binding: str


@dataclass(frozen=True, slots=True)
class _Waiting:
    binding: str
    nonce: str
    verifier: str
    back: str
    where: str
    until: float


class Oidc:
    """One provider. Nothing is asked of it before somebody signs in there."""

    def __init__(self, provider: Provider, now: Callable[[], float] = time.monotonic) -> None:
        self.provider = provider
        self._now = now
        self._waiting: dict[str, _Waiting] = {}
        self._endpoints: Mapping[str, Any] = {}
        self._asked_endpoints = -_ASKED_EVERY
        self._keys: Mapping[str, Any] = {}
        self._asked_keys = -_ASKED_EVERY
        self._asking = asyncio.Lock()

    async def begin(self, public: str, where: str) -> Asked:
        """Send a browser to the provider; it comes back to `public`, and then goes on to `where`.

        Raises `EnteringFailed` when the provider does not answer, or not as one.
        """
        endpoints = await self._discovered()
        now = self._now()
        self._waiting = {key: each for key, each in self._waiting.items() if each.until > now}
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting.pop(next(iter(self._waiting)))
        state, binding, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(4))
        back = public.rstrip("/") + RETURN
        self._waiting[state] = _Waiting(_digest(binding), nonce, verifier, back, where, now + STATE_SECONDS)
        asked = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": back,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        address = str(endpoints["authorization_endpoint"])
        return Asked(f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}", binding)

    async def end(self, answer: Mapping[str, str], binding: str) -> tuple[Identity, str]:
        """Who came back, and where they want to go. Each state counts once. Raises `EnteringFailed`."""
        waiting = self._waiting.pop(answer.get("state", ""), None)
        if waiting is None or waiting.until < self._now():
            raise EnteringFailed("oidc.over")
        if not hmac.compare_digest(waiting.binding, _digest(binding)):
            raise EnteringFailed("oidc.over")
        if answer.get("iss", self.provider.issuer) != self.provider.issuer:
            raise EnteringFailed("oidc.odd")
        if not answer.get("code"):
            raise EnteringFailed("oidc.refused", reason=visible(answer.get("error", ""))[:100])
        tokens = await self._tokens(answer["code"], waiting)
        claims = await self._claims(tokens.get("id_token"), waiting.nonce)
        if "email" not in claims:
            claims = {**await self._more(tokens.get("access_token"), claims), **claims}
        return _identity(self.provider.issuer, claims), waiting.where

    # What the provider says

    async def _discovered(self) -> Mapping[str, Any]:
        if self._asked_endpoints + _ASKED_EVERY <= self._now():
            found = await self._get(self.provider.issuer.rstrip("/") + "/.well-known/openid-configuration")
            if found.get("issuer") != self.provider.issuer:
                _log.warning("oidc: the provider calls itself %r", found.get("issuer"))
                raise EnteringFailed("oidc.odd")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                self._must_be_theirs(found.get(name))
            self._endpoints, self._asked_endpoints = found, self._now()
        return self._endpoints

    def _must_be_theirs(self, address: object) -> None:
        """An address that the provider names: encrypted, and on this machine only where the provider is."""
        url, own = read_url(address if isinstance(address, str) else ""), read_url(self.provider.issuer)
        if not (isinstance(url, WebUrl) and isinstance(own, WebUrl)):
            raise EnteringFailed("oidc.odd")
        is_inside = is_loopback_host(url.host)
        if (is_inside and not is_loopback_host(own.host)) or (url.scheme != "https" and not is_inside):
            _log.warning("oidc: an address of the provider is not taken: %s", url)
            raise EnteringFailed("oidc.odd")

    async def _tokens(self, code: str, waiting: _Waiting) -> Mapping[str, Any]:
        endpoints, provider = await self._discovered(), self.provider
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": waiting.back,
            "client_id": provider.client_id,
            "code_verifier": waiting.verifier,
        }
        ways = endpoints.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        headers: dict[str, str] = {}
        if provider.client_secret and "client_secret_basic" in ways:
            headers["Authorization"] = _basic(provider.client_id, provider.client_secret.reveal())
        elif provider.client_secret:
            form["client_secret"] = provider.client_secret.reveal()
        return await self._ask("POST", str(endpoints["token_endpoint"]), headers, form)

    async def _claims(self, token: object, nonce: str) -> Mapping[str, Any]:
        """What a signed token says. Raises `EnteringFailed` for one that is not the provider's, ours, and new."""
        import jwt

        try:
            text = str(token or "")
            head = jwt.get_unverified_header(text)
            if head.get("alg") not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError(str(head.get("alg")))
            key = await self._key(str(head.get("kid", "")))
            claims = jwt.decode(
                text,
                key,
                algorithms=[head["alg"]],
                audience=self.provider.client_id,
                issuer=self.provider.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iat", "aud", "iss", "sub"]},
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            _log.warning("oidc: a token is not taken: %s", type(error).__name__)
            is_late = isinstance(error, (jwt.ImmatureSignatureError, jwt.ExpiredSignatureError))
            raise EnteringFailed("oidc.clock" if is_late else "oidc.odd", name=self.provider.name) from None
        is_ours = claims.get("azp", self.provider.client_id) == self.provider.client_id
        if not is_ours or not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise EnteringFailed("oidc.odd")
        return claims

    async def _key(self, kid: str) -> Any:
        """The provider's key of that name; asked for anew when it is not known, at most once a minute."""
        import jwt

        async with self._asking:
            await self._look_for(kid)
        if kid not in self._keys:
            raise jwt.InvalidKeyError(kid)
        return jwt.PyJWK(dict(self._keys[kid])).key

    async def _look_for(self, kid: str) -> None:
        if kid not in self._keys and self._asked_keys + _ASKED_EVERY <= self._now():
            self._asked_keys = self._now()
            found = await self._get(str((await self._discovered())["jwks_uri"]))
            listed = [cast(Mapping[str, Any], each) for each in found.get("keys", []) if isinstance(each, dict)]
            self._keys = {str(each.get("kid", "")): each for each in listed if each.get("use", "sig") == "sig"}

    async def _more(self, token: object, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the provider tells beside the token, of the same person only."""
        address = (await self._discovered()).get("userinfo_endpoint")
        if not address or not isinstance(token, str):
            return {}
        self._must_be_theirs(address)
        found = await self._ask("GET", str(address), {"Authorization": f"Bearer {token}"})
        if found.get("sub") != claims["sub"]:
            raise EnteringFailed("oidc.odd")
        return {name: found[name] for name in ("email", "email_verified", "name") if name in found}

    async def _get(self, address: str) -> Mapping[str, Any]:
        return await self._ask("GET", address, {})

    async def _ask(
        self, method: str, address: str, headers: Mapping[str, str], form: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """One request and its JSON object; redirects lead nowhere, and nothing is endless."""
        import httpx2

        try:
            async with (
                asyncio.timeout(_PATIENCE),
                httpx2.AsyncClient(follow_redirects=False, timeout=_PATIENCE) as client,
                client.stream(method, address, headers={"Accept": "application/json", **headers}, data=form) as answer,
            ):
                return _object(answer, await _bounded(answer))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError) as error:
            _log.warning("oidc: %s does not answer: %s", address, type(error).__name__)
            raise EnteringFailed("oidc.no_answer", name=self.provider.name) from None


async def _bounded(answer: httpx2.Response) -> bytes:
    body = b""
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > _LARGEST:
            raise ValueError("too long")
    return body


def _object(answer: httpx2.Response, body: bytes) -> Mapping[str, Any]:
    if answer.status_code != 200:
        raise ValueError(answer.status_code)
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return cast(Mapping[str, Any], found)


def _identity(issuer: str, claims: Mapping[str, Any]) -> Identity:
    is_verified = claims.get("email_verified") in (True, "true")
    email = str(claims.get("email", "")).strip().lower() if is_verified else ""
    name = str(claims.get("name") or email.partition("@")[0])
    return Identity(issuer, str(claims["sub"])[:255], email, name)


def _basic(client_id: str, secret: str) -> str:
    """RFC 6749 2.3.1: both are form-encoded first."""
    from urllib.parse import quote_plus

    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _digest(binding: str) -> str:
    return sha256(binding.encode("utf-8", "replace")).hexdigest()
