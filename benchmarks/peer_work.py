"""The same work by other libraries, through their public functions; run by the interpreter that has them.

Prints one JSON list of {work, peer, theirs}: nanoseconds per user, the best of several runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from measure import best
from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer


class Peer(NamedTuple):
    """How a library privatises one value and counts a list of reports, for how many users, and how many are counted."""

    library: str
    name: str
    users: int
    privatize: Callable[[int], Any]
    tally: Callable[[list[Any]], object]
    counted: int | None = None


def peers(k: int, epsilon: float) -> Iterator[Peer]:
    """Every mechanism of every library; reports that are hashed cost each answer, so fewer of them are counted."""
    hashed = max(3, 200_000 // k)
    first = "multi-freq-ldpy"
    yield Peer(
        first, "grr", 20_000, lambda v: GRR.GRR_Client(v, k, epsilon), lambda r: GRR.GRR_Aggregator_MI(r, k, epsilon)
    )
    yield Peer(first, "ss", 1000, lambda v: SS.SS_Client(v, k, epsilon), lambda r: SS.SS_Aggregator_MI(r, k, epsilon))
    yield Peer(
        first, "oue", 2000, lambda v: UE.UE_Client(v, k, epsilon, True), lambda r: UE.UE_Aggregator_MI(r, epsilon, True)
    )
    yield Peer(
        first,
        "olh",
        200,
        lambda v: LH.LH_Client(v, k, epsilon, True),
        lambda r: LH.LH_Aggregator_MI(r, k, epsilon, True),
        hashed,
    )
    for name, users, client, server, options in (
        ("grr", 20_000, DEClient, DEServer, {}),
        ("oue", 2000, UEClient, UEServer, {"use_oue": True}),
        ("olh", 200, LHClient, LHServer, {"use_olh": True}),
    ):
        one = client(epsilon, k, index_mapper=int, **options)
        other = server(epsilon, k, index_mapper=int, **options)
        yield Peer(
            "pure-ldp",
            name,
            users,
            one.privatise,
            lambda r, other=other: [other.aggregate(x) for x in r],
            hashed if name == "olh" else None,
        )


def rows(k: int, epsilon: float, names: list[str]) -> Iterator[dict[str, Any]]:
    """Nanoseconds per user of privatising and of counting, of all mechanisms or of some."""
    for peer in peers(k, epsilon):
        if names and peer.name not in names:
            continue
        values = np.random.default_rng(1).integers(0, k, peer.users).tolist()
        reports = [peer.privatize(v) for v in values]
        privatize = best(lambda peer=peer, values=values: [peer.privatize(v) for v in values])
        some = reports[: peer.counted]
        tally = best(lambda peer=peer, some=some: peer.tally(some))
        for work, seconds in (("privatize", privatize / len(values)), ("tally", tally / len(some))):
            yield {"work": f"{peer.name} {work}", "peer": peer.library, "theirs": seconds * 1e9}


if __name__ == "__main__":
    json.dump(list(rows(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])), sys.stdout)
