"""The proxy that the environment names for an address."""

from __future__ import annotations


def environment_proxy(scheme: str, netloc: str) -> str | None:
    """The URL of the proxy for `scheme`://`netloc`, None where there is none (`https_proxy`, `all_proxy`, `no_proxy`).

    Where the system keeps such settings elsewhere (macOS, Windows) Python asks there.
    """
    from urllib.request import getproxies, proxy_bypass  # slow to load, and only asked for with the first request

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
