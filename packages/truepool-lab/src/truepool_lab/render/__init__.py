"""How games are shown: tables and figures."""
