"""Tests OAuth sign-in: only on the user's request, in a browser, stored only in the keyring."""

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from app.core.domain.tools.servers import Phase, ToolServer
from app.core.hub.errors import TokenStoreError
from app.core.tools.mcp.entries import ServerEntry
from app.core.tools.mcp.limits import Limits
from app.core.tools.mcp.provider import McpTools
from app.core.tools.mcp.sign_in import RedirectListener, may_be_asked
from tests.app.core.tools.mcp.oauth_server import OAuthServer
from tests.app.core.tools.mcp.test_hostile import call, wait_for
from tests.waiting import PATIENCE_S

LIMITS = Limits(start_s=30.0, call_s=30.0)
WORDS = "You can close this page."


class Keyring:
    """One secret in memory; ``refuses``: there is no keyring."""

    def __init__(self) -> None:
        self.secret, self.refuses = "", False

    def find(self) -> str:
        return self.secret

    def save(self, token: str) -> None:
        if self.refuses:
            raise TokenStoreError("This system has no keyring that Paceline could use.")
        self.secret = token

    def forget(self) -> None:
        self.secret = ""


class Browser:
    """Opens a page on a thread like a user's browser, and records its text."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self.words: list[str] = []

    def open(self, page: str) -> None:
        self.pages.append(page)
        threading.Thread(target=lambda: self.words.append(fetched(page)), daemon=True).start()


def fetched(page: str) -> str:
    """The text of the page after all redirects."""
    with urllib.request.urlopen(page, timeout=20) as answer:  # noqa: S310  (on loopback)
        return str(answer.read().decode())


@pytest.fixture(scope="module")
def oauth() -> Iterator[OAuthServer]:
    server = OAuthServer()
    yield server
    server.close()


@pytest.fixture
def keyring() -> Keyring:
    return Keyring()


Made = Callable[..., McpTools]


@pytest.fixture
def tools_of(oauth: OAuthServer, keyring: Keyring) -> Iterator[Made]:
    oauth.tokens.expires_in, oauth.tokens.says_no = 3600, False
    made: list[McpTools] = []

    def make(url: str = oauth.url, headers: tuple[tuple[str, str], ...] = ()) -> McpTools:
        tools = McpTools([ServerEntry("x", url=url, headers=headers)], limits=LIMITS, secrets=lambda _url: keyring)
        made.append(tools)
        tools.start("x")
        tools.wait_until_started()
        return tools

    yield make
    for tools in made:
        tools.close()


def state(tools: McpTools) -> ToolServer:
    return tools.states()[0]


def signed_in(tools: McpTools, browser: Browser) -> None:
    tools.sign_in("x", browser.open, WORDS)
    wait_for(lambda: state(tools).phase is Phase.READY)


def test_nobody_is_signed_in_by_himself(tools_of: Made, oauth: OAuthServer, keyring: Keyring) -> None:
    num_clients = len(oauth.tokens.clients)
    tools = tools_of()
    assert (state(tools).phase, state(tools).sign_in) == (Phase.FAILED, "wanted")
    assert "it asks you to sign in: choose “Sign in” beside it" in state(tools).problem
    assert (len(oauth.tokens.clients), keyring.secret) == (num_clients, "")  # nothing was registered


def test_a_person_signs_in_and_out(tools_of: Made, oauth: OAuthServer, keyring: Keyring) -> None:
    tools, browser = tools_of(headers=(("X-Key", "mine"),)), Browser()
    signed_in(tools, browser)
    wait_for(lambda: browser.words == [WORDS])
    (page,) = browser.pages
    asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) > 20
    assert urlsplit(asked["redirect_uri"]).hostname == "127.0.0.1"
    assert state(tools).sign_in == "done"
    assert call(tools, "note").text == "A secret note."
    kept = json.loads(b64decode(keyring.secret))
    assert kept["tokens"]["access_token"] in oauth.tokens.access
    again = tools_of()  # as after a restart: the user is not asked
    assert call(again, "note").text == "A secret note."
    tools.sign_out("x")
    wait_for(lambda: state(tools).sign_in == "wanted")
    assert keyring.secret == ""


def test_a_token_is_renewed_where_it_has_expired(tools_of: Made, oauth: OAuthServer, keyring: Keyring) -> None:
    oauth.tokens.expires_in = 1
    signed_in(tools_of(), Browser())
    time.sleep(1.1)
    num_renewed = oauth.tokens.num_renewed
    again = tools_of()
    assert call(again, "note").text == "A secret note."
    assert oauth.tokens.num_renewed > num_renewed
    assert json.loads(b64decode(keyring.secret))["tokens"]["refresh_token"] in oauth.tokens.refresh


def test_a_sign_in_that_has_ended_says_so_and_opens_nothing(tools_of: Made, oauth: OAuthServer) -> None:
    tools, browser = tools_of(), Browser()
    signed_in(tools, browser)
    num_clients = len(oauth.tokens.clients)
    oauth.tokens.revoke()
    words = "the sign-in has ended: sign in again, on the Tools page of the settings."
    assert words in call(tools, "note").text
    again = tools_of()
    assert state(again).problem == f"Could not start “x”: {words}"
    assert state(again).sign_in == "wanted"
    assert (len(browser.pages), len(oauth.tokens.clients)) == (1, num_clients)
    signed_in(again, browser)
    assert call(again, "note").text == "A secret note."


def test_a_refusal_a_missing_keyring_and_an_end_of_waiting_are_told(
    tools_of: Made, oauth: OAuthServer, keyring: Keyring
) -> None:
    tools = tools_of()
    oauth.tokens.says_no = True
    tools.sign_in("x", Browser().open, WORDS)
    wait_for(lambda: "refused" in state(tools).problem)
    assert state(tools).problem == "You are not signed in to “x”: the server refused to sign you in."
    oauth.tokens.says_no, keyring.refuses = False, True
    tools.sign_in("x", Browser().open, WORDS)
    wait_for(lambda: "keyring" in state(tools).problem)
    assert state(tools).sign_in == "wanted"
    opened = threading.Event()
    tools.sign_in("x", lambda _page: opened.set(), WORDS)  # the user never returns
    assert opened.wait(PATIENCE_S)
    assert state(tools).sign_in == "under way"
    tools.stop_sign_in("x")
    wait_for(lambda: state(tools).sign_in == "wanted")
    assert keyring.secret == ""


def test_an_entry_with_a_key_of_its_own_is_not_signed_in_to(tools_of: Made) -> None:
    tools = tools_of(headers=(("Authorization", "Bearer mine"),))
    assert (state(tools).phase, state(tools).sign_in) == (Phase.FAILED, "")


@pytest.mark.parametrize(
    ("url", "server", "may_be"),
    [
        ("https://auth.example.com/token", "https://example.com/mcp", True),
        ("https://example.com/token", "https://example.com/mcp", True),
        ("http://auth.example.com/token", "https://example.com/mcp", False),
        ("http://example.com/token", "https://example.com/mcp", False),
        ("https://127.0.0.1/token", "https://example.com/mcp", False),
        ("http://localhost:8080/token", "https://example.com/mcp", False),
        ("http://127.0.0.1:8080/token", "http://127.0.0.1:9090/mcp", True),
        ("https://me:secret@auth.example.com/token", "https://example.com/mcp", False),
        ("file:///etc/passwd", "https://example.com/mcp", False),
        ("javascript:alert(1)", "https://example.com/mcp", False),
        ("https://auth.example.com:wrong/", "https://example.com/mcp", False),
    ],
)
def test_who_may_be_asked_for_tokens(url: str, server: str, may_be: bool) -> None:
    assert may_be_asked(url, server) is may_be


def test_who_does_not_know_the_state_is_not_heard() -> None:
    async def visit() -> str:
        async with RedirectListener(WORDS) as place:
            place.expect("https://example.com/authorize?state=right")
            for path in ("/callback?code=a&state=wrong", "/callback?code=a", "/other?code=a&state=right", "/"):
                with pytest.raises(urllib.error.HTTPError):
                    await asyncio.to_thread(fetched, place.url.replace("/callback", path))
            request = urllib.request.Request(f"{place.url}?code=a&state=right", headers={"Host": "evil.example"})  # noqa: S310
            with pytest.raises(urllib.error.HTTPError):
                await asyncio.to_thread(urllib.request.urlopen, request)
            assert await asyncio.to_thread(fetched, f"{place.url}?code=good&state=right") == WORDS
            return (await place.wait()).code

    assert asyncio.run(visit()) == "good"
