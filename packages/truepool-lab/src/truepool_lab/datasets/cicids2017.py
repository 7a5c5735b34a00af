"""CICIDS2017: network flows of seven classes, six of them attacks."""

from typing import ClassVar, final

import numpy as np

from truepool.agents.features import Features
from truepool.core.arrays import FloatArray
from truepool.datasets import Dataset, File
from truepool.datasets.columns import (
    class_numbers,
    number_columns,
    read_columns,
    text_column,
)
from truepool.datasets.sampling import Seed, check_seed, sample_rows

PORT = "Destination Port"
LABEL = "Attack Type"
NATURAL = "Dicotomico23/"
"""How the sources begin whose rows are a random sample of all flows."""

NAMES = tuple(
    "Flow Duration,Total Fwd Packets,Total Length of Fwd Packets,"
    "Fwd Packet Length Max,Fwd Packet Length Min,Fwd Packet Length Mean,"
    "Fwd Packet Length Std,Bwd Packet Length Max,Bwd Packet Length Min,"
    "Bwd Packet Length Mean,Bwd Packet Length Std,Flow Bytes/s,Flow Packets/s,"
    "Flow IAT Mean,Flow IAT Std,Flow IAT Max,Flow IAT Min,Fwd IAT Total,Fwd IAT Mean,"
    "Fwd IAT Std,Fwd IAT Max,Fwd IAT Min,Bwd IAT Total,Bwd IAT Mean,Bwd IAT Std,"
    "Bwd IAT Max,Bwd IAT Min,Fwd Header Length,Bwd Header Length,Fwd Packets/s,"
    "Bwd Packets/s,Min Packet Length,Max Packet Length,Packet Length Mean,"
    "Packet Length Std,Packet Length Variance,FIN Flag Count,PSH Flag Count,"
    "ACK Flag Count,Average Packet Size,Subflow Fwd Bytes,Init_Win_bytes_forward,"
    "Init_Win_bytes_backward,act_data_pkt_fwd,min_seg_size_forward,Active Mean,"
    "Active Max,Active Min,Idle Mean,Idle Max,Idle Min".split(",")
)

# In the order of tab:cicids_perclass.
LABELS = (
    "Normal Traffic",
    "DDoS",
    "Port Scanning",
    "DoS",
    "Brute Force",
    "Web Attacks",
    "Bots",
)

CITE = (
    "I. Sharafaldin, A. Habibi Lashkari, A. Ghorbani, Toward Generating a New "
    "Intrusion Detection Dataset and Intrusion Traffic Characterization, ICISSP 2018"
)


@final
class CICIDS2017(Dataset):
    """12,000 flows at natural proportions: 83 % normal, 0.07 % bots."""

    name: ClassVar[str] = "cicids2017"
    rows: ClassVar[int] = 12_000
    columns: ClassVar[int] = 52
    labels: ClassVar[tuple[str, ...]] = LABELS
    source: ClassVar[str] = "UNB"
    licence: ClassVar[str] = "if cited"
    cite: ClassVar[str] = CITE
    files: ClassVar[tuple[File, ...]] = (
        File(
            "cicids2017_cleaned_sample12k.csv",
            "a6fc745dfe8d5a2f95202f99428045e49fc262026a04fbe086edb4e9fd628221",
            3_415_974,
            "https://raw.githubusercontent.com/Dicotomico23/hif-cicids2017/"
            "5ff25cb7ef59988cb1ba008c3b7debfb80353035/data/sample/"
            "cicids2017_sample.csv",
        ),
    )

    @classmethod
    def load(cls, rows: int | None = None, seed: Seed = 0) -> Features:
        """Flows of CICIDS2017 (Sharafaldin et al. 2018); 0 is normal traffic.

        A random sample of the 2,520,751 flows of the cleaned version; the paper drew
        100,000. The rarest class has 8 rows.

        Parameters
        ----------
        rows : int, optional
            How many to draw without replacement; None takes all.
        seed : int or Generator, optional
            For the draw and the order; None keeps the published order.
        """
        check_seed(seed, rows)
        (path,) = cls.paths()
        names = (PORT, *NAMES)
        table = read_columns(path, [*names, LABEL], (LABEL,))
        every = Features(
            number_columns(table, names),
            class_numbers(path, text_column(table, LABEL), cls.labels, LABEL),
            names,
            labels=cls.labels,
            name=cls.name,
        )
        return every.take(sample_rows(rows, len(every), seed))


@final
class CICIDS2017Compiled(Dataset):
    """64,365 flows put together from many samples, so that no class is rare.

    Proportions are not natural, and class and source go together: nearly all bots come
    from one source. Sources write the same number with different last digits, so
    features are rounded to 7 significant ones; the port is left out, because not all
    sources have it.
    """

    name: ClassVar[str] = "cicids2017-mix"
    rows: ClassVar[int] = 64_365
    columns: ClassVar[int] = 51
    labels: ClassVar[tuple[str, ...]] = LABELS
    source: ClassVar[str] = "UNB, compiled"
    licence: ClassVar[str] = "if cited"
    cite: ClassVar[str] = CITE
    files: ClassVar[tuple[File, ...]] = (
        File(
            "cicids2017_7class_compiled.csv",
            "c1ae565a3f3c9e1be4b5ce128042c2ce2054c722796c8c13829f34c06f8cab1b",
            19_274_869,
        ),
    )

    @classmethod
    def load(
        cls, rows: int | None = None, seed: Seed = 0, *, natural: bool = False
    ) -> Features:
        """Flows of CICIDS2017 (Sharafaldin et al. 2018); 0 is normal traffic.

        Parameters
        ----------
        rows : int, optional
            How many to draw without replacement; None takes all.
        seed : int or Generator, optional
            For the draw and the order; None keeps the order of the file.
        natural : bool
            Only the 23,650 rows that were sampled at natural proportions: the nearest
            there is to the 100,000 flows of the paper.
        """
        check_seed(seed, rows)
        (path,) = cls.paths()
        table = read_columns(path, [*NAMES, LABEL, "source"], (LABEL, "source"))
        values = seven_digits(number_columns(table, NAMES))
        outcomes = class_numbers(path, text_column(table, LABEL), cls.labels, LABEL)
        every = Features(values, outcomes, NAMES, labels=cls.labels, name=cls.name)
        if natural:
            sources = text_column(table, "source").astype(str)
            every = every.take(np.flatnonzero(np.char.startswith(sources, NATURAL)))
        return every.take(sample_rows(rows, len(every), seed))


def seven_digits(values: FloatArray) -> FloatArray:
    """Round to 7 significant digits, so that two spellings of a number are one.

    >>> seven_digits(np.array([8.666666667, 8.666666667000001, -1234567890.0, 0.0]))
    array([ 8.666667e+00,  8.666667e+00, -1.234568e+09,  0.000000e+00])
    """
    size = np.floor(np.log10(np.abs(values), where=values != 0, out=values * 0.0))
    size = np.maximum(size, -290)  # what is smaller counts as 0
    # Whole powers of ten are exact numbers and their inverses are not: so divide.
    up, down = 10.0 ** np.maximum(6 - size, 0), 10.0 ** np.maximum(size - 6, 0)
    return np.asarray(np.rint(values * up / down) / up * down)


cicids2017 = CICIDS2017.load
cicids2017_mix = CICIDS2017Compiled.load
