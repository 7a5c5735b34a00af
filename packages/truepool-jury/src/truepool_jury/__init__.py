"""LLM agents and juries of judges."""
