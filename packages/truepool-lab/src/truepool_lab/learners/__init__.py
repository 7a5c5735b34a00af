"""Learners of the paper that have no regret bound."""
