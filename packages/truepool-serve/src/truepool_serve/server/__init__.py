"""The coordinator: agents report over the network, cases are decided and settled.

`online` holds the only logic. What is added here is transport, durability and access:
a ledger that loses nothing, one core of operations, and the protocols in front of it.
"""
