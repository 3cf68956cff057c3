from ._native import library

__version__: str = library().version()
