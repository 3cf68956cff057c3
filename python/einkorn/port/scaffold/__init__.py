"""An op's folder and its tests, from a survey and the answers."""
