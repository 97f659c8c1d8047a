"""The commands of a workbench: sweeps, designs side by side, and files that are verified."""
