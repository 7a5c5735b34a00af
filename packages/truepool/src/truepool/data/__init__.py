"""What goes in: panels, tables, features, labels, costs and weights."""
