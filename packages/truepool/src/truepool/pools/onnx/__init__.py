"""Pools as ONNX files: the graph, and its export."""
