"""How good: losses, scores, calibration, credit, decisions, diversity, inference."""
