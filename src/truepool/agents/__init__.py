"""Who reports: how features are shared out among agents."""
