"""All that is found of an operator, as data and as a page."""
