from fixtures import few_pools

__all__ = ["few_pools"]
