"""A device trusts nobody: it proves the design before the first report, and reports nothing without entropy."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import deniable as dn
from deniable_client import Device, EntropyError, FormatError, ParameterError, PrivacyError, ReplayWords
from deniable_client.exact import exp_bounds

NAMES = ["grr", "ss", "sue", "oue", "blh", "olh"]


def design(name: str = "grr", **options: Any) -> dict[str, Any]:
    made = dict(dn.mechanism(name, **({"epsilon": 1.0, "k": 6} | options)).design)
    return made | {"kernel": dict(made["kernel"])}


@pytest.mark.parametrize("name", NAMES)
def test_device_takes_the_designs_that_we_make(name: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=6)
    device = Device(m.design)
    assert device.kernel == m.kernel
    assert len(device.report(5)) == m.bulk.row_bytes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("more", [1, 2**20, 2**60])
def test_device_refuses_a_design_that_leaks_more_than_it_says(name: str, more: int) -> None:
    """One more unit of 2^-64 in the threshold is enough: the thresholds are the largest that keep the promise."""
    leaking = design(name)
    field, sign = ("flip", -1) if "flip" in leaking["kernel"] else ("keep", 1)
    leaking["kernel"][field] = str(int(leaking["kernel"][field]) + sign * more)
    with pytest.raises(PrivacyError, match=r"promises epsilon 1.0 .* no report was made"):
        Device(leaking)


def test_device_refuses_a_smaller_promise_than_the_integers_keep() -> None:
    with pytest.raises(PrivacyError, match=r"promises epsilon 0\.999"):
        Device(design() | {"epsilon": 0.999})


def test_device_accepts_a_design_that_leaks_less() -> None:
    modest = design()
    modest["kernel"]["keep"] = str(int(modest["kernel"]["keep"]) - 2**60)
    device = Device(modest)
    assert device.kernel.ratio < exp_bounds(1.0)[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": None}, "kernel kind None is unknown"),
        ({"epsilon": "1"}, "epsilon of a design must be a number"),
        ({"domain": None}, "the domain must be a mapping"),
        ({"domain": {"k": 7}}, "the kernel is for 6 values"),
        ({"domain": {"labels": ["a", "b"]}}, "the kernel is for 6 values"),
        ({"kernel": {"kind": "response", "k": "6", "keep": "x"}}, "needs whole numbers"),
        ({"kernel": {"kind": "cuckoo"}}, "kernel kind 'cuckoo' is unknown"),
    ],
)
def test_device_refuses_designs_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Device(design() | change)


def test_device_refuses_epsilon_beyond_exact_sampling() -> None:
    with pytest.raises(PrivacyError, match="at most 40"):
        Device(design() | {"epsilon": 41.0})


def test_whole_numbers_of_a_document_may_have_a_point() -> None:
    """As they have for every reader whose numbers are doubles: 6.0 is 6. A person's value is no document."""
    made = design("ss", size=2) | {"domain": {"k": 6.0}, "params": {"size": 2.0}, "version": 1.0}
    device = Device(made)
    words = [3, 5, 7, 9, 11]
    assert device.report(5, ReplayWords(words)) == Device(design("ss", size=2)).report(5, ReplayWords(words))
    assert isinstance(device.explain().design.domain.answers, int)
    for odd in (6.5, True, "6", float("inf")):
        with pytest.raises(FormatError):
            Device(made | {"domain": {"k": odd}})


@pytest.mark.parametrize("bad", [-1, 6, 1.0, True, None, "1", [1]])
def test_device_refuses_values_outside_the_domain(bad: object) -> None:
    with pytest.raises(ParameterError, match="value must be an integer from 0 to 5, got"):
        Device(design()).report(bad)


def test_device_knows_labels() -> None:
    device = Device(dn.mechanism("grr", epsilon=1.0, labels=["never", "often"]).design)
    assert device.report("often", ReplayWords([0])) == b"\x01"
    assert device.report("never", ReplayWords([0])) == b"\x00"
    for bad in ("sometimes", 0, None):
        with pytest.raises(ParameterError, match="is not one of this question's 2 labels"):
            device.report(bad)


@pytest.mark.parametrize("error", [OSError("no entropy"), NotImplementedError("no source")])
@pytest.mark.parametrize("name", NAMES)
def test_device_without_entropy_makes_no_report(name: str, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(design(name))

    def fail(size: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(EntropyError, match="no report was made"):
        device.report(1)


def test_device_whose_entropy_ends_half_way_makes_no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    device, left, real = Device(design("oue")), [3], os.urandom

    def dwindling(size: int) -> bytes:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("no entropy left")
        return real(size)

    monkeypatch.setattr(os, "urandom", dwindling)
    with pytest.raises(EntropyError):
        device.report(1)


def test_two_devices_do_not_repeat_each_other() -> None:
    device = Device(dn.mechanism("olh", epsilon=1.0, k=6).design)
    assert len({device.report(2)[:8] for _ in range(200)}) == 200


def test_importing_the_client_loads_the_standard_library_only() -> None:
    code = (
        "import sys; before = set(sys.modules); import deniable_client, deniable_client.device; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - sys.stdlib_module_names))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['deniable_client']"


def test_explain_is_the_function_whatever_was_imported_before() -> None:
    """A name that is loaded late must not be hidden by a module of the same name."""
    code = "import deniable_client.device, deniable_client.task\nfrom deniable_client import Device, explain\n"
    code += "assert callable(explain) and callable(Device)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
