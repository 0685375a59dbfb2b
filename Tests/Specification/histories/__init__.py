"""Random histories of a cache against a simulated server."""
from .history import History
from .modes import KEYED, MODES, SOUND, Failure
