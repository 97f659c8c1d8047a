"""Counters for Prometheus: totals since the start of this process, without tasks, addresses or keys."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping

__all__ = ["Metrics"]

_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds: upper ends of the buckets."""


class Metrics:
    """What the service counts. Only the event loop writes here."""

    def __init__(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """`gauges`: what is asked for at the time of reading, each with its help."""
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.reports: Counter[tuple[str, str]] = Counter()
        self.failed_sign_ins = 0
        self._gauges = gauges
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0

    def uploaded(self, seconds: float) -> None:
        """Note how long an upload took, from its headers to its durable answer."""
        self._buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def text(self) -> str:
        """All counters in Prometheus' format."""
        lines = _head("deniable_requests_total", "counter", "Requests by route, method and status.")
        for (path, method, status), count in sorted(self.requests.items()):
            lines.append(f'deniable_requests_total{{route="{path}",method="{method}",status="{status}"}} {count}')
        lines += _head("deniable_reports_total", "counter", "Reports by what became of them.")
        for (became, reason), count in sorted(self.reports.items()):
            lines.append(f'deniable_reports_total{{status="{became}",reason="{reason}"}} {count}')
        lines += _head("deniable_failed_sign_ins_total", "counter", "Sign-ins to the pages that failed.")
        lines.append(f"deniable_failed_sign_ins_total {self.failed_sign_ins}")
        lines += _head("deniable_upload_seconds", "histogram", "Time until an upload was durable.")
        total = 0
        for end, inside in zip((*map(str, _BOUNDS), "+Inf"), self._buckets, strict=True):
            total += inside
            lines.append(f'deniable_upload_seconds_bucket{{le="{end}"}} {total}')
        lines += [f"deniable_upload_seconds_sum {self._seconds:.6f}", f"deniable_upload_seconds_count {total}"]
        for name, (help, value) in self._gauges.items():
            lines += [*_head(name, "gauge", help), f"{name} {value():g}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
