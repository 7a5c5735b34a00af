"""The verbs `truepool serve`, `truepool ledger` and `truepool agent serve`."""
