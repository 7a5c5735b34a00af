from command import truepool

__all__ = ["truepool"]
