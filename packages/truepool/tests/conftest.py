from fixtures import no_screen, quick_auto

__all__ = ["no_screen", "quick_auto"]
