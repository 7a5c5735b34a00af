from command import truepool
from server.service import certificate

__all__ = ["certificate", "truepool"]
