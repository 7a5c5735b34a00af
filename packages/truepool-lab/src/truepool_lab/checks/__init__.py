"""Checks of an audit: what agents could gain by misreporting, what failures cost."""
