"""Games of agents that misreport, stress tests, and the re-run of the paper."""
