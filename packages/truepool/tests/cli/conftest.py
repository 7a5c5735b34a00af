from command import truepool
from fixtures import follow

__all__ = ["follow", "truepool"]
