"""The proxy of the environment."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_of(server: str) -> str | None:
    """Return the proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name for a server; none for this machine."""
    address = urlsplit(server)
    host = address.hostname or ""
    if host == "localhost" or _is_loopback(host) or proxy_bypass(address.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else "http://" + proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
