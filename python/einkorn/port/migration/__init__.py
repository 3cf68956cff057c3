"""The questions of a migration, and their answers."""
