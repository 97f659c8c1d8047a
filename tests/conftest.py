"""Made-up cases of Hypothesis are the same in every run, and no clock decides: a test fails for what it found alone.

pytest --hypothesis-profile=search     # other cases each time, to look further
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")
