"""The errors of truepool, in one tree.

::

    TruepoolError
    ├── PanelError (ValueError)         reports or outcomes that cannot be pooled
    │   ├── ReportError                 a report that is not a probability
    │   ├── OutcomeError                outcomes that are not labels of the classes
    │   ├── AgentError                  agents missing, unknown or named twice
    │   └── SourceError                 a file or frame that cannot be read
    │       └── ChecksumError           a data file that is not the published one
    ├── PoolFileError (ValueError)      a saved pool that is damaged, newer or unknown
    ├── StreamFileError (ValueError)    a saved stream that is damaged, newer or unknown
    ├── FeatureError (ValueError)       features that no agent can be trained on
    ├── ExportError (ValueError)        an agent or pool without a faithful export
    ├── CostError (ValueError)          costs that are not positive, or of another K
    ├── BeliefError (ValueError)        beliefs that are impossible
    ├── PoolError (ValueError)          a pool that breaks the contract of pools
    ├── LearnerError (ValueError)       a learner that breaks the contract of learners
    ├── EndpointError (RuntimeError)    a language model that cannot be asked
    ├── LedgerError (RuntimeError)      a ledger that is damaged, in use or unavailable
    ├── RequestError (RuntimeError)     a request that is refused, or not answered
    ├── EngineError (RuntimeError)      a cluster that cannot be used, or loses work
    ├── AgentFaultError (RuntimeError)  an agent that does not report on a case
    ├── SettingError (ValueError)       an option with an invalid value
    ├── UnknownNameError (LookupError)  no pool, loss or learner of that name
    ├── PluginError (ImportError)       a plug-in that cannot be used
    │   └── MissingPluginError          what is in a distribution that is not installed
    └── MissingExtraError (ImportError) a package that is installed only when asked for

Each message says in one or two sentences what must hold, who broke it, where, what was
received, and the cure. Only ``cli`` and ``server`` show them.
"""

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truepool.core.sentences import Voice


class TruepoolError(Exception):
    """Base of all errors of truepool."""

    def lines(self, voice: "Voice") -> list[str]:
        """Return what is wrong, a sentence per fault, in the words of a dialect."""
        return [str(self)]

    def __reduce__(self) -> tuple[Any, ...]:
        # The message is made by the constructor, which other processes need not repeat.
        return _restore, (type(self), self.args, vars(self))


def _restore(
    kind: type[TruepoolError], args: tuple[Any, ...], state: dict[str, Any]
) -> TruepoolError:
    error = kind.__new__(kind, *args)
    vars(error).update(state)
    return error


class PanelError(TruepoolError, ValueError):
    """Reports and outcomes that do not make a panel."""


class ReportError(PanelError):
    """A report that is not a probability."""


class OutcomeError(PanelError):
    """Outcomes that are not labels of the classes, or all the same."""


class AgentError(PanelError):
    """Agents that are missing, unknown, too few or named twice."""


class SourceError(PanelError):
    """A file or a frame that cannot be read as a panel."""


class ChecksumError(SourceError):
    """A data file that differs from the published one."""


class PoolFileError(TruepoolError, ValueError):
    """A saved pool that is damaged, of a newer format, or of an unknown pool."""


class StreamFileError(TruepoolError, ValueError):
    """A saved stream that is damaged, of a newer format, or of an unknown learner."""


class FeatureError(TruepoolError, ValueError):
    """Features that no agent can learn from or report on."""


class ExportError(TruepoolError, ValueError):
    """An agent or a pool that cannot be exported, or not faithfully."""


class CostError(TruepoolError, ValueError):
    """Costs that are not positive, or made for another number of classes."""


class BeliefError(TruepoolError, ValueError):
    """Impossible beliefs: a correlation or a mean out of range."""


class PoolError(TruepoolError, ValueError):
    """A pool whose constructor, weights or pooled reports are invalid."""


class LearnerError(TruepoolError, ValueError):
    """A learner whose update or kernel is invalid."""


class EndpointError(TruepoolError, RuntimeError):
    """An endpoint of language models that cannot be reached, or refuses to answer."""


class LedgerError(TruepoolError, RuntimeError):
    """A ledger that is damaged, used by a coordinator, or cannot be written."""


class RequestError(TruepoolError, RuntimeError):
    """A request that the coordinator refuses, with a stable code.

    The codes are ``unknown`` (no such pool, case or agent), ``conflict`` (the key has
    another value, or the case is decided), ``unauthenticated``, ``forbidden``,
    ``too-large`` and ``too-many`` (requests or open cases). Every other error of a
    request is ``invalid``, ``internal`` is one of a plug-in, and ``unavailable`` is one
    of the ledger. A client raises it too, with the code that was answered, and
    ``unavailable`` where nothing was.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class EngineError(TruepoolError, RuntimeError):
    """A cluster that cannot be used, or that has lost a part of the work."""


class AgentFaultError(TruepoolError, RuntimeError):
    """An agent that was asked about a case and gave no report, and why."""


class SettingError(TruepoolError, ValueError):
    """An option with an invalid value."""


class UnknownNameError(TruepoolError, LookupError):
    """An unknown name, and a hint at what else may be wrong."""

    def __init__(
        self, kind: str, name: object, known: Iterable[str], hint: str = ""
    ) -> None:
        names = sorted(known)
        super().__init__(
            f"no {kind} is called {name!r}{suggestion(str(name), names)}; "
            f"known: {', '.join(names)}{hint}"
        )


class MissingExtraError(TruepoolError, ImportError):
    """A package of an extra that is not installed."""

    def __init__(self, what: str, package: str, requirement: str) -> None:
        super().__init__(
            f"{what} needs {package}, which is not installed; "
            f"pip install {requirement!r}"
        )


class PluginError(TruepoolError, ImportError):
    """A plug-in of another distribution that cannot be used."""


class MissingPluginError(PluginError):
    """Something of another distribution of truepool that is not installed."""

    def __init__(self, kind: str, name: str, extra: str) -> None:
        words = name.replace(".", " ") if kind == "verb" else name
        super().__init__(
            f"{_THINGS.get(kind, f'the {kind} {name!r}').format(words)} is part of "
            f"truepool-{extra}, which is not installed; pip install 'truepool[{extra}]'"
        )


_THINGS = {"name": "truepool.{}", "verb": "truepool {}"}
"""How a name and a verb are written where they are used."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Suggest the known name that is most similar to the one received.

    >>> suggestion("vgc", ["mean", "vcg"])
    " (did you mean 'vcg'?)"
    >>> suggestion("Y", ["x", "y"]), suggestion("si", ["no", "sí"])
    (" (did you mean 'y'?)", " (did you mean 'sí'?)")
    >>> suggestion("outcome", ["ada", "bob"])
    ''
    >>> suggestion("fraud", ["Fraude (EUR)", "fraud confirmed"])
    " (did you mean 'fraud confirmed'?)"
    """
    close = closest(name, known)
    return "" if close is None else f" (did you mean {close!r}?)"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a name, None if none is.

    >>> closest("amount", ["discount", "transaction_amount"])
    'transaction_amount'
    """
    known, meant = list(known), name.casefold()
    close = [word for word in known if _letters(word) == _letters(name)]
    close = close or [word for word in known if _begins(word.casefold(), meant)]
    close = close or [word for word in known if _ends(word.casefold(), meant)]
    close = close or get_close_matches(name, known, n=1)
    return close[0] if close else None


def _letters(word: str) -> str:
    """Letters without case and accents."""
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def _begins(word: str, start: str) -> bool:
    """Whether the first words of a name are these, whole."""
    return bool(start) and word.startswith(start) and not word[len(start)].isalnum()


def _ends(word: str, end: str) -> bool:
    """Whether the last words of a name are these, whole."""
    return bool(end) and word.endswith(end) and not word[-len(end) - 1].isalnum()
