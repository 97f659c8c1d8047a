"""A password in the URL of a database is never printed: not in errors, not in logs, not by who looks at an object."""

from __future__ import annotations

import traceback

import pytest

from deniable.errors import DeniableError
from deniable.service.settings import Settings
from deniable.service.store import engine_of, open_store
from deniable.service.store.address import hidden, shown

SECRET = "s3cr3t-of-mine"
"""Of characters that mean something in no part of a URL."""
FORMS = [
    f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/x",
    f"postgresql+psycopg2://ann:{SECRET}@127.0.0.1:1/x?sslmode=require",
    f"postgresql://ann:{SECRET}@127.0.0.1:1/x",
    f"postgres://ann:{SECRET}@127.0.0.1:1/x",
    f"postgresql://ann:{SECRET}%zz@127.0.0.1:1/x",
    f"postgresql://ann:{SECRET}@127.0.0.1:port/x",
    f"postgresql://ann:{SECRET}/more@127.0.0.1:1/x",
    f"postgresql://ann:{SECRET}@more@127.0.0.1:1/x",
    f"postgresql://ann:{SECRET}#more@127.0.0.1:1/x",
    f"postgresql://ann:a:{SECRET}@127.0.0.1:1/x",
    f"postgresql://127.0.0.1:1/x?user=ann&password={SECRET}",
    f"postgresql://127.0.0.1:1/x?password={SECRET}&unheard=of",
    f"postgresql://127.0.0.1:1/x?sslpassword={SECRET}",
    f"postgresql://ann:{SECRET}@127.0.0.1:1,127.0.0.1:2/x",
    f"POSTGRESQL://ann:{SECRET}@127.0.0.1:1/x",
    f"host=127.0.0.1 port=1 user=ann password={SECRET}",
    f"host=127.0.0.1 password = '{SECRET}' user=ann",
    f"mysql://ann:{SECRET}@host/x",
    f"ann:{SECRET}@host/x",
    f"postgresql:/ann:{SECRET}@host/x",
    f"sqlite+aiosqlite://ann:{SECRET}@host/x",
]


@pytest.mark.parametrize("url", FORMS)
def test_a_password_is_not_printed(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DeniableError) as caught:
        open_store(url)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert SECRET not in told
    assert SECRET not in shown(url)
    assert SECRET not in repr(Settings(database=url))


def test_an_engine_shows_where_it_is_and_no_more() -> None:
    pytest.importorskip("psycopg")
    assert repr(engine_of(f"postgresql://ann:{SECRET}@db/x?a=b")) == "<PostgresEngine postgresql://***@db/x>"


def test_passwords_are_hidden_as_they_are_written_and_as_they_are_meant() -> None:
    url = "postgresql://ann:a%2Fb%20c@db/x"
    assert hidden("no a/b c and no a%2Fb%20c at db", url) == "no *** and no *** at db"


@pytest.mark.parametrize("url", ["sqlite:///x.db", "postgresql://db/x", "postgresql://ann@db/x", "x.db"])
def test_what_has_no_secret_is_shown_as_it_is(url: str) -> None:
    assert shown(url) == url
