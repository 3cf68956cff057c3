"""The surveyed files: found, read, parsed."""
