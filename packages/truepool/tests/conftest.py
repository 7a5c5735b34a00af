from fixtures import empty_figures, no_screen, quick_auto

__all__ = ["empty_figures", "no_screen", "quick_auto"]
