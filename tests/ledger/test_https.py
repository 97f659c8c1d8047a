"""Reports by https: to the server whose certificate is right, through the proxy of the environment, to nobody else."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deniable_client.ledger import http

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def certificate(folder: Path) -> Path:
    """A key and a certificate for this machine that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(1))
        .not_valid_after(now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


class Collector:
    """Answers one request after the other."""

    def __init__(self, pem: Path) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.seen: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            try:
                with plain, self.context.wrap_socket(plain, server_side=True) as connection:
                    data = b""
                    while data.count(b"\r\n\r\n") < 1 or data.endswith(b"\r\n\r\n"):
                        data += connection.recv(65536)
                    self.seen.append(data)
                    connection.sendall(ANSWER)
            except OSError as error:  # the device does not believe the certificate
                self.seen.append(str(error).encode())


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    return certificate(tmp_path)


@pytest.fixture
def collector(pem: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Collector(pem)
    yield made
    made.listener.shutdown(socket.SHUT_RDWR)
    made.listener.close()


def trusted(monkeypatch: pytest.MonkeyPatch, pem: Path) -> None:
    """The device trusts this certificate."""
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))


def test_a_report_goes_to_a_server_that_is_known(collector: Collector, pem: Path, monkeypatch: Any) -> None:
    trusted(monkeypatch, pem)
    reply = http.post(f"{collector.url}/v1/x", json.dumps({"a": 1}).encode(), 20)
    assert (reply.status, reply.body) == (200, b"{}")
    assert collector.seen[0].startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert collector.seen[0].endswith(b'\r\n\r\n{"a": 1}')


def test_nothing_goes_to_a_server_that_is_not(collector: Collector) -> None:
    reply = http.post(f"{collector.url}/v1/x", b"secret", 20)
    assert reply.status == 0
    assert "CERTIFICATE_VERIFY_FAILED" in reply.trouble
    assert not [data for data in collector.seen if b"secret" in data]


@pytest.mark.parametrize(
    ("status", "works", "given", "who"),
    [
        ("200 Fine", True, "me:word@", "me:word"),
        ("407 Who are you?", False, "me:word@", "me:word"),
        ("407 Who are you?", False, "m%40e:p%40ss%3A%25%20w%C3%B6rd@", "m@e:p@ss:% w\u00f6rd"),
        ("407 Who are you?", False, "me@", "me:"),
        ("407 Who are you?", False, "", None),
    ],
    ids=["200", "407", "escaped signs", "no password", "nobody"],
)
def test_a_proxy_sees_where_and_not_what(
    status: str, works: bool, given: str, who: str | None, collector: Collector, pem: Path, monkeypatch: Any
) -> None:
    """It hears the user and the password of its address, as they are without escapes."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked: list[bytes] = []

    def proxy() -> None:
        client, _ = listener.accept()
        with client:
            asked.append(client.recv(65536))
            client.sendall(f"HTTP/1.1 {status}\r\n\r\n".encode())
            if works:
                with socket.create_connection(collector.listener.getsockname()) as there:
                    back = threading.Thread(target=pump, args=(there, client), daemon=True)
                    back.start()
                    pump(client, there)
                    back.join()

    def pump(one: socket.socket, two: socket.socket) -> None:
        with suppress(OSError):  # either side may have hung up
            while data := one.recv(65536):
                asked.append(data)
                two.sendall(data)
            two.shutdown(socket.SHUT_WR)

    running = threading.Thread(target=proxy, daemon=True)
    running.start()
    monkeypatch.setenv("https_proxy", f"http://{given}127.0.0.1:{listener.getsockname()[1]}")
    trusted(monkeypatch, pem)
    reply = http.post(f"{collector.url}/v1/x", b"secret", 20)
    running.join()
    listener.close()
    where = collector.url.removeprefix("https://").encode()
    told = b"" if who is None else b"Proxy-Authorization: Basic %s\r\n" % b64encode(who.encode())
    assert asked[0] == b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (where, where, told)
    assert not [data for data in asked if b"secret" in data]
    assert reply.status == (200 if works else 0)
    assert works or reply.trouble == "no answer ('the proxy answered 407')"
