"""Audits of tables with known truth, and what each answered when it was recorded.

`tables` draws them, `answers` reads an audit, `expected.json` holds the record.
"""
