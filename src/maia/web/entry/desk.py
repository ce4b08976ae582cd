"""What routes work with: the workspace, the words, the settings of this server; one value for the whole application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang
from maia.web.entry.hosts import Hosts
from maia.workspace.people.oidc import Oidc
from maia.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Desk:
    """`cookie` is the name of this installation's cookie: two servers on one machine share a browser's cookies.

    `public` is the address under which people reach the server, empty where it is not told.
    """

    workspace: Workspace
    words: Mapping[Lang, Catalogue]
    lang: Lang
    hosts: Hosts
    cookie: str
    version: str
    public: str = ""
    oidc: Oidc | None = None


def desk_of(request: HTTPConnection) -> Desk:
    """The application's desk."""
    return request.app.state.desk


def language_of(request: HTTPConnection, preferred: str | None, default: Lang) -> Lang:
    """The language for this reader: their own choice, else the first that their browser names, else the server's."""
    return preferred if preferred in LANGUAGES else first_language(request.headers.get("accept-language", ""), default)


def first_language(accepted: str, default: Lang) -> Lang:
    """The first of ours that an `Accept-Language` names."""
    for item in accepted[:200].split(","):
        word = item.partition(";")[0].strip().lower().partition("-")[0]
        for lang in LANGUAGES:
            if word == lang:
                return lang
    return default
