"""Models of the paper beyond what `truepool agent train` needs."""
