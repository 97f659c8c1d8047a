"""The research this project stands on, computed again: one module per paper, run by `runner`."""
