"""The messages of the service: .proto files, and their compiled descriptors."""
