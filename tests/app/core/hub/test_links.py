"""Tests links to model files with a web server on this machine: requested, rejected, redirected, resumed."""

import datetime
import hashlib
import ipaddress
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.hub import client as client_module
from app.core.hub.errors import (
    HubAnswerError,
    HubBusyError,
    HubError,
    HubUnreachableError,
    LinkRefusedError,
)
from app.core.hub.links import LinkSource, check_link, file_name, redirected, request_of
from app.core.hub.records import RemoteLocation
from tests.app.core.hub.link_server import Answer, LinkServer, endless, file, redirect, says
from tests.engine.gguf_factory import tiny_llama

MODEL = tiny_llama().to_bytes()
HTML = b"<html><body>Sign in</body></html>"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[LinkServer]:
    with LinkServer() as running:
        running.answers["/m.gguf"] = file(MODEL)
        yield running


def look(server: LinkServer, path: str, timeout_s: float = 5.0) -> RemoteLocation:
    source = LinkSource(server.url(path), timeout_s)
    try:
        return source.locate("x/y", file_name(source.address))
    finally:
        source.close()


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/m.gguf",  # could be modified on the way
        "http://192.168.1.4/m.gguf",
        "file:///etc/passwd",
        "ftp://example.org/m.gguf",
        "https://user:secret@example.org/m.gguf",
        "https:///m.gguf",
        "m.gguf",
        "",
        "https://example.org:99999/m.gguf",
    ],
)
def test_addresses_that_are_never_asked(address: str) -> None:
    with pytest.raises(LinkRefusedError) as refused:
        check_link(address)
    assert "secret" not in str(refused.value.problem.advice)


@pytest.mark.parametrize("address", ["https://example.org/m.gguf#part", "http://127.0.0.1:8000/m", "http://[::1]/m"])
def test_addresses_that_may_be_asked(address: str) -> None:
    assert check_link(f" {address} ") == address.partition("#")[0]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://h.example/a/b-Q4_0.gguf?download=true", "b-Q4_0.gguf"),
        ("https://h.example/a%20b.gguf", "a b.gguf"),
        ("https://h.example/..%2f..%2fetc%2fx.gguf", "model.gguf"),  # a path outside
        ("https://h.example/a%5cb.gguf", "model.gguf"),
        ("https://h.example/CON.gguf", "model.gguf"),
        ("https://h.example/get?id=7", "model.gguf"),
        ("https://h.example/%00.gguf", "model.gguf"),
    ],
)
def test_the_name_of_the_file_leads_nowhere(address: str, name: str) -> None:
    assert file_name(address) == name


def test_parts_are_fetched_together_and_begin_with_the_first() -> None:
    request = request_of("https://h.example/x/big-00001-of-00003.gguf")
    assert [one.path for one in request.model.files] == [f"big-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    with pytest.raises(LinkRefusedError, match="part 2 of 3"):
        request_of("https://h.example/x/big-00002-of-00003.gguf")


def test_two_links_never_share_a_folder_and_hosts_become_names() -> None:
    one, other = (request_of(f"https://h.example/{folder}/m.gguf") for folder in "ab")
    assert one.repo_id != other.repo_id
    assert request_of("http://[::1]:80/m.gguf").repo_id.count("/") == 1
    assert request_of("https://bücher.example/m.gguf").repo_id.isascii()


def test_nothing_but_the_address_is_sent_and_no_cookie_is_given_back(server: LinkServer) -> None:
    server.answers["/r.gguf"] = says(302, Location="/m.gguf", Set_Cookie="id=7; Path=/")
    assert look(server, "/r.gguf").size_bytes == len(MODEL)
    look(server, "/r.gguf")
    assert len(server.requests) == 4
    assert all("authorization" not in headers and "cookie" not in headers for _path, headers in server.requests)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, LinkRefusedError),
        (404, LinkRefusedError),
        (418, LinkRefusedError),
        (429, HubBusyError),
        (503, HubBusyError),
    ],
)
def test_refusals_are_sentences(server: LinkServer, status: int, error: type[HubError]) -> None:
    server.answers["/m.gguf"] = says(status, b"no", Retry_After="3")
    with pytest.raises(error) as refused:
        look(server, "/m.gguf")
    assert "127.0.0.1" in refused.value.problem.message
    if isinstance(refused.value, HubBusyError):
        assert refused.value.retry_after_s == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (says(200, HTML, Content_Type="text/html; charset=utf-8"), "no GGUF file"),
        (endless(MODEL), "does not say how long"),
        *((says(206, b"G", Content_Range=f"bytes 0-0/{size}"), "bytes") for size in ("0", "9", "999999999999999999")),
    ],
)
def test_what_can_be_no_model_is_not_begun(server: LinkServer, answer: Answer, words: str) -> None:
    server.answers["/m.gguf"] = answer
    with pytest.raises(HubError, match=words):
        look(server, "/m.gguf")


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/m.gguf",
        "http://example.org/m.gguf",  # unencrypted
        "https://user:pass@example.org/m.gguf",
        "https:///nowhere",
        "http://[",
    ],
)
def test_redirects_that_are_not_followed(server: LinkServer, target: str) -> None:
    server.answers["/r.gguf"] = redirect(target)
    with pytest.raises(LinkRefusedError):
        look(server, "/r.gguf")
    assert [path for path, _ in server.requests] == ["/r.gguf"]


@pytest.mark.parametrize(
    "target",
    [
        "https://127.0.0.1/m",
        "https://10.0.0.1/m",
        "https://localhost/m",
        "https://169.254.169.254/latest",
        "https://nas.local/m",
    ],
)
def test_no_redirect_leads_from_the_network_into_this_one(target: str) -> None:
    with pytest.raises(LinkRefusedError, match="your own network"):
        redirected("https://example.org/m.gguf", target)
    assert redirected("https://example.org/m.gguf", "https://cdn.example.net/m") == "https://cdn.example.net/m"


def test_redirects_are_followed_and_bounded(server: LinkServer) -> None:
    server.answers |= {"/r.gguf": redirect("/m.gguf", 307), "/round.gguf": redirect("/round.gguf")}
    server.answers["/away.gguf"] = redirect(server.url("/m.gguf").replace("127.0.0.1", "localhost"))
    assert look(server, "/r.gguf").size_bytes == len(MODEL)
    assert look(server, "/away.gguf").url.startswith("http://localhost")
    with pytest.raises(LinkRefusedError, match="without end"):
        look(server, "/round.gguf")


def test_a_checksum_that_the_server_tells_is_taken(server: LinkServer) -> None:
    digest = hashlib.sha256(MODEL)
    server.answers["/m.gguf"] = file(MODEL, X_Linked_Etag=f'"{digest.hexdigest()}"')
    assert look(server, "/m.gguf").sha256 == digest.hexdigest()


def test_only_a_named_version_is_gone_on_with(server: LinkServer) -> None:
    source = LinkSource(server.url("/m.gguf"))
    located = source.locate("x/y", "m.gguf")
    with source.open(located, 100, if_range='"v1"') as stream:
        assert (stream.start, b"".join(stream.chunks())) == (100, MODEL[100:])
    for validator in ("", 'W/"v1"', '"v0"'):  # none, a weak one, a different one
        with source.open(located, 100, if_range=validator) as stream:
            assert stream.start == 0
    with pytest.raises(HubAnswerError), source.open(replace(located, size_bytes=7)):
        pass
    source.close()


def certificate(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "both.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_encryption_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = certificate(tmp_path)
    with LinkServer(path) as server:
        server.answers |= {"/m.gguf": file(MODEL), "/down.gguf": redirect("http://example.org/m.gguf")}
        with pytest.raises(HubUnreachableError, match="certificate"):
            look(server, "/m.gguf")
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        client_module._tls_context.cache_clear()
        try:
            assert look(server, "/m.gguf").size_bytes == len(MODEL)
            with pytest.raises(LinkRefusedError, match="unencrypted"):
                look(server, "/down.gguf")
        finally:
            client_module._tls_context.cache_clear()


@pytest.mark.parametrize("content_range", ["bytes 7-99/100", "words"])
def test_other_bytes_than_were_asked_for_are_not_taken(server: LinkServer, content_range: str) -> None:
    source = LinkSource(server.url("/m.gguf"), 5.0)
    located = source.locate("x/y", "m.gguf")
    server.answers["/m.gguf"] = says(206, MODEL[:100], ETag='"v1"', Content_Range=content_range)
    with pytest.raises(HubAnswerError, match="different bytes than requested"), source.open(located, 0, 100) as stream:
        list(stream.chunks())
    source.close()
