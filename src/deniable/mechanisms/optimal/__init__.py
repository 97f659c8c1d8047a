"""Channels that are written down as whole numbers, with what they promise between each two answers."""
