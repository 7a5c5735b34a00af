"""Values: panels, labels, costs, sparse reports and weights."""
