from fixtures import given, nowhere

__all__ = ["given", "nowhere"]
