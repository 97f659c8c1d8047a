"""Settings: one table; a file, then the environment, then options, the last of which wins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.service.settings import PREFIX, Settings, rows, settings
from deniable.service.store.postgres import KEPT_ASK

OPERATE = Path(__file__).resolve().parents[2] / "docs/howto/operate.md"


def test_the_last_source_wins(tmp_path: Path) -> None:
    file = tmp_path / "deniable.toml"
    file.write_text('port = 1\nrate = 1\nmax_reports = 1\nhost = "a"\n')
    environment = {"DENIABLE_PORT": "2", "DENIABLE_RATE": "2", "DENIABLE_THREADS": "9"}
    found = settings({"port": 3, "host": None}, file=str(file), environment=environment)
    assert (found.port, found.rate, found.max_reports, found.host) == (3, 2, 1, "a")
    assert settings({}, environment={}) == Settings()


@pytest.mark.parametrize("row", [row for row in rows() if isinstance(row.default, int)], ids=lambda row: row.name)
def test_a_number_is_that_of_the_last_source_whatever_it_is(row: Any, tmp_path: Path) -> None:
    """Also where it is the least that is allowed, such as 0, or the usual one."""
    read = row.metadata["read"]
    least = next(n for n in (0, 1, 60, 1024, 1 << 20) if _is_allowed(read, n))
    file = tmp_path / "deniable.toml"
    file.write_text(f"{row.name} = {least + 1}\n")
    name = PREFIX + row.name.upper()
    for number in dict.fromkeys((least, row.default)):
        environment = {name: str(least + 1)}
        assert getattr(settings({row.name: number}, file=str(file), environment=environment), row.name) == number
        assert getattr(settings({}, file=str(file), environment={name: str(number)}), row.name) == number
    assert getattr(settings({row.name: None}, file=str(file), environment={}), row.name) == least + 1


def _is_allowed(read: Any, number: int) -> bool:
    try:
        return bool(read(number, "x") == number)
    except dn.errors.ParameterError:
        return False


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_every_setting_has_a_default_that_it_allows_a_help_and_a_name_in_the_environment(row: Any) -> None:
    usual = getattr(Settings(), row.name)
    assert row.name in ("database", "journal") or row.metadata["read"](usual, row.name) == usual
    assert re.fullmatch(r"[^\n]{10,100}\.", row.metadata["help"])
    assert row.metadata["metavar"]
    assert (PREFIX + row.name.upper()).startswith("DENIABLE_")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"port": "x"}, "port must be a whole number from 0 to 65,535"),
        ({"port": 65536}, "port must be"),
        ({"port": True}, "port must be"),
        ({"max_body": 0}, "max_body must be"),
        ({"host": ""}, "host must be a text"),
        ({"public_url": "http://a.example"}, "public_url must be https:// and a host"),
        ({"public_url": "https://a.example/"}, "public_url must be"),
        ({"public_url": "https://A.example"}, "public_url must be"),
        ({"public_url": "https://a.example:443"}, "public_url must be"),
        ({"public_url": "https://user@a.example"}, "public_url must be"),
        ({"public_url": "https://a.example\n"}, "public_url must be"),
        ({"public_url": 5}, "public_url must be"),
        ({"session_seconds": 59}, "session_seconds must be"),
        ({"session_idle_seconds": "1 hour"}, "session_idle_seconds must be"),
        ({"cors": "*=ftp://x"}, "cors must be origins"),
        ({"cors": "*=https://a.example/path"}, "cors must be origins"),
        ({"cors": "abc=https://a.example"}, "cors must be origins"),
        ({"cors": {"*": "https://a.example"}}, "cors must be origins"),
    ],
)
def test_what_is_not_allowed_is_told_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.ParameterError, match=re.escape(says)):
        settings(given, environment={})


@pytest.mark.parametrize("url", ["", "https://a.example", "https://a.example:8443", "https://[2001:db8::1]:8443"])
def test_an_address_for_browsers(url: str) -> None:
    assert settings({"public_url": url}, environment={}).public_url == url


def test_origins_as_text_and_as_a_table() -> None:
    id = "0" * 64
    text = f"{id}=https://a.example, http://b.example:8080; *=https://c.example"
    table = {id: ["https://a.example", "http://b.example:8080"], "*": ["https://c.example"]}
    one, two = settings({"cors": text}, environment={}), settings({"cors": table}, environment={})
    assert one.cors == two.cors == {name: tuple(listed) for name, listed in table.items()}


@pytest.mark.parametrize(
    ("text", "says"), [("prot = 1", "Did you mean port"), ("port = ", "must be a TOML file"), (None, "can be read")]
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "deniable.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(dn.ParameterError, match=says):
        settings({}, file=str(file), environment={})


# ---- the samples of the page for those who operate it


def sample(kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```", OPERATE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found


def test_the_sample_of_settings_is_read(tmp_path: Path) -> None:
    for number, text in enumerate(sample("toml")):
        file = tmp_path / f"{number}.toml"
        file.write_text(text)
        assert settings({}, file=str(file), environment={}) != Settings()


def test_the_sample_settings_of_a_server_are_those_that_are_looked_at() -> None:
    (text,) = sample("conf")
    given = [line.partition(" = ")[0] for line in text.splitlines() if " = " in line]
    assert len(given) == 6
    assert [name for name in given if f"current_setting('{name}')" not in KEPT_ASK] == []


def test_the_sample_proxy_hides_what_is_not_for_everybody_and_allows_what_we_do() -> None:
    (text,) = sample("nginx")
    assert text.count("{") == text.count("}")
    size = re.search(r"client_max_body_size (\d+)m;", text)
    assert size is not None
    assert int(size[1]) << 20 == Settings().max_body
    assert "access_log off;" in text
    assert re.search(r"location = /metrics\s*\{\s*return 404;", text)
    assert f"proxy_pass http://127.0.0.1:{Settings().port};" in text
