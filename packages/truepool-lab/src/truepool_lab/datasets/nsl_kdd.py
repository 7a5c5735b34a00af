"""NSL-KDD: network connections, each normal or an attack."""

from typing import ClassVar, final

import numpy as np
import pyarrow as pa

from truepool.agents.features import Features
from truepool.datasets import Dataset, File
from truepool.datasets.columns import number_column, read_columns, text_column
from truepool.datasets.sampling import Seed, check_seed, sample_by_class, sample_rows

MIRROR = "https://raw.githubusercontent.com/defcom17/NSL_KDD/master"
TRAIN = File(
    "KDDTrain+.txt",
    "1b86d2f957b33082081bba410fe129b475efebcc13c9014c3f447c8271aadf95",
    19_109_424,
    f"{MIRROR}/KDDTrain%2B.txt",
)
TEST = File(
    "KDDTest+.txt",
    "fa46b0935342616aa83b7c2578db355b6a7aaabbc492248172c7a1e8b7ab8f84",
    3_441_513,
    f"{MIRROR}/KDDTest%2B.txt",
)

FIFTH = 25_192
"""Rows of the published ``KDDTrain+_20Percent``: the first of ``KDDTrain+``."""

CATEGORIES = ("protocol_type", "service", "flag")

NAMES = (
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment "
    "urgent hot num_failed_logins logged_in num_compromised root_shell su_attempted "
    "num_root num_file_creations num_shells num_access_files num_outbound_cmds "
    "is_host_login is_guest_login count srv_count serror_rate srv_serror_rate "
    "rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate "
    "dst_host_count dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate "
    "dst_host_same_src_port_rate dst_host_srv_diff_host_rate dst_host_serror_rate "
    "dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate"
).split()


@final
class NSLKDD(Dataset):
    """Both published files as one table: 48.1 % of the two together are attacks."""

    name: ClassVar[str] = "nsl-kdd"
    rows: ClassVar[int] = 148_517
    columns: ClassVar[int] = 41
    labels: ClassVar[tuple[str, ...]] = ("normal", "attack")
    source: ClassVar[str] = "UNB"
    licence: ClassVar[str] = "if cited"
    cite: ClassVar[str] = (
        "M. Tavallaee, E. Bagheri, W. Lu, A. Ghorbani, A Detailed Analysis of the KDD "
        "CUP 99 Data Set, IEEE CISDA 2009"
    )
    files: ClassVar[tuple[File, ...]] = (TRAIN, TEST)

    @classmethod
    def load(
        cls,
        rows: int | None = 50_000,
        attacks: float = 0.48,
        seed: Seed = 0,
        *,
        train: int | None = None,
    ) -> Features:
        """Connections of NSL-KDD (Tavallaee et al. 2009); 1 is an attack.

        Parameters
        ----------
        rows : int, optional
            How many to draw without replacement; 50,000 as in the paper. None takes
            all, at whatever share of attacks they have (the train file alone has
            46.5 %, the test file 56.9 %).
        attacks : float
            Share of attacks among the rows drawn; 48 % as in the paper.
        seed : int or Generator, optional
            For the draw and the order. None with ``rows=None`` keeps the published
            order, train before test.
        train : int, optional
            Use only this many of the train file's first rows; ``FIFTH`` with
            ``rows=None`` gives the 47,736 rows of READINGS 4.
        """
        check_seed(seed, rows)
        columns = [*NAMES, "label", "difficulty"]
        parts = [
            read_columns(path, columns, (*CATEGORIES, "label"), header=False)
            for path in cls.paths()
        ]
        table = pa.concat_tables(parts)
        place = np.arange(len(table))
        selected = place >= len(parts[0])
        selected |= place < (len(parts[0]) if train is None else train)
        every = Features.from_columns(
            {
                n: (text_column if n in CATEGORIES else number_column)(table, n)
                for n in NAMES
            },
            text_column(table, "label") != cls.labels[0],
            labels=cls.labels,
            name=cls.name,
        ).take(np.flatnonzero(selected))
        if rows is None:
            return every.take(sample_rows(None, len(every), seed))
        wanted = [rows - round(rows * attacks), round(rows * attacks)]
        return every.take(sample_by_class(every.outcomes, wanted, seed, cls.labels))


nsl_kdd = NSLKDD.load
