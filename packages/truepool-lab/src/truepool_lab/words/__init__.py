"""Sentences of the checks of this distribution, by code."""
