"""Where a ported op came from, and what changed there since."""
