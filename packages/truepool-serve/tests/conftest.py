from command import truepool
from server.postgres_server import postgres
from server.service import certificate

__all__ = ["certificate", "postgres", "truepool"]
