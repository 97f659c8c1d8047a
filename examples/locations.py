"""Release of places: where people are, told so that it can be denied, and as near as possible on average.

    python examples/locations.py [--chart map.html]

People of a made-up city say which of 200 places they are at. The codebook tells one of a few representatives; `brr`
favours the places around; whoever knows how busy places are may read reports better (remap), which costs no privacy.
"""

from __future__ import annotations

import argparse

import numpy as np

import deniable as dn
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.present.charts import map_chart, save

EPSILON = 2.0


def city(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Latitude and longitude of 200 places in three quarters, and the share of the people at each."""
    rng = dn.simulation(seed).generator()
    centres = np.array([[48.14, 11.57], [48.17, 11.62], [48.11, 11.50]])
    places = centres[rng.integers(0, 3, 200)] + rng.normal(0, 0.012, (200, 2))
    return places, rng.dirichlet(np.full(200, 0.7))


def reported_from(m: MetricMechanism, own: int) -> np.ndarray:
    """The chance of every place to be reported from the place `own`."""
    chances = np.zeros(m.k)
    chances[slice(None) if m.output_points is None else m.output_points] = m.matrix()[own]
    return chances


def main() -> None:
    """Print mean losses and a few releases; draw what is reported from one place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chart", metavar="FILE", help="also draw a map: .html, .png or .svg")
    chart = parser.parse_args().chart
    places, share = city(5)
    space = dn.Space.places(places.round(5).tolist())
    own = int(share.argmax())
    panels = {}
    print(f"epsilon {EPSILON:g}: mean distance of a report from the true place, in km")
    for name in ("lsrr", "brr", "codebook"):
        m = dn.mechanism(name, epsilon=EPSILON, domain=space)
        assert isinstance(m, MetricMechanism)
        assert dn.audit(m).holds
        better = m.remap(share)
        panels[name] = reported_from(m, own)
        print(f"{name:10}{m.loss(share):6.2f}   read with the shares of the places in mind {better.loss:6.2f}")
    sent = m.released(m.privatize([own] * 12, rng=dn.simulation(1)))
    print(f"twelve people at place {own} with the codebook:", ", ".join(map(str, sent)))
    if chart is not None:
        drawn = map_chart(places, panels, own=own, title="What is reported from one place (the cross)")
        save(drawn, chart)
        print(f"drew {chart}")


if __name__ == "__main__":
    main()
