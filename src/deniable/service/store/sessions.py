"""Sessions of people who are signed in, by the hashes of their cookies."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.service.store.contract import SessionRow
from deniable.service.store.engine import Engine

__all__ = ["Sessions"]

_OVER = "FROM sessions WHERE expires <= ? OR idle <= ?"


@dataclass(frozen=True)
class Sessions:
    """Those of one store; see `Store.sessions`."""

    engine: Engine

    def put(self, row: SessionRow) -> None:
        values = (row.digest, row.key, row.created, row.expires, row.idle)
        sql = "INSERT INTO sessions (digest, key_name, created, expires, idle) VALUES (?, ?, ?, ?, ?)"
        with self.engine.write() as session:
            session.execute(sql, values)

    def get(self, digest: bytes) -> SessionRow | None:
        sql = "SELECT digest, key_name, created, expires, idle FROM sessions WHERE digest = ?"
        with self.engine.read() as session:
            found = session.execute(sql, (digest,))
        return SessionRow(bytes(found[0][0]), *found[0][1:]) if found else None

    def use(self, digest: bytes, idle: int) -> None:
        with self.engine.write() as session:
            session.execute("UPDATE sessions SET idle = ? WHERE digest = ? AND idle < ?", (idle, digest, idle))

    def end(self, digest: bytes) -> None:
        with self.engine.write() as session:
            session.execute("DELETE FROM sessions WHERE digest = ?", (digest,))

    def expire(self, now: int) -> int:
        with self.engine.read() as session:
            if not session.execute(f"SELECT 1 {_OVER} LIMIT 1", (now, now)):
                return 0
        with self.engine.write() as session:
            (n,) = session.execute(f"SELECT count(*) {_OVER}", (now, now))[0]
            session.execute(f"DELETE {_OVER}", (now, now))
        return int(n)
