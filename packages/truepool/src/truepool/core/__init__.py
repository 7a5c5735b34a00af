"""What everything else stands on; nothing here knows about pools or reports."""
