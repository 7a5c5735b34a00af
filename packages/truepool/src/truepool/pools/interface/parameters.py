"""Parameters as fields: a pool is a keyword-only dataclass, without saying so."""

import inspect
from dataclasses import MISSING, dataclass, field
from typing import Any, Literal, NamedTuple, dataclass_transform


class _Learned(NamedTuple):
    default: Any


def learned(default: Any = MISSING, *, init: Literal[False] = False) -> Any:
    """Declare an attribute that is no parameter: `fit` sets it.

    The ``default`` is what a pool has that is not fitted, or that an earlier version
    saved without it.
    """
    return _Learned(default)


@dataclass_transform(
    kw_only_default=True, eq_default=False, field_specifiers=(field, learned)
)
class Parameters:
    """Annotated attributes are parameters of a constructor that only stores them.

    Those whose name ends in _, and those that are `learned`, are not.

    >>> class Steps(Parameters):
    ...     rate: float = 0.1
    ...     seed: int = 0
    ...     losses_: list[float] = learned()
    >>> inspect.signature(Steps)
    <Signature (*, rate: float = 0.1, seed: int = 0) -> None>
    """

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        annotated = inspect.get_annotations(cls)
        parameters = {}
        for name, kind in annotated.items():
            value = vars(cls).get(name)
            if not isinstance(value, _Learned):
                if not name.endswith("_"):
                    parameters[name] = kind
            elif value.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
        cls.__annotations__ = parameters
        dataclass(kw_only=True, eq=False, repr=False)(cls)
        cls.__annotations__ = annotated
