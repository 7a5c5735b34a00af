"""Features and outcomes of the judging panels: numbers (T, F) and classes (T,)."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from sklearn.preprocessing import OrdinalEncoder

from truepool import datasets
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import SourceError
from truepool.datasets.columns import number_columns, read_columns, text_column
from truepool.datasets.location import folders
from truepool_lab.datasets.nsl_kdd import CATEGORIES as KDD_TEXT
from truepool_lab.datasets.nsl_kdd import NAMES as KDD_NAMES
from truepool_lab.datasets.nsl_kdd import NSLKDD
from truepool_lab.datasets.unsw_nb15 import CATEGORIES as UNSW_TEXT
from truepool_lab.datasets.unsw_nb15 import NAMES as UNSW_NAMES
from truepool_lab.datasets.unsw_nb15 import UNSWNB15

Source: TypeAlias = tuple[FloatArray, IntArray]

FAMILIES = {
    "dos": "apache2 back land mailbomb neptune pod processtable smurf teardrop udpstorm",
    "probe": "ipsweep mscan nmap portsweep saint satan",
    "r2l": "ftp_write guess_passwd httptunnel imap multihop named phf sendmail "
    "snmpgetattack snmpguess spy warezclient warezmaster worm xlock xsnoop",
    "u2r": "buffer_overflow loadmodule perl ps rootkit sqlattack xterm",
}
"""The four families of attacks in NSL-KDD (Tavallaee et al. 2009)."""

WEB_ATTACKS = "cicids2017_mlcsv_fragments.csv.gz"


def heart() -> Source:
    """Patients of the Cleveland set: heart disease."""
    found = datasets.heart(seed=None)
    return _filled(found.values), found.outcomes


def diabetes() -> Source:
    """Patients of scikit-learn's diabetes set: progression above the median."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, (y > np.median(y)).astype(np.int64)


def wine() -> Source:
    """Wines of scikit-learn: three growers."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return X, y.astype(np.int64)


def banana() -> Source:
    """River's banana set: two bent classes in two dimensions."""
    from river.datasets import Bananas

    return _from_river(Bananas())


def segment() -> Source:
    """River's image segments: seven surfaces."""
    from river.datasets import ImageSegments

    return _from_river(ImageSegments())


def kdd_probe() -> Source:
    """NSL-KDD: a probe, among all connections."""
    X, label = _kdd()
    return X, (label == "probe").astype(np.int64)


def kdd_remote() -> Source:
    """NSL-KDD: remote-to-local and user-to-root attacks, 2.7 % of all connections."""
    X, label = _kdd()
    return X, np.isin(label, ("r2l", "u2r")).astype(np.int64)


def kdd_families() -> Source:
    """NSL-KDD: normal, denial of service, probe, any other attack."""
    X, label = _kdd()
    classes = {"normal": 0, "dos": 1, "probe": 2, "r2l": 3, "u2r": 3}
    return X, np.array([classes[name] for name in label])


def unsw_fuzzers() -> Source:
    """UNSW-NB15: fuzzers among normal traffic."""
    return _unsw_pair("Normal", "Fuzzers")


def unsw_exploits() -> Source:
    """UNSW-NB15: denial of service among exploits, which look alike."""
    return _unsw_pair("Exploits", "DoS")


def unsw_rare() -> Source:
    """UNSW-NB15: analysis, backdoors, shellcode and worms, 2 % of all flows."""
    X, kind = _unsw()
    rare = ("Analysis", "Backdoor", "Backdoors", "Shellcode", "Worms")
    return X, np.isin(kind, rare).astype(np.int64)


def unsw_kinds() -> Source:
    """UNSW-NB15: normal traffic and the four commonest attacks."""
    X, kind = _unsw()
    common = ("Normal", "Generic", "Exploits", "Fuzzers", "Reconnaissance")
    chosen = np.isin(kind, common)
    return X[chosen], np.array([common.index(name) for name in kind[chosen]])


def web_attacks() -> Source:
    """CICIDS2017: cross-site scripting among brute-force attacks on web pages."""
    X, label = _web_attacks()
    return X, (label == "Web Attack - XSS").astype(np.int64)


SOURCES: dict[str, Callable[[], Source]] = {
    source.__name__.replace("_", "-"): source
    for source in (
        heart, diabetes, wine, banana, segment, kdd_probe, kdd_remote, kdd_families,
        unsw_fuzzers, unsw_exploits, unsw_rare, unsw_kinds, web_attacks,
    )
}  # fmt: skip


@cache
def load(name: str) -> Source:
    """Return the source of that name; it is read once."""
    return SOURCES[name]()


@cache
def _kdd() -> tuple[FloatArray, Array]:
    names = [*KDD_NAMES, "label", "difficulty"]
    parts = [
        read_columns(path, names, (*KDD_TEXT, "label"), header=False)
        for path in NSLKDD.paths()
    ]
    table = pa.concat_tables(parts)
    family = {name: kind for kind, text in FAMILIES.items() for name in text.split()}
    family["normal"] = "normal"
    labels = np.array([family[name] for name in text_column(table, "label")])
    return _numbers(table, KDD_NAMES, KDD_TEXT), labels


@cache
def _unsw() -> tuple[FloatArray, Array]:
    (path,) = UNSWNB15.paths()
    names = [*UNSW_NAMES, "attack_cat"]
    table = read_columns(path, names, (*UNSW_TEXT, "attack_cat"))
    kinds = np.array([kind.strip() for kind in text_column(table, "attack_cat")])
    return _numbers(table, UNSW_NAMES, UNSW_TEXT), kinds


def _unsw_pair(negative: str, positive: str) -> Source:
    X, kind = _unsw()
    chosen = np.isin(kind, (negative, positive))
    return X[chosen], (kind[chosen] == positive).astype(np.int64)


@cache
def _web_attacks() -> tuple[FloatArray, Array]:
    from pyarrow import csv

    found = [folder / WEB_ATTACKS for folder in folders().values()]
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        raise SourceError(
            f"{WEB_ATTACKS!r} must be in the folder of the data; set TRUEPOOL_DATA to it"
        )
    table = csv.read_csv(path)
    table = table.rename_columns([name.strip() for name in table.column_names])
    label = text_column(table, "Label")
    kinds = ("Web Attack - Brute Force", "Web Attack - XSS")
    chosen = np.flatnonzero(np.isin(label.astype(str), kinds))
    names = [n for n in table.column_names if n not in ("Label", "source")]
    columns = [table[n].take(pa.array(chosen)).cast(pa.float64()) for n in names]
    X = np.stack([column.fill_null(0.0).to_numpy() for column in columns], axis=1)
    return np.nan_to_num(X, posinf=0.0, neginf=0.0), label[chosen].astype(str)


def _numbers(table: pa.Table, names: list[str], text: tuple[str, ...]) -> FloatArray:
    numeric = [name for name in names if name not in text]
    written = np.stack([text_column(table, name) for name in text], axis=1)
    codes = OrdinalEncoder().fit_transform(written)
    return np.concatenate([number_columns(table, numeric), codes], axis=1)


def _filled(values: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), np.nanmedian(values, axis=0), values)


def _from_river(stream: Iterable[tuple[dict[str, float], object]]) -> Source:
    rows = list(stream)
    X = np.array([list(x.values()) for x, _ in rows], dtype=np.float64)
    y = np.unique([str(y) for _, y in rows], return_inverse=True)[1]
    return X, y.astype(np.int64)
