"""What several pools learn with: regression, clips, missing reports, habits."""
