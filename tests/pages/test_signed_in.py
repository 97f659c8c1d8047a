"""Signed in with a real browser: to whom it sends the cookie, and what becomes of an open page when a session ends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from deniable.service.access import keys
from deniable.service.access.sessions import SECURE
from deniable.service.demo import serving
from deniable.service.http.connections import connections
from deniable.service.settings import Settings
from deniable.service.store import open_store
from deniable.service.store.contract import Store
from deniable_client.canonical import canonical
from pages.asks import TODAY, Paged, mechanisms, task
from pages.browsing import Tab, browser
from pages.recording import Proxy, Running

pytestmark = pytest.mark.slow

HOST = "collect.example.org"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for which the host's name is this machine, as it would be another one."""
    with browser(f"--host-resolver-rules=MAP {HOST} 127.0.0.1") as found:
        yield found


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    made = chromium.new_context(ignore_https_errors=True)
    yield made
    made.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    """Files of a key and a certificate that it signed itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    paths = folder / "key.pem", folder / "certificate.pem"
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    paths[0].write_bytes(key.private_bytes(*form))
    paths[1].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return paths


class Tls:
    """A collector behind TLS on a port of its own, which knows its address by the settings alone."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        key, chain = certificate(folder)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://{HOST}:{self._socket.getsockname()[1]}"
        self.service = Paged(Settings(public_url=self.url))
        self.cookies: list[str] = []
        """Of all requests, as they came."""
        config = uvicorn.Config(
            self._seen,
            interface="asgi3",
            proxy_headers=False,
            http=connections(self.service.settings),
            log_config=None,
            access_log=False,
            ssl_keyfile=key,
            ssl_certfile=chain,
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    async def _seen(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        self.cookies.append(headers.get(b"cookie", b"").decode())
        await self.service.app(scope, receive, send)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.service.collector.stopping = True
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()
        self._socket.close()


def sign_in(context: Any, url: str, key: str, path: str = "/") -> Any:
    """The page that is asked for, behind the one to sign in."""
    page = Tab(context, f"{url}{path}").page
    page.fill("input[name=key]", key)
    page.click("button")
    page.wait_for_selector("nav")
    return page


def key_of(store: Store, role: str = "administrator") -> str:
    return keys.new_key(store, role, today=TODAY)[1]


def test_the_cookie_goes_to_its_own_collector_alone(context: Any, tmp_path: Path) -> None:
    """Not to a service without TLS on another port of the host, whoever asks it; elsewhere it opens nothing."""
    plain = Paged()
    with Tls(tmp_path / "one") as one, Tls(tmp_path / "two") as two, Running(plain) as other, Proxy(other.url) as seen:
        page = sign_in(context, one.url, key_of(one.service.store))
        (cookie,) = context.cookies()
        assert (cookie["name"], cookie["domain"], cookie["path"]) == (SECURE, HOST, "/")
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
        assert page.evaluate("document.cookie") == ""
        port = seen.url.rpartition(":")[2]
        elsewhere = context.new_page()
        elsewhere.goto(f"http://{HOST}:{port}/")
        assert "public_url" in elsewhere.inner_text("main")
        elsewhere.evaluate("fetch('/v1/tasks', {credentials: 'include'}).then((reply) => reply.status)")
        assert len(seen.requests) >= 2
        assert not any(b"cookie" in request.head.lower() for request in seen.requests)
        key_of(two.service.store)
        elsewhere.goto(two.url)
        assert elsewhere.locator("input[name=key]").count() == 1, "another collector knows no such session"
        assert any(SECURE in each for each in two.cookies), "cookies have no ports: why it must not be the key"
        again = context.new_page()
        again.goto(one.url)
        again.wait_for_selector("nav")


def test_a_service_without_tls_cannot_plant_a_session(context: Any, tmp_path: Path) -> None:
    """A cookie of the same name from a plain port of the host, or for a wider domain, is not taken by the browser."""
    with Tls(tmp_path / "one") as one, Running(Paged()) as other:
        page = context.new_page()
        page.goto(f"http://{HOST}:{other.url.rpartition(':')[2]}/")
        for more in ("", "; Secure", "; Secure; Domain=example.org"):
            page.evaluate(f"document.cookie = '{SECURE}=planted; Path=/{more}'")
        assert context.cookies() == []
        page.goto(one.url)
        assert page.locator("input[name=key]").count() == 1
        assert not any("planted" in each for each in one.cookies)


def test_a_form_of_another_port_does_nothing(context: Any, tmp_path: Path) -> None:
    """To browsers it is the same site, so that the cookie comes with it; the collector looks who sent it."""
    with Tls(tmp_path / "one") as one, Tls(tmp_path / "two") as two:
        id = one.service.add(task(mechanisms()["choice"]))
        sign_in(context, one.url, key_of(one.service.store))
        page = context.new_page()
        text = EVIL % f"{one.url}/tasks/{id}/state"
        page.route(f"{two.url}/evil", lambda route: route.fulfill(body=text, content_type="text/html"))
        page.goto(f"{two.url}/evil", wait_until="commit")
        page.wait_for_selector("text=nothing was done")
        row = one.service.store.task(id)
        assert row is not None
        assert row.state == "open"
        assert SECURE in one.cookies[-1]


EVIL = """<form method="post" action="%s"><input name="state" value="closed"></form><script>
document.forms[0].submit()</script>"""


@pytest.mark.parametrize("how", ["sign-out", "revoke", "rotate"])
def test_an_open_page_ends_with_the_session(context: Any, how: str) -> None:
    """Somewhere else, somebody signs out or makes the key void: the open page asks to sign in, by itself."""
    service = Paged()
    with Running(service) as site:
        id = service.add(task(mechanisms()["choice"], "A question that others must not read?"))
        page = sign_in(context, site.url, key_of(service.store), f"/tasks/{id}")
        page.wait_for_selector("#live")
        if how == "sign-out":
            other = Tab(context, site.url).page
            other.click("text=Sign out")
        elif how == "revoke":
            keys.revoke(service.store, "administrator-1", TODAY + timedelta(1))
        else:
            keys.rotate(service.store, "administrator-1", today=TODAY, days=3)
        page.wait_for_selector("input[name=key]")
        assert "others must not read" not in page.content()
        page.go_back()
        page.wait_for_load_state()
        assert "others must not read" not in page.content()
        service.collector.stopping = True


def test_what_one_process_ends_is_ended_at_the_other(context: Any, tmp_path: Path) -> None:
    """Two processes serve one database, a page is open at one, and the key is revoked by a third."""
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    document = task(mechanisms()["choice"])
    store.put_task(document["id"], canonical(document))
    store.set_state(document["id"], "open")
    key = key_of(store)
    with serving(url) as one, serving(url) as other:
        page = sign_in(context, one, key, f"/tasks/{document['id']}")
        page.wait_for_selector("#live")
        second = context.new_page()
        second.goto(f"{other}/tasks/{document['id']}")  # cookies have no ports, and the database is the same
        second.wait_for_selector("#live")
        keys.revoke(store, "administrator-1", TODAY)
        for each in (page, second):
            each.wait_for_selector("input[name=key]")
    store.close()
