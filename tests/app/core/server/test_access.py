"""Tests access control: the key, the Host header, the Origin header."""

import pytest
from starlette.testclient import TestClient

from app.core.domain.local_server import host_name
from app.core.server.access import AllowedHosts
from app.core.server.application import make_application
from tests.app.core.server.scripted_session import CHAT, HELLO, KEY, ScriptedServer

WILDCARDS = ["0.0.0.0", "::"]  # noqa: S104  (nothing is bound here)
PATHS = ["/v1/models", "/no/such/path"]


@pytest.mark.parametrize(
    "header", ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:8080", "127.8.8.8", "[::1]", "[::1]:8080"]
)
def test_loopback_is_always_allowed(header: str) -> None:
    assert AllowedHosts("192.0.2.7").allows(header)


@pytest.mark.parametrize(
    "header",
    ["", "evil.example", "evil.example:8080", "localhost.evil.example", "192.0.2.8", "[::2]", "::1", "[::1", "[::1]x",
     "127.0.0.1@evil.example", "localhost:80:80", "2130706433", *WILDCARDS],
)  # fmt: skip
def test_other_names_are_refused(header: str) -> None:
    assert not AllowedHosts("192.0.2.7").allows(header)


def test_the_bound_address_is_allowed_and_no_name_never() -> None:
    assert AllowedHosts("192.0.2.7").allows("192.0.2.7:8080")
    assert AllowedHosts("desk.example").allows("Desk.example:8080")
    assert not AllowedHosts("").allows("")
    assert not AllowedHosts("").allows("a:b:c")


@pytest.mark.parametrize("origin", ["https://app.example", "app://obsidian.md", "http://[::1]:5173"])
def test_pages_of_a_named_site_may_ask_with_the_key(server: ScriptedServer, origin: str) -> None:
    app = make_application(server.scheduler, KEY, AllowedHosts("127.0.0.1", origins=frozenset({origin})))
    client = TestClient(app, base_url="http://127.0.0.1:8080", headers={"Origin": origin})
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    preflight = client.options(CHAT, headers=asked)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, origin)
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    answer = client.post(CHAT, json=HELLO, headers={"Authorization": f"Bearer {KEY}"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
    assert client.post(CHAT, json=HELLO).status_code == 401, "the key is needed as well"
    refused = client.post(
        CHAT, json=HELLO, headers={"Authorization": f"Bearer {KEY}", "Origin": "https://app.example.evil"}
    )
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    rebound = client.post(CHAT, json=HELLO, headers={"Authorization": f"Bearer {KEY}", "Host": "evil.example"})
    assert rebound.status_code == 403


@pytest.mark.parametrize("bound", WILDCARDS)
def test_on_all_addresses_any_address_is_allowed_but_no_name(bound: str) -> None:
    hosts = AllowedHosts(bound)
    assert hosts.allows("192.0.2.7:8080")
    assert hosts.allows("[2001:db8::1]:8080")
    assert not hosts.allows("evil.example:8080")
    assert not hosts.allows("")


def test_further_names_are_allowed_where_they_were_given() -> None:
    hosts = AllowedHosts("127.0.0.1", names=frozenset({host_name("Host.docker.internal")}))
    assert hosts.allows("host.docker.internal:8080")
    assert not hosts.allows("docker.internal")
    for text in ("", "a b", "a/b", "http://a", "a:80", "-a"):
        with pytest.raises(ValueError, match="is not a name"):
            host_name(text)


def test_without_a_key_local_programs_are_served_and_foreign_pages_refused(server: ScriptedServer) -> None:
    app = make_application(server.scheduler, "", AllowedHosts("127.0.0.1"))
    client = TestClient(app, base_url="http://127.0.0.1:8080")
    assert client.post(CHAT, json=HELLO).status_code == 200
    assert client.post(CHAT, json=HELLO, headers={"Authorization": "Bearer anything"}).status_code == 200
    for headers in (
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert client.get("/v1/models", headers=headers).status_code == 403
    for headers in ({"Sec-Fetch-Site": "none"}, {"Origin": "http://127.0.0.1:8080"}):
        assert client.get("/v1/models", headers=headers).status_code == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"Basic {KEY}", KEY, f"Bearer {KEY}x", f"Bearer {KEY} x", "Bearer grün"]
)
def test_without_the_key_nothing_is_reported(server: ScriptedServer, path: str, given: str) -> None:
    response = server.client.get(path, headers={"Authorization": given.encode()})
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert response.json()["error"]["code"] == "invalid_api_key"


def test_health_needs_no_key_and_bearer_is_read_in_any_case(server: ScriptedServer) -> None:
    assert server.client.get("/v1/models", headers={"Authorization": f"bearer {KEY}"}).status_code == 200
    assert server.client.get("/health", headers={"Authorization": ""}).json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["/health", CHAT])
def test_a_name_that_is_not_ours_is_refused_with_the_key_as_well(server: ScriptedServer, path: str) -> None:
    response = server.client.post(path, json=HELLO, headers={"Host": "evil.example:8080"})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "host_not_allowed")
    assert not server.session.requests


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:9090", "http://localhost:8080"],
)
def test_pages_of_other_origins_are_refused(server: ScriptedServer, origin: str) -> None:
    for response in (
        server.client.post(CHAT, json=HELLO, headers={"Origin": origin}),
        server.client.options(CHAT, headers={"Origin": origin, "Access-Control-Request-Method": "POST"}),
    ):
        assert (response.status_code, response.json()["error"]["code"]) == (403, "origin_not_allowed")
        assert not [name for name in response.headers if name.startswith("access-control")]
    assert not server.session.requests
