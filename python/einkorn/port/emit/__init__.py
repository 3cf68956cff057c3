"""A closure as a folder that compiles."""
