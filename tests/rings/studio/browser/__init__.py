"""The page in a real browser: Chromium without a window and without a network."""
