"""What is deployed names settings, metrics, routes, reasons and commands that there are, and its steps run."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from deniable.cli.app import build
from deniable.service.http.app import ROWS
from deniable.service.metrics import Metrics
from deniable.service.settings import PREFIX, Settings, rows, settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "howto" / "deploy.md").read_text("utf-8")


def texts() -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(DEPLOY.iterdir()) if path.is_file()}


def instructions() -> list[tuple[str, str]]:
    """Those of the Containerfile, lines that go on joined."""
    text = re.sub(r"\\\n\s*", " ", texts()["Containerfile"])
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def environment() -> dict[str, str]:
    """What the image sets."""
    (told,) = [rest for word, rest in instructions() if word == "ENV"]
    return dict(each.split("=", 1) for each in shlex.split(told))


# ---- names


def test_every_file_is_on_the_page() -> None:
    assert [name for name in texts() if f"`deploy/{name}`" not in PAGE] == []
    assert [name for name in re.findall(r"`deploy/([^`]+)`", PAGE) if not (DEPLOY / name).is_file()] == []


@pytest.mark.parametrize("name", texts())
def test_settings_in_the_environment_are_settings(name: str) -> None:
    assert unknown(texts()[name]) == set()


def unknown(text: str) -> set[str]:
    """Names in the environment that are no settings."""
    return set(re.findall(r"\bDENIABLE_[A-Z_]+", text)) - {PREFIX + row.name.upper() for row in rows()}


def test_a_name_that_is_no_setting_would_be_found() -> None:
    assert unknown("DENIABLE_PORT=1 DENIABLE_PORTS=2") == {"DENIABLE_PORTS"}


def test_settings_are_read_as_the_collector_reads_them() -> None:
    found = settings({}, file=str(DEPLOY / "deniable.toml"), environment={})
    assert found.public_url.startswith("https://")
    given = {name: value for name, value in environment().items() if name.startswith(PREFIX)}
    assert settings({}, environment=given).host == "0.0.0.0"
    compose = yaml.safe_load(texts()["compose.yaml"])["services"]["collector"]["environment"]
    filled = {name: value.replace("${SITE:?say it in .env}", "a.example") for name, value in compose.items()}
    assert settings({}, environment=given | filled).public_url == "https://a.example"


def expressions() -> Iterator[str]:
    for group in yaml.safe_load(texts()["alerts.yaml"])["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads(texts()["grafana.json"])["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def metrics() -> set[str]:
    """Names that GET /metrics has, with those of gauges as the collector names them."""
    source = (ROOT / "src/deniable/service/collector.py").read_text("utf-8")
    gauges = re.findall(r'"(deniable_[a-z_]+)": \(', source)
    assert len(gauges) >= 4
    return set(re.findall(r"^(deniable_[a-z_]+)", Metrics(dict.fromkeys(gauges, ("", float))).text(), re.MULTILINE)) | {
        *("deniable_requests_total", "deniable_reports_total", "up")
    }


def test_alerts_and_charts_ask_for_metrics_that_there_are() -> None:
    asked = list(expressions())
    assert len(asked) > 15
    named = {name for text in asked for name in re.findall(r"\b(deniable_[a-z_]+|up)\b(?=[{\[])", text)}
    assert named <= metrics()
    assert metrics() - named <= {"deniable_upload_seconds_sum", "deniable_upload_seconds_count"}, "none is forgotten"
    assert all(text.count("(") == text.count(")") and text.count("{") == text.count("}") for text in asked)


def test_labels_of_metrics_are_those_that_are_counted() -> None:
    routes = {row.path for row in ROWS}
    told = " ".join(expressions())
    assert set(re.findall(r'route="([^"]+)"', told)) <= routes
    reasons = (ROOT / "docs/http.md").read_text("utf-8")
    for reason in {each for listed in re.findall(r'reason=~"([^"]+)"', told) for each in listed.split("|")}:
        assert f"`{reason}`" in reasons


def test_commands_on_the_page_are_commands() -> None:
    group: Any = get_command(build())
    lines = re.findall(r"deniable ((?:[a-z]+ ?)+)", " ".join(re.findall(r"^    .*$", PAGE, re.MULTILINE)))
    found = [line.split() for line in lines if line.split()[0] in group.commands]
    assert len(found) >= 3
    for first, *rest in found:
        inner = getattr(group.commands[first], "commands", None)
        assert inner is None or rest[0] in inner


# ---- forms


def test_the_unit_is_one() -> None:
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(texts()["deniable.service"])
    assert set(unit.sections()) == {"Unit", "Service", "Install"}
    service = unit["Service"]
    assert service["User"] == "deniable"
    assert int(service["TimeoutStopSec"]) > Settings().stop_seconds
    words = shlex.split(service["ExecStart"])
    assert words[1:3] == ["serve", "--config"]
    assert f"install --mode 640 --group deniable deploy/deniable.toml {words[3]}" in PAGE
    database = tomllib.loads(texts()["deniable.toml"])["database"]
    assert database.startswith(f"sqlite:////var/lib/{service['StateDirectory']}/")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze, which comes with systemd")
@pytest.mark.slow
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    text = texts()["deniable.service"].replace("/opt/deniable/bin/deniable", sys.executable)
    assert verified(tmp_path, text) == ""
    assert "restart specifier" in verified(tmp_path, text.replace("Restart=always", "Restart=ever"))


def verified(folder: Path, text: str) -> str:
    """What systemd finds wrong with a unit; that a user or a page is not on this machine is no fault of the unit."""
    (folder / "deniable.service").write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(folder / "deniable.service")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "".join(line for line in done.stderr.splitlines() if "deniable.service" in line)


def test_the_proxy_has_the_limits_of_the_collector() -> None:
    sizes = {"KiB": 1 << 10, "MiB": 1 << 20}
    number, unit = re.findall(r"max_size (\d+)([KM]iB)", texts()["Caddyfile"])[0]
    assert int(number) * sizes[unit] == Settings().max_body
    told = dict(re.findall(r"(read_header|read_body|idle) (\d+)s", texts()["Caddyfile"]))
    limits = {"read_header": "header_seconds", "read_body": "body_seconds", "idle": "idle_seconds"}
    assert {limits[name]: int(seconds) for name, seconds in told.items()} == {
        name: getattr(Settings(), name) for name in limits.values()
    }


def test_no_secret_is_in_a_file_or_an_image() -> None:
    """Passwords come from deploy/.env, which git and builds leave out, and which others on the machine cannot read."""
    environment = [
        service.get("environment", {}) for service in yaml.safe_load(texts()["compose.yaml"])["services"].values()
    ]
    said = [str(value) for each in environment for name, value in each.items() if re.search("PASSWORD|DATABASE", name)]
    assert len(said) == 2
    assert all("${POSTGRES_PASSWORD" in value and ":-" not in value for value in said)
    assert not re.search(r"(?i)password|secret|token", " ".join(rest for _, rest in instructions()))
    assert "/deploy/.env" in (ROOT / ".gitignore").read_text().splitlines()
    assert not [
        path
        for path in allowed()
        if path.split("/")[0] not in {"LICENSE", "NOTICE.md", "constraints.txt", "pyproject.toml", "src", "clients"}
    ]
    assert re.search(r"test -e deploy/\.env \|\| \(umask 077;", PAGE), "not readable by others, and never made anew"


def allowed() -> list[str]:
    """What builds of the image see of the checkout."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[1] == "*"
    return [line[1:] for line in lines if line.startswith("!")]


def test_the_services_fit_together() -> None:
    made = yaml.safe_load(texts()["compose.yaml"])
    services = made["services"]
    assert set(services) == {"database", "collector", "proxy"}
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert "front" not in services["database"]["networks"]
    assert made["networks"]["inside"]["internal"] is True
    for service in services.values():
        assert set(service["networks"]) <= set(made["networks"])
        named = [volume.split(":")[0] for volume in service["volumes"]]
        assert all(name.startswith("./") or name in made["volumes"] for name in named)
        assert set(service.get("depends_on", ())) <= set(services)
    assert (DEPLOY / services["collector"]["build"]["context"] / services["collector"]["build"]["dockerfile"]).is_file()
    assert f"reverse_proxy collector:{environment()['DENIABLE_PORT']}" in texts()["Caddyfile"]
    assert "/metrics" in texts()["Caddyfile"]


def test_the_container_has_no_root_and_a_health_check() -> None:
    words = [word for word, _ in instructions()]
    assert words.index("USER") > words.index("RUN")
    assert dict(instructions())["USER"] not in ("0", "root")
    assert "HEALTHCHECK" in words
    assert not [rest for word, rest in instructions() if word == "RUN" and ("curl " in rest or "wget " in rest)]


# ---- steps


@pytest.mark.slow
@pytest.mark.turns(5)
def test_the_steps_of_the_container_make_a_collector_that_is_healthy(tmp_path: Path) -> None:
    """Its own commands, with folders of a test for those of an image, and the same environment."""
    port = socket.create_server(("127.0.0.1", 0))
    number = port.getsockname()[1]
    port.close()

    for path in allowed():
        (tmp_path / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, tmp_path / "source" / path, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / path, tmp_path / "source" / path)

    def placed(text: str) -> str:
        text = text.replace("/source", f"{tmp_path}/source").replace("/opt/deniable", f"{tmp_path}/deniable")
        return text.replace("/var/lib/deniable", f"{tmp_path}/state")

    (tmp_path / "state").mkdir()
    for word, rest in instructions():
        if word == "RUN" and not rest.startswith("useradd"):
            command = shlex.split(placed(rest))
            command[0] = sys.executable if command[0] == "python" else command[0]
            done = subprocess.run(command, check=False, capture_output=True, cwd=tmp_path, text=True)
            if "Could not find a version" in done.stderr and "[Errno" in done.stderr:
                pytest.skip("packages cannot be fetched: needs a network, or a folder of wheels that pip knows")
            assert done.returncode == 0, done.stderr
    own = {name: placed(value) for name, value in environment().items()}
    own |= {
        "DENIABLE_HOST": "127.0.0.1",
        "DENIABLE_PORT": str(number),
        "PATH": f"{tmp_path}/deniable/bin:/usr/bin:/bin",
    }
    told = dict(instructions())
    start = [*json.loads(told["ENTRYPOINT"]), *json.loads(told["CMD"])]
    start[0] = f"{tmp_path}/deniable/bin/{start[0]}"
    check = json.loads(told["HEALTHCHECK"].partition("CMD ")[2])
    check[0] = f"{tmp_path}/deniable/bin/{check[0]}"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", PREFIX))} | own
    assert subprocess.run(check, env=clean, capture_output=True, check=False).returncode != 0, "nothing runs yet"
    with subprocess.Popen(start, env=clean, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as running:
        try:
            assert running.stdout is not None
            assert f"127.0.0.1:{number}" in running.stdout.readline()
            assert subprocess.run(check, env=clean, capture_output=True, check=False).returncode == 0
            with urllib.request.urlopen(f"http://127.0.0.1:{number}/metrics", timeout=10) as answer:
                seen = set(re.findall(r"^(deniable_[a-z_]+)", answer.read().decode(), re.MULTILINE))
            assert seen <= metrics()
        finally:
            running.terminate()
        assert running.wait(30) == 0
