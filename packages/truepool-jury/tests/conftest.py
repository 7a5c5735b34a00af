from command import truepool
from fixtures import follow, no_screen, quick_auto

__all__ = ["follow", "no_screen", "quick_auto", "truepool"]
