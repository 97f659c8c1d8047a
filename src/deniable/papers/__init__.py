"""The research this project stands on, computed again: one folder per paper, run by `runner`."""
