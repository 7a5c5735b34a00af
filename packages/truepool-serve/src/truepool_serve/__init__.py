"""The coordinator of pools over the network, its ledger, and its client."""
