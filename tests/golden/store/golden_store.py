"""Write the golden database of the newest version of the store: a backup, and what it answers.

    .venv/bin/python tests/golden/store/golden_store.py

It refuses to replace files: databases of every version must go on to open and answer the same.
"""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1]))

import deniable as dn  # noqa: E402
from deniable.collect.codec import dump  # noqa: E402
from deniable.service.store import open_store  # noqa: E402
from deniable.service.store.contract import DraftRow, Incoming, KeyRow, Store, Upload  # noqa: E402
from deniable.service.store.schema import VERSION  # noqa: E402
from service.making import DAY, body, opened  # noqa: E402


def answers(store: Store) -> dict[str, Any]:
    """All that a store says about itself, as plain data."""
    found = []
    for row in store.tasks():
        tallies = store.tallies(row.id)
        found.append(
            {
                "id": row.id,
                "document": row.document.decode(),
                "state": row.state,
                "tallies": [[*batch[:2], list(batch.strata), dump(tallies[batch]).hex()] for batch in sorted(tallies)],
                "bodies": [sorted(each.hex() for each in store.reports(row.id, batch)) for batch in sorted(tallies)],
                "rejections": dict(store.rejections(row.id)),
                "releases": [(store.release(row.id, window) or b"").decode() for window in range(4)],
            }
        )
    rows = store.keys()
    keys = [[key.name, key.role, key.digest.hex(), str(key.created), str(key.revoked)] for key in rows]
    drafts = [[row.id, row.changed, row.document.decode(), row.task] for row in store.drafts()]
    return {"tasks": found, "keys": keys} | ({"drafts": drafts} if drafts else {})


def sent(number: int, value: bytes) -> Incoming:
    """A report that the database knows."""
    return Incoming(number.to_bytes(16, "big"), value)


def fill(store: Store) -> None:
    """Something of everything."""
    plain = opened(store)
    store.add([Upload(plain.id, DAY + timedelta(i // 4), [sent(i, bytes([i % 10]))]) for i in range(40)])
    store.add([Upload(plain.id, DAY, [sent(1, b"\7")])])
    store.put_release(plain.id, 0, b'{"reports":22}')
    designs = [dn.mechanism("oue", epsilon=1.0, k=9).design, dn.mechanism("grr", epsilon=0.5, k=4).design]
    survey = opened(store, designs, strata={"country": ["DE", "FR"]}, keep="30")
    bodies = [body(survey, i % 2, [i // 2 % 2], bytes([i % 4])) for i in range(24)]
    store.add([Upload(survey.id, DAY, [sent(100 + i, each) for i, each in enumerate(bodies)])])
    store.seal(survey.id, 1)
    closed = opened(store, subject="closed")
    store.set_state(closed.id, "closed")
    store.put_key(KeyRow("analyst-1", "analyst", bytes(range(32)), date(2026, 11, 16)))
    store.put_draft(DraftRow("first", 1, b'{"questionnaire": 1}', task=plain.id))
    store.put_key(KeyRow("old", "administrator", bytes(32), date(2026, 11, 1), date(2026, 11, 16)))


def main() -> None:
    backup, told = FOLDER / f"v{VERSION}.backup", FOLDER / f"v{VERSION}.json"
    if backup.exists() or told.exists():
        raise SystemExit(f"{backup.name} exists, and golden files are never replaced.")
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/x.db")
        fill(store)
        store.backup(backup)
        told.write_text(json.dumps(answers(store), indent=1, sort_keys=True) + "\n")
        store.close()


if __name__ == "__main__":
    main()
