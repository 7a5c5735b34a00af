"""Columns of a panel beside the reports: what else is known about each case."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray, read_only
from truepool.core.errors import PanelError, suggestion
from truepool.core.formatting import is_number
from truepool.core.numbers import as_rows
from truepool.panel.row_names import case_name

CURRENCY = (
    r"(?:US|R|C|A)?\$|[€£¥₹₩₺₽₪]|zł|\bkr\b|"
    r"\b(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|BRL|MXN|SEK|NOK|DKK|PLN|CZK|HUF)\b"
)
"""What may stand before or after every amount of a column."""

AMOUNT = (
    rf"[-+]?\s*(?:{CURRENCY})?\s*[-+]?\d[\d.,'’\s]*?(?:([.,])\d\d?)?\s*(?:{CURRENCY})?"
)
"""An amount as people write it, and its decimal mark where that is plain."""

WEIGHT = "Name a column of numbers (--weight)."
PROPENSITY = "Name the column with the chance of a review (--propensity)."


@final
class CaseColumns(Mapping[str, Array]):
    """Read-only arrays (T,) by name, one value per case.

    >>> columns = CaseColumns({"amount": [120.5, 80.0], "region": ["EU", "US"]}, 2)
    >>> columns["region"].tolist(), columns.take(np.array([1]))["amount"]
    (['EU', 'US'], array([80.]))
    """

    def __init__(
        self,
        columns: Mapping[str, ArrayLike] | None = None,
        cases: int = 0,
        *,
        copy: bool = True,
    ) -> None:
        self._arrays = {
            str(name): read_only(_one_per_case(name, values, cases, copy=copy))
            for name, values in (columns or {}).items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"CaseColumns({', '.join(self._arrays)})"

    def take(self, cases: IntArray | BoolArray) -> "CaseColumns":
        """Return the columns of some of the cases."""
        part = {name: values[cases] for name, values in self.items()}
        T = len(next(iter(part.values()), ()))
        return CaseColumns(part, T, copy=False)

    def find(self, name: str, purpose: str) -> Array:
        """Return a column, or refuse with what it was needed for."""
        if name not in self:
            known = ", ".join(self) or "none"
            raise PanelError(
                f"{purpose} needs the column {name!r} of the cases"
                f"{suggestion(name, self)}; columns of the cases: {known}. Read it "
                f"with tp.read_panel(..., columns=({name!r},)) or give "
                f"columns={{{name!r}: ...}}."
            )
        return self[name]


def one_number_per_case(
    what: str, values: ArrayLike, cases: int, ids: Array | None, cure: str
) -> FloatArray:
    """Return finite numbers (T,), or refuse the first case that has none."""
    given = _one_per_case(what, values, cases)
    if given.dtype.kind in "biuf":
        numbers = given.astype(np.float64)
    else:
        numbers = np.array([_number(value) for value in given.tolist()])
    fine = np.isfinite(numbers)
    if not fine.all():
        t = int(np.argmin(fine))
        value = given[t].item() if isinstance(given[t], np.generic) else given[t]
        there = value is not None and value == value and str(value).strip() != ""
        if not there:
            cure = "Fill it in, or leave the case out."
        elif 2 * fine.sum() < len(fine) and (pair := odd_amount(given.tolist())):
            odd, usual = pair
            raise PanelError(
                f"{what} must be written alike in every case; {case_name(odd, ids)} "
                f"has {given[odd]!r:.60}, and most are written as {usual!r:.60}. {cure}"
            )
        raise PanelError(
            f"{what} must be a number; {case_name(t, ids)} has "
            f"{f'{value!r:.60}' if there else 'none'}{count_others(~fine)}. "
            f"{number_cure(value, cure)}"
        )
    return numbers


def odd_amount(cells: list[Any]) -> tuple[int, str] | None:
    """Return the first cell that is not written as most amounts are, and one of these.

    >>> odd_amount(["1.250,00 €", "316,64 €", "n/d"])
    (2, '1.250,00 €')
    >>> odd_amount(["1.250 €", "2.000 €"])  # in doubt, and all alike
    """
    forms = [_form(cell) for cell in cells]
    known = [form for form in forms if form]
    marked = [form for form in known if form[1]] or [form for form in known if form[0]]
    if not marked:
        return None
    currency, mark = Counter(marked).most_common(1)[0][0]
    alike = ((currency, mark), (currency, ""))
    odd = [t for t, form in enumerate(forms) if form not in alike and cells[t]]
    if not odd or 2 * len(odd) > len(cells):
        return None
    return odd[0], str(cells[forms.index((currency, mark))])


def _form(cell: Any) -> tuple[str, str] | None:
    """Return the currency and the decimal mark of an amount, as far as they are plain.

    >>> _form("$1,250.00"), _form("1.250 kr"), _form("many")
    (('$', '.'), ('kr', ''), None)
    """
    text = str(cell).strip()
    found = re.fullmatch(AMOUNT, text)
    if found is None:
        return None
    currency = re.search(CURRENCY, text)
    return currency[0] if currency else "", found[1] or ""


def count_others(bad: BoolArray) -> str:
    """Say of the first bad case how many there are, where there are more.

    >>> count_others(np.array([False, True, True])), count_others(np.array([True]))
    (', the first of 2 such cases in 3', '')
    """
    count = int(bad.sum())
    return f", the first of {count:,} such cases in {len(bad):,}" if count > 1 else ""


def number_cure(cell: Any, otherwise: str) -> str:
    """Say how a number that is written in another way should be written.

    >>> number_cure("5%", ""), number_cure("1,5", "")[:19], number_cure("lots", "Why?")
    ('Write 0.05, without the percent sign.', "Pass --decimal ',' ", 'Why?')
    """
    text = str(cell).strip()
    if re.search(CURRENCY, text) and is_number(re.sub(rf"{CURRENCY}|[., ]", "", text)):
        return (
            "Write the same currency in every cell, or in none, and no separator of "
            "thousands."
        )
    if re.fullmatch(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", text):  # no decimal mark
        return "Leave out what separates the thousands."
    number = text.rstrip("% ").replace(",", ".")
    if text.endswith("%") and is_number(number):
        return f"Write {float(number) / 100:g}, without the percent sign."
    grouped = re.fullmatch(r"[-+]?[1-9]\d{0,2}(\.\d{3})+,\d+", text)
    if grouped or ("," in text and is_number(number)):
        return "Pass --decimal ',' if the comma is the decimal mark, else leave it out."
    if re.fullmatch(r"[-+]?\d+[.,'][\d.,']*\d", text):
        return "Leave out what separates the thousands."
    return otherwise


def check_weights(
    weights: ArrayLike | None, cases: int, ids: Array | None = None
) -> FloatArray | None:
    """Weights of the cases (T,), each a positive number; None: all count the same."""
    if weights is None:
        return None
    numbers = one_number_per_case("the weight of a case", weights, cases, ids, WEIGHT)
    if not (numbers > 0).all():
        t = int(np.argmin(numbers > 0))
        raise PanelError(
            f"the weight of a case must be positive; {case_name(t, ids)} has "
            f"{numbers[t]:g}. Leave out cases that should not count."
        )
    return numbers


def check_propensity(
    propensity: ArrayLike | None, cases: int, ids: Array | None = None
) -> FloatArray | None:
    """Chance (T,) that the outcome of each case became known, in (0, 1]."""
    if propensity is None:
        return None
    what = "the propensity of a case"
    numbers = one_number_per_case(what, propensity, cases, ids, PROPENSITY)
    fine = (numbers > 0) & (numbers <= 1)
    if not fine.all():
        t = int(np.argmin(fine))
        cure = (
            "A case that could not be reviewed tells nothing about others like it: "
            "leave it out, or review some at random (truepool score --explore)."
            if numbers[t] == 0
            else "If these are percentages, divide by 100."
        )
        raise PanelError(
            "the propensity of a case, the chance that it was reviewed, must lie "
            f"above 0 and at most at 1; {case_name(t, ids)} has {numbers[t]:g}. {cure}"
        )
    return numbers


def check_groups(
    groups: ArrayLike | None, cases: int, ids: Array | None = None
) -> Array | None:
    """Group of each case (T,): a label that cases have in common."""
    if groups is None:
        return None
    labels = _one_per_case("groups", groups, cases)
    missing = [value is None or value != value for value in labels.tolist()]
    if any(missing):
        t = missing.index(True)
        raise PanelError(f"every case needs a group; {case_name(t, ids)} has none")
    return labels


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def one_value_per_case(
    what: str, values: ArrayLike | None, cases: int, *, copy: bool = True
) -> Array | None:
    """Return an array (T,), by default one that shares no memory with the values."""
    return None if values is None else _one_per_case(what, values, cases, copy=copy)


def _one_per_case(
    what: str, values: ArrayLike, cases: int, *, copy: bool = True
) -> Array:
    rule = f"{what} must hold one value per case, {cases}"
    array = as_rows(values, rule, PanelError)
    if array.shape != (cases,):
        raise PanelError(f"{rule}; got {array.shape}")
    return array.copy() if copy else array
