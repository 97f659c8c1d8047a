"""The tables of the store, for all engines, and how older databases become like new ones.

Each entry of `MIGRATIONS` leads from one version to the next, in one transaction; an entry that was released is never
changed, since databases out there were made by it. `{bytes}` and `{sorted}` are what an engine calls them.

Nothing here says who sent a report, from where, or when: `seen` has a hash of each id and a mark of its body, `kept`
the bodies of tasks that keep them. Both are ordered by the hash, so that the order of arrival is not kept either.
`once` has the one release of each question whose draws may be sent again, by the question's key. `drafts` are
questionnaires: what a researcher wrote, and what robots answered in a trial.
"""

from __future__ import annotations

__all__ = ["FLEETING", "MIGRATIONS", "TABLES", "VERSION"]

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL){sorted}",
        """CREATE TABLE tasks (
            number INTEGER NOT NULL PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            document {bytes} NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('draft', 'open', 'closed'))
        )""",
        """CREATE TABLE seen (
            task INTEGER NOT NULL,
            id {bytes} NOT NULL,
            mark {bytes} NOT NULL,
            PRIMARY KEY (task, id)
        ){sorted}""",
        """CREATE TABLE tallies (
            task INTEGER NOT NULL,
            window_number INTEGER NOT NULL,
            question INTEGER NOT NULL,
            strata {bytes} NOT NULL,
            shard INTEGER NOT NULL,
            tally {bytes} NOT NULL,
            PRIMARY KEY (task, window_number, question, strata, shard)
        ){sorted}""",
        """CREATE TABLE kept (
            task INTEGER NOT NULL,
            window_number INTEGER NOT NULL,
            question INTEGER NOT NULL,
            strata {bytes} NOT NULL,
            id {bytes} NOT NULL,
            body {bytes} NOT NULL,
            PRIMARY KEY (task, window_number, question, strata, id)
        ){sorted}""",
        """CREATE TABLE rejections (
            task INTEGER NOT NULL,
            reason TEXT NOT NULL,
            shard INTEGER NOT NULL,
            n BIGINT NOT NULL,
            PRIMARY KEY (task, reason, shard)
        ){sorted}""",
        """CREATE TABLE sealed (
            task INTEGER NOT NULL,
            window_number INTEGER NOT NULL,
            document {bytes},
            PRIMARY KEY (task, window_number)
        ){sorted}""",
        """CREATE TABLE keys (
            name TEXT NOT NULL PRIMARY KEY,
            role TEXT NOT NULL,
            digest {bytes} NOT NULL,
            created TEXT NOT NULL,
            revoked TEXT
        ){sorted}""",
    ),
    (
        """CREATE TABLE once (
            question TEXT NOT NULL PRIMARY KEY,
            task INTEGER NOT NULL,
            window_number INTEGER NOT NULL
        ){sorted}""",
        "CREATE TABLE identity (name TEXT NOT NULL PRIMARY KEY, seed {bytes} NOT NULL){sorted}",
        """CREATE TABLE sessions (
            digest {bytes} NOT NULL PRIMARY KEY,
            key_name TEXT NOT NULL,
            created BIGINT NOT NULL,
            expires BIGINT NOT NULL,
            idle BIGINT NOT NULL
        ){sorted}""",
    ),
    (
        """CREATE TABLE drafts (
            id TEXT NOT NULL PRIMARY KEY,
            changed BIGINT NOT NULL,
            document {bytes} NOT NULL,
            trial {bytes},
            task TEXT
        ){sorted}""",
    ),
)
VERSION = len(MIGRATIONS)

TABLES = {
    "meta": ("name", "value"),
    "tasks": ("number", "id", "document", "state"),
    "seen": ("task", "id", "mark"),
    "tallies": ("task", "window_number", "question", "strata", "shard", "tally"),
    "kept": ("task", "window_number", "question", "strata", "id", "body"),
    "rejections": ("task", "reason", "shard", "n"),
    "sealed": ("task", "window_number", "document"),
    "keys": ("name", "role", "digest", "created", "revoked"),
    "once": ("question", "task", "window_number"),
    "identity": ("name", "seed"),
    "sessions": ("digest", "key_name", "created", "expires", "idle"),
    "drafts": ("id", "changed", "document", "trial", "task"),
}
"""The columns of every table in the newest version."""
FLEETING = frozenset({"sessions"})
"""Tables that are not copied: who restores a database does not sign anybody in."""
