"""How the coordinator is shown: the dashboard and the statements of agents."""
