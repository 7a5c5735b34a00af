"""The Open Inference Protocol, version 2: pools and agents as models for any client."""
