"""What a server of PostgreSQL keeps beside its tables: its write-ahead log, copies of it, and its text log.

These are the server's, not ours: erased reports can be recovered from them until they are given up. What can be seen of
its settings is said in sentences; `docs/howto/operate.md` has the settings that keep nothing.
"""

from __future__ import annotations

from typing import Any

__all__ = ["KEPT_ASK", "LOG_MAY", "kept_by"]

_MAY_CHECKPOINT = (
    "EXISTS (SELECT 1 FROM pg_roles AS r WHERE r.rolname = 'pg_checkpoint' AND pg_has_role(r.oid, 'USAGE')) "
    "OR current_setting('is_superuser') = 'on'"
)
_MAY_SWITCH = "has_function_privilege('pg_switch_wal()', 'EXECUTE')"
LOG_MAY = f"SELECT {_MAY_SWITCH} AND ({_MAY_CHECKPOINT}) AND current_setting('archive_mode') = 'off'"
"""Whether the role may begin a new file of the log and give up the old ones, and that is of use."""

_SIGNS = {
    "archive_mode": "current_setting('archive_mode') <> 'off'",
    "wal_keep_size": "current_setting('wal_keep_size') <> '0'",
    "wal_recycle": "current_setting('wal_recycle') = 'on'",
    "slots": "EXISTS (SELECT 1 FROM pg_replication_slots)",
    "standbys": "EXISTS (SELECT 1 FROM pg_stat_replication)",
    "checkpoint": f"NOT ({_MAY_CHECKPOINT}) OR NOT {_MAY_SWITCH}",
    "statements": "current_setting('log_statement') IN ('mod', 'all') "
    "OR current_setting('log_min_duration_statement') <> '-1'",
    "timestamps": "current_setting('track_commit_timestamp') = 'on'",
}
_LOG = "single reports can be recovered from the server's log"
_WORDS = {
    "archive_mode": f"archive_mode is on: {_LOG} for as long as its archive is kept. Switch it off.",
    "wal_keep_size": f"wal_keep_size is not 0: {_LOG} until it has grown by as much. Set it to 0.",
    "wal_recycle": f"wal_recycle is on: {_LOG} until its files are written over, which may take days. Switch it off.",
    "slots": f"the server has replication slots: {_LOG} until all of them were read. Drop them.",
    "standbys": f"the log is sent to another server: {_LOG} there, by that server's settings.",
    "checkpoint": f"the role may not give up the log: {_LOG} until the server does so itself (checkpoint_timeout). "
    "GRANT pg_checkpoint and EXECUTE ON FUNCTION pg_switch_wal to it.",
    "statements": "the server writes statements to its text log (log_statement, log_min_duration_statement), with the "
    "tallies in them. Switch that off.",
    "timestamps": "track_commit_timestamp is on: the server keeps the time of every transaction. Switch it off.",
}
KEPT_ASK = "SELECT " + ", ".join(f"({test}) AS {name}" for name, test in _SIGNS.items())
"""One question about all of that."""


def kept_by(session: Any) -> list[str]:
    """Sentences about what the server of a session keeps; none if it keeps nothing."""
    found = dict(zip(_SIGNS, session.execute(KEPT_ASK)[0], strict=True))
    return [_WORDS[name] for name, so in found.items() if so]
