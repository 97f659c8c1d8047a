"""Pure mathematics: domains, support, channels, intervals. Nothing here draws, stores or prints."""
