from command import truepool
from fixtures import no_screen, quick_auto
from server.postgres_server import postgres
from server.service import certificate

__all__ = ["certificate", "no_screen", "postgres", "quick_auto", "truepool"]
