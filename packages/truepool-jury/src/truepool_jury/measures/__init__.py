"""What a jury is measured by: certified automation, which cases to label."""
