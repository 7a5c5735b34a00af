from server.service import certificate

__all__ = ["certificate"]
