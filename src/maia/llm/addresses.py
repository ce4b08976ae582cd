"""Checks what people write about a server: its address, its paths and its key. What is wrong becomes a notice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from maia.core.events import Notice
from maia.core.secret import Secret
from maia.core.weburl import is_loopback_host
from maia.llm.providers import Served
from maia.llm.target import WireFormat


def checked_url(given: object, name: str, notices: list[Notice]) -> str | None:
    """A base URL that requests may go to, or None with a notice of what is wrong. `name` is its setting."""
    text = given.strip() if isinstance(given, str) else ""
    problem = url_problem(text)
    if problem:
        shown = re.sub(r"//[^/@]*@", "//…@", str(given))
        notices.append(Notice("warn", problem, {"setting": name, "value": shown}))
        return None
    return text


def url_problem(text: str) -> str:
    """The key of what is wrong with a URL, empty when nothing is."""
    if not text or re.search(r"[\x00-\x20\x7f]", text):
        return "models.not_a_url"
    if not re.match(r"https?://", text, re.IGNORECASE):
        return "models.not_http" if "://" in text else "models.no_scheme"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "models.not_a_url"
    if not host:
        return "models.not_a_url"
    if parts.username is not None or parts.password is not None:
        return "models.url_with_password"
    return "models.url_with_query" if parts.query or parts.fragment else ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name."""
    return host in ("0.0.0.0", "::") or is_loopback_host(host)


def is_loopback_url(url: str) -> bool:
    """Whether a URL leads to this machine by name."""
    return is_loopback(urlsplit(url).hostname or "")


def checked_key(value: object, name: str, notices: list[Notice]) -> Secret | None:
    """A key that can stand in a header. Surrounding blanks and quotes are taken off; the notice never shows it."""
    if isinstance(value, Secret):
        value = value.reveal()
    if value is None or value == "":
        return None
    text = re.sub(r"^[\"']|[\"']$", "", value.strip()) if isinstance(value, str) else ""
    text = re.sub(r"^bearer\s+", "", text, flags=re.IGNORECASE).strip()
    if re.fullmatch(r"[!-~]+", text) and not re.fullmatch(r"\*+|\$\w+|\$\{\w+\}", text):
        return Secret(text)
    notices.append(Notice("warn", "models.bad_key", {"setting": name}))
    return None


def warn_in_clear(base: str, key: Secret | None, name: str, notices: list[Notice]) -> None:
    if key and base.lower().startswith("http://") and not is_loopback_url(base):
        notices.append(Notice("warn", "models.key_in_clear", {"setting": name, "value": base}))


def checked_suffix(settings: Mapping[str, object], name: str, default: str, notices: list[Notice]) -> str:
    """A path to put after the URL. A whole URL is refused: the key would go to another host than the one configured."""
    value = settings.get(name)
    if value is None:
        return default
    if isinstance(value, str) and re.fullmatch(r"[!-~]*", value.strip()) and "://" not in value:
        return value.strip()
    notices.append(Notice("warn", "models.bad_suffix", {"setting": name, "value": str(value), "used": default}))
    return default


def is_versioned(base: str) -> bool:
    """Whether a base URL ends in a version, such as `/v1`, that the paths then leave out."""
    return bool(re.search(r"/v\d\w*/?$", urlsplit(base).path))


def same_host(one: str, other: str) -> bool:
    return urlsplit(one).hostname == urlsplit(other).hostname and urlsplit(one).scheme == urlsplit(other).scheme


def usual_paths(target_format: WireFormat, base: str, known: Served | None) -> tuple[str, str]:
    """Chat and list path. A base that already ends in the version has it once only."""
    versioned = is_versioned(base)
    if target_format == "anthropic-messages":
        return ("/messages", "/models?limit=1000") if versioned else ("/v1/messages", "/v1/models?limit=1000")
    if known and same_host(base, known.base_url):
        return known.chat_path, known.list_path
    return ("/chat/completions", "/models") if versioned else ("/v1/chat/completions", "/v1/models")


def checked_max_output(settings: Mapping[str, object], notices: list[Notice]) -> int | None:
    value = settings.get("MaxOutputTokens")
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    notices.append(Notice("warn", "models.bad_max_output", {"value": str(value)}))
    return None
