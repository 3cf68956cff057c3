"""Rules about the tree as a whole, one module a subject; scripts/lint_tree.py runs them."""
