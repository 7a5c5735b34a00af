"""Whether new reports mean what they did in the fit, and which cases were learned from."""

import io
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from panels import random_panel
from scenarios import bank
from scipy.special import expit
from scipy.stats import binom
from sklearn.base import clone

import truepool as tp
from truepool.core import archive
from truepool.core.errors import PoolFileError
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools.auto import Auto
from truepool.pools.mean import Mean
from truepool.pools.training import habits
from truepool.pools.training.habits import Habits
from truepool.scoring.changes import Doubt, compare

LEARN, BATCH, BATCHES = 20_000, 300, 250
MOST_FALSE = 0.001
"""Sound batches of 300 cases that are doubted, at most."""
SKILLS = np.array([2.6, 2.2, 2.0, 1.8, 1.6])


def rare(seed, cases):
    """Vendors of a bank: .6 % of the payments are frauds, and they correlate by .3."""
    drawn = bank.make("large", seed, rows=int(1.2 * cases), share=0.006)
    return drawn.reports[:cases], drawn.fraud[:cases]


def balanced(seed, cases):
    """Agents of these skills, as often right about either of two classes."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, cases)
    spread = np.full((5, 5), 0.3)
    np.fill_diagonal(spread, 1.0)
    noise = rng.multivariate_normal(np.zeros(5), spread, cases)
    return expit(SKILLS * (noise + np.outer(outcomes - 0.5, SKILLS))), outcomes


def silenced(reports, share, seed=0):
    """The same reports, without this share of them; one stays of each case."""
    rng = np.random.default_rng(seed)
    gone = rng.random(reports.shape) < share
    gone[np.arange(len(reports)), rng.integers(0, reports.shape[1], len(reports))] = (
        False
    )
    return np.where(gone, np.nan, reports)


@pytest.fixture(scope="module")
def known():
    """What was learned of the agents of each kind, and batches of later cases."""
    found = {}
    for kind in (rare, balanced):
        reports, outcomes = kind(3, LEARN + BATCH * BATCHES)
        learned = Habits.learn(Panel(reports[:LEARN], outcomes[:LEARN]))
        batches = reports[LEARN:].reshape(BATCHES, BATCH, 5)
        found[kind.__name__] = learned, batches
        gaps = silenced(reports, 0.3)
        learned = Habits.learn(Panel(gaps[:LEARN], outcomes[:LEARN]))
        batches = gaps[LEARN:].reshape(BATCHES, BATCH, 5)
        found[f"{kind.__name__} with gaps"] = learned, batches
    return found


def test_sound_batches_are_hardly_ever_doubted(known):
    doubted = [
        bool(compare(learned, batch))
        for learned, batches in known.values()
        for batch in batches
    ]
    assert sum(doubted) <= binom.ppf(0.999, len(doubted), MOST_FALSE)


def test_nor_are_batches_of_thirty_cases(known):
    doubted = [
        bool(compare(learned, batch[:30]))
        for kind in ("rare", "rare with gaps")
        for learned, batches in (known[kind],)
        for batch in batches
    ]
    assert sum(doubted) <= binom.ppf(0.999, len(doubted), MOST_FALSE)


def test_nor_are_they_where_little_was_learned():
    reports, outcomes = rare(4, 60 * 500)
    tables = reports.reshape(60, 500, 5), outcomes.reshape(60, 500)
    doubted = [
        bool(compare(Habits.learn(Panel(own[:200], y[:200])), own[200:]))
        for own, y in zip(*tables, strict=True)
    ]
    assert sum(doubted) <= binom.ppf(0.999, len(doubted), MOST_FALSE)


def test_agreement_by_chance_in_few_cases_is_no_habit():
    """Who reports noise seems to move with the others by .2 in one of 40 such fits."""
    reports, outcomes = balanced(7, 2000)
    rng = np.random.default_rng(0)
    for _ in range(80):
        reports[:, 2] = rng.random(2000)
        some = rng.permutation(2000)[:100]
        learned = Habits.learn(Panel(reports[some][:, 1:], outcomes[some]))
        assert compare(learned, reports[:, 1:]) == {}


def changed(batch, agent, change):
    own = batch.copy()
    own[:, agent] = change(own[:, agent])
    return own


@pytest.mark.parametrize("factor", [0.001, 0.01, 100, 1000])
@pytest.mark.parametrize("kind", ["rare", "rare with gaps", "balanced"])
def test_another_unit_is_seen(known, kind, factor):
    learned, batches = known[kind]
    for place, batch in enumerate(batches[:15]):
        agent = place % 5
        own = changed(batch, agent, lambda p: np.minimum(factor * p, 1.0))
        assert compare(learned, own) == {agent: Doubt.UNIT}


@pytest.mark.parametrize(
    ("kind", "doubt"), [("rare", Doubt.OPPOSITE), ("balanced", Doubt.REVERSED)]
)
def test_one_minus_the_probability_is_another_range_where_events_are_rare(
    known, kind, doubt
):
    learned, batches = known[kind]
    for place, batch in enumerate(batches[:15]):
        agent = place % 5
        found = compare(learned, changed(batch, agent, lambda p: 1 - p))
        assert found == {agent: doubt}


@pytest.mark.parametrize(("kind", "power"), [("rare", 0.7), ("balanced", 0.95)])
def test_reports_of_the_wrong_cases_have_no_relation_to_the_others(known, kind, power):
    learned, batches = known[kind]
    rng = np.random.default_rng(0)
    found = [
        compare(learned, changed(batch, place % 5, rng.permutation))
        == {place % 5: Doubt.NOISE}
        for place, batch in enumerate(batches[:60])
    ]
    assert np.mean(found) >= power


@pytest.mark.parametrize(
    ("odds", "found"), [(1 / 3, {}), (3, {}), (12, {4: Doubt.UNIT})]
)
def test_a_vendor_that_moves_its_odds_a_little_has_no_other_unit(known, odds, found):
    """A factor of three is another threshold or a new month; no unit is so small."""
    learned, batches = known["balanced"]
    moved = changed(batches[0], 4, lambda p: odds * p / (1 - p + odds * p))
    assert compare(learned, moved) == found


def test_an_agent_that_never_moved_with_the_others_is_not_called_noise():
    reports, outcomes = balanced(5, 3000)
    rng = np.random.default_rng(0)
    reports[:, 2] = rng.permutation(reports[:, 2])
    learned = Habits.learn(Panel(reports[:2000], outcomes[:2000]))
    assert compare(learned, reports[2000:]) == {}
    for change in (rng.permutation, lambda p: 1 - p):
        assert compare(learned, changed(reports[2000:], 2, change)) == {}


@pytest.mark.parametrize("kind", ["rare", "balanced"])
def test_of_two_agents_that_are_off_each_is_named_and_nobody_else(known, kind):
    learned, batches = known[kind]
    turned = Doubt.OPPOSITE if kind == "rare" else Doubt.REVERSED
    for batch in batches[:15]:
        own = changed(batch, 1, lambda p: 1 - p)
        own = changed(own, 3, lambda p: p / 1000)
        assert compare(learned, own) == {1: turned, 3: Doubt.UNIT}


def test_a_few_cases_say_nothing(known):
    learned, batches = known["rare"]
    off = changed(batches[0], 2, lambda p: p / 1000)
    assert compare(learned, off[:29]) == {}
    assert compare(learned, off[:30]) == {2: Doubt.UNIT}
    rarely = off.copy()
    rarely[29:, 2] = np.nan
    assert compare(learned, rarely) == {}
    assert compare(learned, off[:0]) == {}


def test_where_nobody_else_reports_only_the_range_is_compared(known):
    learned, batches = known["balanced"]
    alone = np.full_like(batches[0], np.nan)
    alone[:, 2] = batches[0][:, 2]
    assert compare(learned, alone) == {}
    assert compare(learned, changed(alone, 2, lambda p: 1 - p)) == {}
    assert compare(learned, changed(alone, 2, lambda p: p / 1000)) == {2: Doubt.UNIT}


def test_an_agent_that_never_reported_in_the_fit_is_not_doubted():
    reports, outcomes = balanced(6, 900)
    known = reports.copy()
    known[:600, 4] = np.nan
    learned = Habits.learn(Panel(known[:600], outcomes[:600]))
    assert compare(learned, reports[600:]) == {}


def test_of_more_than_two_classes_and_of_sparse_panels_nothing_is_kept():
    assert Habits.learn(random_panel(1, classes=3)) is None
    panel = random_panel(1, cases=60, silent=0.5)
    sparse = SparseReports.from_dense(panel.reports)
    assert Habits.learn(Panel(sparse, panel.outcomes)) is None
    assert Habits.learn(panel) is not None


# Cases that were learned from


def test_cases_up_to_the_last_one_in_time_were_learned_from():
    panel = random_panel(2, cases=90)
    days = np.datetime64("2026-01-01") + np.arange(90)
    dated = Panel(panel.reports, panel.outcomes, times=days)
    learned = Habits.learn(dated.take(np.random.default_rng(0).permutation(60)))
    assert_array_equal(learned.is_seen(dated), np.arange(90) < 60)
    seconds = Panel(panel.reports, panel.outcomes, times=days.astype("datetime64[s]"))
    assert_array_equal(learned.is_seen(seconds), np.arange(90) < 60)
    numbered = Panel(panel.reports, panel.outcomes, times=np.arange(90))
    learned = Habits.learn(numbered.take(np.arange(60)))
    assert_array_equal(learned.is_seen(numbered), np.arange(90) < 60)


def named(panel, ids):
    return Panel(panel.reports, panel.outcomes, panel.agents, ids=ids)


@pytest.mark.parametrize("ids", [True, False])
def test_without_times_cases_are_known_by_their_ids_and_reports(ids):
    panel = random_panel(3, cases=400, silent=0.2)
    if ids:
        panel = named(panel, [f"c{t}" for t in range(400)])
    learned = Habits.learn(panel.take(np.arange(0, 400, 2)))
    assert_array_equal(learned.is_seen(panel), np.arange(400) % 2 == 0)
    order = np.random.default_rng(0).permutation(400)
    assert_array_equal(learned.is_seen(panel.take(order)), order % 2 == 0)
    alone = [learned.is_seen(panel.take(np.array([t, 1])))[0] for t in (0, 6, 9)]
    assert alone == [True, True, False]


def test_a_case_with_another_report_or_id_is_another_case():
    panel = named(random_panel(3, cases=200), np.arange(200))
    learned = Habits.learn(panel)
    assert learned.is_seen(panel).all()
    reports = panel.reports.copy()
    reports[3, 1] += 1e-12
    reports[5, 2] = np.nan
    ids = np.arange(200)
    ids[7] = 999
    other = Panel(reports, panel.outcomes, ids=ids)
    assert np.flatnonzero(~learned.is_seen(other)).tolist() == [3, 5, 7]
    swapped = panel.reports[:, [1, 0, 2, 3]]
    assert not learned.is_seen(Panel(swapped, panel.outcomes, ids=np.arange(200))).any()


def test_an_outcome_that_was_corrected_makes_no_other_case():
    panel = random_panel(3, cases=200)
    flipped = Panel(panel.reports, 1 - panel.outcomes)
    assert Habits.learn(panel).is_seen(flipped).all()


@pytest.mark.parametrize("decimals", [2, 0])
def test_cases_that_look_alike_are_not_taken_for_those_that_were_learned_from(decimals):
    """Of three agents with two decimals, most new negatives look like an old one."""

    def drawn(seed):
        reports, outcomes = balanced(seed, 4000)
        return Panel(reports[:, :3].round(decimals), outcomes)

    assert Habits.learn(drawn(0)).is_seen(drawn(1)) is None
    ids = np.arange(4000)
    old, new = (named(drawn(seed), ids + 4000 * seed) for seed in (0, 1))
    assert not Habits.learn(old).is_seen(new).any()
    assert Habits.learn(old).is_seen(old).all()


def test_what_nobody_can_know_is_not_guessed():
    panel = random_panel(2, cases=90)
    days = np.datetime64("2026-01-01") + np.arange(90)
    dated, numbered = (
        Panel(panel.reports, panel.outcomes, times=times)
        for times in (days, np.arange(90))
    )
    assert Habits.learn(dated).is_seen(panel) is None
    assert Habits.learn(dated).is_seen(numbered) is None
    assert Habits.learn(numbered).is_seen(dated) is None
    assert Habits.learn(named(panel, np.arange(90))).is_seen(panel) is None
    part = Habits.learn(panel, whole=False)
    assert part.is_seen(panel) is None
    assert compare(part, panel.values[:, :, 0]) == {}


def test_beyond_what_is_remembered_nothing_is_known(monkeypatch):
    panel = named(random_panel(2, cases=90), np.arange(90))
    monkeypatch.setattr(habits, "MOST_SEEN", 89)
    assert Habits.learn(panel).is_seen(panel) is None


def test_fingerprints_of_different_cases_differ():
    """By chance two of 2,000 of 32 bits are equal in one of 2,000 such panels."""
    panel = random_panel(4, cases=2000)
    found = habits.fingerprints(panel, ids=False)
    assert len(np.unique(found)) == 2000
    bits = np.unpackbits(found.view(np.uint8)).reshape(2000, 32)
    # Each bit is as often 0 as 1: they are spread, not the first bits of a number.
    assert (np.abs(bits.mean(axis=0) - 0.5) < 5 * 0.5 / np.sqrt(2000)).all()


# Pools


ARRAYS = ("quantiles", "factor", "gaps", "links", "seen")
PANEL = named(random_panel(1, cases=120, silent=0.1), np.arange(120))


def fitted(**more):
    return Mean().fit(PANEL.reports, PANEL.outcomes, **more)


def test_a_pool_remembers_the_reports_that_it_was_fitted_to():
    learned, expected = fitted().habits_, Habits.learn(PANEL)
    for name in ARRAYS[:-1]:
        assert_array_equal(getattr(learned, name), getattr(expected, name))


@pytest.mark.parametrize("times", [None, np.arange(120), np.arange(120.0) / 7])
def test_habits_are_saved_to_the_last_bit(tmp_path, times):
    panel = Panel(PANEL.reports, PANEL.outcomes, times=times)
    pool = Mean().fit_panel(panel)
    pool.remember(panel)
    pool.save(tmp_path / "m.pool")
    back, given = tp.load_pool(tmp_path / "m.pool").habits_, pool.habits_
    for name in ARRAYS:
        one, other = getattr(back, name), getattr(given, name)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()
    assert repr(back.until) == repr(given.until)
    assert_array_equal(back.is_seen(panel), np.ones(120, bool))


def test_a_pool_without_habits_is_saved_and_has_none(tmp_path):
    Mean().fit_panel(PANEL).save(tmp_path / "m.pool")
    assert tp.load_pool(tmp_path / "m.pool").habits_ is None


def rewrite(path, change):
    """Change the manifest and members of a saved pool, with checksums that match."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest["pool"]["learned"]["habits_"]["fields"], members)
    members["manifest.json"] = json.dumps(manifest).encode()
    del members["SHA256SUMS"]
    sums = [f"{archive._sha256(part)}  {name}\n" for name, part in members.items()]
    members["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, part in members.items():
            file.writestr(name, part)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("quantiles", (7, 3)),
        ("quantiles", (6, 4)),
        ("quantiles", (28,)),
        ("factor", (3, 5, 1)),
        ("factor", (3, 4, 2)),
        ("gaps", (4, 2)),
        ("links", (3,)),
        ("links", (4, 1)),
    ],
)
def test_a_file_with_habits_of_another_shape_is_refused(tmp_path, name, shape):
    path = tmp_path / "m.pool"
    fitted().save(path)

    def change(fields, members):
        members[fields[name]["array"]] = npy(np.zeros(shape))

    rewrite(path, change)
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(path)


@pytest.mark.parametrize("name", ["quantiles", "factor", "gaps", "links"])
@pytest.mark.parametrize("value", ["x", 0.5, None])
def test_a_file_with_habits_that_are_no_arrays_is_refused(tmp_path, name, value):
    path = tmp_path / "m.pool"
    fitted().save(path)
    rewrite(path, lambda fields, members: fields.update({name: value}))
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(path)


@pytest.mark.parametrize("make", [Mean, lambda: Auto(candidates=("mean", "vcg"))])
def test_what_learns_again_forgets_how_agents_reported_before(make):
    pool = make().fit(PANEL.reports, PANEL.outcomes)
    assert pool.habits_ is not None
    assert clone(pool).habits_ is None
    assert pool.refit(PANEL).habits_ is None
    assert pool.habits_ is not None
    assert pool.fit_panel(PANEL).habits_ is None


def test_a_second_fit_remembers_its_own_cases():
    pool = fitted()
    other = random_panel(9, cases=100)
    pool.fit(other.reports, other.outcomes)
    assert pool.habits_.is_seen(other).all()
    assert not pool.habits_.is_seen(Panel(PANEL.reports, PANEL.outcomes)).any()
