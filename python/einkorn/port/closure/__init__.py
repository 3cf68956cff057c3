"""The files, symbols and packages that an operator needs, and facts about them."""
