"""The verbs `truepool game` and, in `paper`, `truepool reproduce`."""
