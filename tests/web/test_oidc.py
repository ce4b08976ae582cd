"""Signing in at a provider, against one that the tests run: who gets in, and everything that must not."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.web.oidc_provider import CLIENT, SECRET, FakeProvider, provider
from tests.web.serving import Serving, Visitor, serving


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


ANA = {"sub": "ana-1", "email": "Ana@example.org", "email_verified": True, "name": "Ana Lopes"}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeProvider, Serving]]:
    with provider() as fake:
        told = {
            "MAIA_OIDC_ISSUER": fake.url,
            "MAIA_OIDC_CLIENT_ID": CLIENT,
            "MAIA_OIDC_CLIENT_SECRET": SECRET,
            "MAIA_OIDC_DOMAINS": "example.org, example.com",
            "MAIA_OIDC_ROLE": "user",
            "MAIA_OIDC_NAME": "Example <b>SSO</b>",
        }
        with serving(tmp_path_factory.mktemp("oidc") / "data", **told) as server:
            with Visitor(server.url) as first:
                first.become_owner(server.token)
            yield fake, server


@pytest.fixture
def fake(both: tuple[FakeProvider, Serving]) -> FakeProvider:
    fake = both[0]
    plain = FakeProvider(fake.url, dict(ANA))
    for name in ("claims", "more", "document", "spoil", "sign", "status", "redirect", "codes", "posted"):
        setattr(fake, name, getattr(plain, name))
    return fake


@pytest.fixture
def server(both: tuple[FakeProvider, Serving]) -> Serving:
    return both[1]


@pytest.fixture
def visitor(server: Serving) -> Iterator[Visitor]:
    with Visitor(server.url) as made:
        yield made


def enter(visitor: Visitor, fake: FakeProvider, where: str = "/") -> Any:
    """Go to the provider and come back."""
    away = visitor.client.get("/signin/oidc", params={"next": where})
    assert away.status_code == 303, away.text
    return visitor.client.get(fake.approve(away.headers["location"]))


def me(visitor: Visitor) -> dict[str, Any]:
    answer = visitor.ask("GET", "/api/v1/session")
    return answer.json() if answer.status_code == 200 else {}


def test_somebody_new_signs_in_and_is_known_by_issuer_and_subject_from_then_on(
    fake: FakeProvider, visitor: Visitor, server: Serving
) -> None:
    page = visitor.client.get("/signin?next=/account").text
    assert "Example &lt;b&gt;SSO&lt;/b&gt;" in page
    assert 'href="/signin/oidc?next=/account"' in page
    back = enter(visitor, fake, "/account")
    assert back.status_code == 200
    assert 'content="0;url=/account"' in back.text
    ana = me(visitor)
    assert (ana["email"], ana["name"], ana["role"]) == ("ana@example.org", "Ana Lopes", "user")
    asked = fake.posted[-1]
    pair = base64.b64decode(asked["authorization"].removeprefix("Basic ")).decode()
    assert pair == f"{CLIENT}:a%2Bsecret+of+the+tests"
    assert len(asked["code_verifier"]) >= 43
    fake.claims = {"sub": "ana-1", "email": "ana@elsewhere.example", "email_verified": False}
    with Visitor(server.url) as again:
        enter(again, fake)
        assert me(again)["id"] == ana["id"], "another e-mail changes nothing"


def test_somebody_known_by_a_verified_e_mail_is_linked_once(
    fake: FakeProvider, visitor: Visitor, server: Serving
) -> None:
    with Visitor(server.url) as owner:
        owner.sign_in()
        known = owner.ask("POST", "/api/v1/users", {"name": "Bo", "email": "bo@example.org", "role": "admin"}).json()
    fake.claims = {"sub": "bo-1", "email": "bo@example.org", "email_verified": True}
    enter(visitor, fake)
    assert (me(visitor)["id"], me(visitor)["role"]) == (known["user"]["id"], "admin")


def test_who_is_archived_stays_out(fake: FakeProvider, visitor: Visitor, server: Serving) -> None:
    fake.claims = {**ANA, "sub": "cy-1", "email": "cy@example.org"}
    enter(visitor, fake)
    user = me(visitor)["id"]
    with Visitor(server.url) as owner:
        owner.sign_in()
        owner.ask("DELETE", f"/api/v1/users/{user}")
    assert me(visitor) == {}
    assert enter(visitor, fake).status_code == 403
    assert me(visitor) == {}


WHO = [
    pytest.param(
        {**ANA, "sub": "x", "email_verified": False, "email": "lea@example.org"}, id="an owner's, not verified"
    ),
    pytest.param({**ANA, "sub": "x", "email_verified": "no", "email": "lea@example.org"}, id="verified is no word"),
    pytest.param({"sub": "x"}, id="no e-mail at all"),
    pytest.param({**ANA, "sub": "x", "email": "mallory@evil.example"}, id="another domain"),
    pytest.param({**ANA, "sub": "x", "email": "mallory@evil.example@example.org"}, id="two domains"),
    pytest.param({**ANA, "sub": "x", "email": "mallory@sub.example.org"}, id="below an allowed domain"),
]


@pytest.mark.parametrize("claims", WHO)
def test_who_is_not_vouched_for_stays_out(fake: FakeProvider, visitor: Visitor, claims: dict[str, Any]) -> None:
    fake.claims = claims
    answer = enter(visitor, fake)
    assert answer.status_code == 403
    assert me(visitor) == {}


def unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, None, "none")


def by_another(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, rsa.generate_private_key(65537, 2048), "RS256", {"kid": "one"})


def by_the_secret(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, SECRET * 4, "HS256", {"kid": "one"})


def put(**values: Any) -> Any:
    return lambda claims: claims.update(values)


TOKENS = [
    pytest.param({"sign": unsigned}, id="not signed"),
    pytest.param({"sign": by_another}, id="signed by another key"),
    pytest.param({"sign": by_the_secret}, id="signed by what a client knows"),
    pytest.param({"sign": lambda _: "no token"}, id="no token"),
    pytest.param({"sign": lambda _: 7}, id="a number"),
    pytest.param({"spoil": put(nonce="another")}, id="another nonce"),
    pytest.param({"spoil": lambda claims: claims.pop("nonce")}, id="no nonce"),
    pytest.param({"spoil": put(aud="another")}, id="for another"),
    pytest.param({"spoil": put(aud=[CLIENT, "another"], azp="another")}, id="given to another"),
    pytest.param({"spoil": put(iss="https://evil.example")}, id="of another issuer"),
    pytest.param({"spoil": lambda claims: claims.update(exp=int(time.time()) - 3600)}, id="too old"),
    pytest.param({"spoil": lambda claims: claims.pop("exp")}, id="without an end"),
    pytest.param({"spoil": lambda claims: claims.pop("sub")}, id="of nobody"),
    pytest.param({"claims": {"sub": "ana-1"}, "more": {**ANA, "sub": "another"}}, id="told of somebody else"),
]


@pytest.mark.parametrize("told", TOKENS)
def test_no_other_token_lets_anybody_in(fake: FakeProvider, visitor: Visitor, told: dict[str, Any]) -> None:
    for name, value in told.items():
        setattr(fake, name, value)
    assert enter(visitor, fake).status_code == 403
    assert me(visitor) == {}


@pytest.mark.parametrize(("ahead", "is_in"), [(50, True), (300, False), (-300, False)])
def test_a_clock_that_differs_is_told_as_such(fake: FakeProvider, visitor: Visitor, ahead: int, is_in: bool) -> None:
    begun = int(time.time()) + ahead
    fake.spoil = put(iat=begun, exp=begun + 60)
    answer = enter(visitor, fake)
    assert bool(me(visitor)) is is_in
    assert ("The clocks of Example &lt;b&gt;SSO&lt;/b&gt;" in answer.text) is not is_in


def test_what_is_missing_in_the_token_is_asked_for(fake: FakeProvider, visitor: Visitor) -> None:
    fake.claims, fake.more = {"sub": "dee-1"}, {**ANA, "sub": "dee-1", "email": "dee@example.com"}
    enter(visitor, fake)
    assert me(visitor)["email"] == "dee@example.com"


def test_keys_that_were_changed_are_asked_for_anew_but_not_again_and_again(
    fake: FakeProvider, visitor: Visitor
) -> None:
    before = sum(path == "/keys" for path in fake.asked)
    fake.sign = lambda claims: jwt.encode(claims, fake.key, "RS256", {"kid": "nobody knows"})
    for _ in range(4):
        assert enter(visitor, fake).status_code == 403
    assert sum(path == "/keys" for path in fake.asked) - before <= 1


def test_an_answer_counts_once_and_for_the_browser_that_asked_only(
    fake: FakeProvider, visitor: Visitor, server: Serving
) -> None:
    back = fake.approve(visitor.client.get("/signin/oidc").headers["location"])
    with Visitor(server.url) as victim:
        assert victim.client.get(back).status_code == 403, "somebody's link signs nobody in as them"
        victim.client.get("/signin/oidc")
        assert victim.client.get(back).status_code == 403
    assert visitor.client.get(back).status_code == 403, "and it is used up"
    assert enter(visitor, fake).status_code == 200
    assert visitor.client.get("/signin/oidc/return?state=&code=x").status_code == 403
    assert visitor.client.get("/signin/oidc/return").status_code == 403
    away = visitor.client.get("/signin/oidc")
    state = fake.approve(away.headers["location"]).partition("state=")[2]
    said = visitor.client.get(f"/signin/oidc/return?state={state}&error=<b>no</b>")
    assert said.status_code == 403
    assert "<b>no" not in said.text


def test_the_cookies_of_the_way_are_for_the_way_back_alone(fake: FakeProvider, visitor: Visitor) -> None:
    cookie = visitor.client.get("/signin/oidc").headers["set-cookie"].lower()
    assert "samesite=lax" in cookie
    assert "httponly" in cookie
    assert "path=/signin/oidc/return" in cookie
    back = enter(visitor, fake)
    kept = [each.lower() for each in back.headers.get_list("set-cookie")]
    assert len(kept) == 2
    assert all("samesite=strict" in each and "httponly" in each for each in kept)


@pytest.mark.parametrize(
    "where", ["//evil.example", "https://evil.example", "/\\evil", "/\t/evil.example", "javascript:x"]
)
def test_the_way_back_leads_inside_only(fake: FakeProvider, visitor: Visitor, where: str) -> None:
    assert 'content="0;url=/"' in enter(visitor, fake, where).text


def fresh(issuer: str) -> Any:
    """The client in this process, before it asked anything."""
    from maia.core.secret import Secret
    from maia.workspace.people.oidc import Oidc, Provider

    return Oidc(Provider(issuer, CLIENT, Secret(""), "Fake"))


DOCUMENTS = [
    pytest.param({"issuer": "https://evil.example"}, id="another issuer"),
    pytest.param({"token_endpoint": "http://10.0.0.1/token"}, id="not encrypted"),
    pytest.param({"jwks_uri": "file:///etc/passwd"}, id="a file"),
    pytest.param({"jwks_uri": None}, id="nothing"),
    pytest.param({"token_endpoint": "https://user:pass@example.org/"}, id="with a password"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("document", DOCUMENTS)
async def test_a_provider_whose_addresses_are_odd_is_asked_nothing(
    fake: FakeProvider, document: dict[str, Any]
) -> None:
    from maia.workspace.problems import EnteringFailed

    fake.document = document
    with pytest.raises(EnteringFailed):
        await fresh(fake.url).begin("https://maia.example", "/")


@pytest.mark.parametrize(
    "told", [{"redirect": "http://127.0.0.1:9/"}, {"status": 500}, {"document": {"x": "y" * 2_000_000}}]
)
@pytest.mark.anyio
async def test_redirects_failures_and_floods_of_a_provider_lead_nowhere(
    fake: FakeProvider, told: dict[str, Any]
) -> None:
    from maia.workspace.problems import EnteringFailed

    for name, value in told.items():
        setattr(fake, name, value)
    with pytest.raises(EnteringFailed) as refused:
        await fresh(fake.url).begin("https://maia.example", "/")
    assert refused.value.key == "oidc.no_answer"


@pytest.mark.anyio
async def test_a_provider_that_moved_or_went_away_is_noticed_within_a_minute(fake: FakeProvider) -> None:
    from maia.workspace.people import oidc
    from maia.workspace.problems import EnteringFailed

    now = [0.0]
    client = oidc.Oidc(fresh(fake.url).provider, lambda: now[0])
    await client.begin("https://maia.example", "/")
    fake.document = {"authorization_endpoint": f"{fake.url}/moved"}
    assert (await client.begin("https://maia.example", "/")).url.startswith(f"{fake.url}/authorize")
    now[0] = 60.0
    assert (await client.begin("https://maia.example", "/")).url.startswith(f"{fake.url}/moved")
    now[0], fake.status = 120.0, 500
    with pytest.raises(EnteringFailed) as refused:
        await client.begin("https://maia.example", "/")
    assert refused.value.key == "oidc.no_answer"


@pytest.mark.anyio
async def test_only_a_provider_on_this_machine_may_name_addresses_on_it() -> None:
    from maia.workspace.problems import EnteringFailed

    client = fresh("https://sso.example")
    for address in ("https://127.0.0.1/token", "https://localhost/token", "https://[::1]/token", "http://sso.example/"):
        with pytest.raises(EnteringFailed):
            client._must_be_theirs(address)
    client._must_be_theirs("https://keys.sso.example/jwks")


@pytest.mark.anyio
async def test_what_waits_is_forgotten_in_time_and_bounded() -> None:
    from maia.workspace.people import oidc
    from maia.workspace.problems import EnteringFailed

    now = [0.0]
    client = oidc.Oidc(fresh("http://127.0.0.1:9").provider, lambda: now[0])
    client._endpoints = {"authorization_endpoint": "http://127.0.0.1:9/a"}  # pyright: ignore[reportPrivateUsage]
    client._asked_endpoints = 1e9  # pyright: ignore[reportPrivateUsage]
    first = await client.begin("https://maia.example", "/")
    state = first.url.partition("state=")[2].partition("&")[0]
    now[0] = oidc.STATE_SECONDS + 1
    with pytest.raises(EnteringFailed, match="over"):
        await client.end({"state": state, "code": "x"}, first.binding)
    for _ in range(1100):
        await client.begin("https://maia.example", "/")
    assert len(client._waiting) <= 1000  # pyright: ignore[reportPrivateUsage]


def test_no_secret_of_the_way_is_told(visitor: Visitor, server: Serving) -> None:
    page = visitor.client.get("/signin/oidc")
    assert SECRET not in page.headers["location"]
    with Visitor(server.url) as owner:
        owner.sign_in()
        told = json.dumps(owner.ask("GET", "/api/v1/audit").json())
    assert SECRET not in told
    assert "users.identity" in told
