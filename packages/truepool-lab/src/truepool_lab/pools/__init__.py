"""Pools of the paper that cost more than the plain mean, or need torch."""
