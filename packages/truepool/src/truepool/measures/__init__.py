"""Losses, scores, calibration, credit, decisions, diversity and inference."""
