"""Texts that people read on the pages: one catalogue in all languages, for server and client alike."""
