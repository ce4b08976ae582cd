"""Where people reach `maia serve`, and the provider at which they may sign in, as the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from maia.core.errors import UsageProblem
from maia.core.secret import Secret
from maia.core.weburl import WebUrl, is_loopback_host, read_url

if TYPE_CHECKING:
    from maia.database.users import Role
    from maia.workspace.people.oidc import Oidc

_ROLES: Final[tuple[Role, ...]] = ("admin", "user", "guest")


def public_address(env: Mapping[str, str]) -> str:
    """`MAIA_PUBLIC_URL` without a final slash, empty where it is not set. Raises `UsageProblem`."""
    given = env.get("MAIA_PUBLIC_URL", "").strip()
    if not given:
        return ""
    url = read_url(given)
    if not isinstance(url, WebUrl) or url.target != "/":
        raise UsageProblem("serve.bad_public", given=given)
    return str(url).rstrip("/")


def oidc_of(env: Mapping[str, str]) -> Oidc | None:
    """The provider of `MAIA_OIDC_…`, None where there is none. Raises `UsageProblem`."""
    issuer = env.get("MAIA_OIDC_ISSUER", "").strip()
    if not issuer:
        return None
    from maia.workspace.people.oidc import Oidc, Provider

    url = read_url(issuer)
    if not isinstance(url, WebUrl) or not (url.scheme == "https" or is_loopback_host(url.host)):
        raise UsageProblem("oidc.bad_issuer", given=issuer)
    client = env.get("MAIA_OIDC_CLIENT_ID", "").strip()
    if not client:
        raise UsageProblem("oidc.no_client")
    asked = env.get("MAIA_OIDC_ROLE", "").strip()
    role: Role | None = next((each for each in _ROLES if each == asked), None)
    if asked and role is None:
        raise UsageProblem("oidc.bad_role", given=asked, known=", ".join(_ROLES))
    domains = tuple(env.get("MAIA_OIDC_DOMAINS", "").replace(",", " ").lower().split())
    secret = Secret(env.get("MAIA_OIDC_CLIENT_SECRET", ""))
    name = env.get("MAIA_OIDC_NAME", "").strip()[:60] or url.host
    return Oidc(Provider(issuer, client, secret, name, domains, role))
