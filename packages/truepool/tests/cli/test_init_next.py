"""The command that init prints last leads to a result, whatever the table looks like."""

import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from truepool.tables.column_profile import format_mean, profile_columns

T = 90
RNG = np.random.default_rng(3)
Y = (np.arange(T) % 3 == 0).astype(int)
LABEL = np.where(Y, "yes", "no")
P = {n: np.clip(0.25 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
     for n in ("Alpha", "Beta 2", "Gamma")}  # fmt: skip


def with_word(values, word, every):
    cells = values.astype(str).astype(object)
    cells[::every] = word
    return cells


def test_a_word_in_all_columns_of_reports_is_asked_about_once(follow):
    reports = {name: with_word(p, "not run", 9) for name, p in P.items()}
    age = RNG.integers(18, 95, T)
    out, shown, _ = follow({"Age": age} | reports | {"Outcome 24h": LABEL})
    assert out.count("not run' mean") == 1
    assert (
        "To fill in: does 'not run' mean no report (30 cells of 3 columns)? Then pass "
        "--missing 'not run'; else correct these cells.\n"
    ) in out
    assert "agents: Alpha, Beta 2, Gamma (numbers between 0 and 1)" in out
    assert out.endswith(" --positive LABEL --missing 'not run'\n")
    assert shown["agents"] == ["Alpha", "Beta 2", "Gamma"]
    assert shown["cases"] == T - 10


def test_an_outcome_that_is_not_known_yet_in_a_word_is_asked_about(follow):
    labels = LABEL.copy().astype(object)
    labels[-20:] = "unknown"
    out, shown, err = follow(P | {"verdict": labels})
    assert (
        "does 'unknown' mean no outcome (20 rows of 'verdict')? Then pass "
        "--missing unknown;"
    ) in out
    assert "'verdict'" not in "".join(re.findall("segments.*", out))
    assert shown["cases"] == T - 20
    assert "20 rows have the outcome 'unknown', which counts as not known." in err


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("%d-%b-%Y", "06-Jan-2025"),
        ("%d-%b-%y", "06-Jan-25"),
        ("%d %b %Y", "06 Jan 2025"),
        ("%b %d, %Y", "Jan 06, 2025"),
        ("%B %d, %Y", "January 06, 2025"),
        ("%d-%b-%Y %H:%M", "06-Jan-2025 00:00"),
    ],
)
def test_dates_with_names_of_months_date_the_cases(follow, truepool, written, first):
    days = pd.Timestamp("2025-01-06") + pd.to_timedelta(np.arange(T) // 3, "D")
    out, shown, _ = follow({"when": days.strftime(written)} | P | {"y": Y})
    assert f"  time: when (dates the cases)\n  time-format: {written} (as in" in out
    assert f"(as in {first!r})" in out
    assert "--group" not in out
    assert shown["cases"] == T
    words = ("t.csv", "--config", "pool.toml", "-o", "p.pool", "--pool", "mean")
    code, _, err = truepool("fit", *words)
    assert code == 0, err


def test_agents_in_whole_percents_are_in_the_command(follow):
    out, shown, _ = follow({n: (100 * p).round() for n, p in P.items()} | {"y": Y})
    assert out.endswith(" --agents 'Alpha,Beta 2,Gamma' --percent\n")
    assert "Leave out those that are none" in out
    assert shown["agents"] == ["Alpha", "Beta 2", "Gamma"]


def test_one_agent_in_fractions_beside_percentages_is_not_said_to_be_in_percent(follow):
    columns = {"edr": (100 * P["Alpha"]).round(), "ndr": P["Beta 2"]}
    columns["siem"] = with_word((100 * P["Gamma"]).round(1), "-", 10)
    out, shown, _ = follow(columns | {"verdict": LABEL})
    assert (
        "--agents edr,ndr,siem --percent=edr,siem --positive LABEL --missing -" in out
    )
    assert shown["agents"] == ["edr", "ndr", "siem"]


def test_a_cost_that_is_the_same_in_every_row_is_offered(follow):
    out, _, _ = follow(P | {"review_cost": 12.5, "y": Y})
    assert (
        "Optional: 'review_cost' is 12.5 in every row. If that is what a false alarm "
        "costs, add --cost-fp 12.5.\n"
    ) in out
    assert "not used" not in out
    assert "\n# cost-fp = 12.5  # or 'review_cost'" in Path("pool.toml").read_text()


def long(labels, unit=1.0):
    cases = [f"Q-{t:02}" for t in range(T)]
    return pd.concat(
        [pd.DataFrame({"question": cases, "sort": [f"s{t % 4}" for t in range(T)],
                       "forecaster": name, "forecast": (unit * p).round(0 if unit > 1 else 3),
                       "result": labels}) for name, p in P.items()]
    )  # fmt: skip


def test_a_long_table_is_found_beside_a_word_for_no_outcome(follow):
    labels = LABEL.copy().astype(object)
    labels[-20:] = "pending"
    out, shown, _ = follow(long(labels))
    assert "long: question, forecaster, forecast (one row per report: 90 cases" in out
    assert (shown["cases"], len(shown["agents"])) == (T - 20, 3)


def test_a_long_table_of_whole_percents_with_two_dates_is_found(follow):
    table = long(LABEL, 100.0)
    day = pd.Timestamp("2026-03-20 10:00") + pd.to_timedelta(np.arange(T), "D")
    table["submitted"] = [f"{d:%d/%m/%Y %H:%M:%S}" for d in [*day] * 3]
    made = pd.to_datetime(table.submitted, dayfirst=True)
    closes = made + pd.to_timedelta(np.tile(np.arange(T) % 10 - 1, 3), "D")
    table["closes"] = [f"{d:%d/%m/%Y %H:%M:%S}" for d in closes]
    early = table.assign(
        submitted=[f"{d:%d/%m/%Y %H:%M:%S}" for d in made - pd.Timedelta("8D")],
        forecast=50,
    )
    both = pd.concat([early, table]).reset_index(names="number")
    out, shown, _ = follow(both)
    assert "time: submitted (when each report was made)" in out
    late = 3 * (np.arange(T) % 10 <= 1).sum()
    assert f"decision-time: closes ({6 * T - late:,} of {6 * T:,} reports are" in out
    assert "To fill in: are the reports percentages?" in out
    assert out.endswith(" --percent\n")
    assert "long = [" in Path("pool.toml").read_text()
    assert shown["cases"] == T


def test_a_date_before_all_reports_is_offered_and_not_taken(follow):
    table = long(LABEL)
    table["made"] = [f"2026-03-{1 + i % 28:02}" for i in range(3 * T)]
    table["opened"] = "2026-02-01"
    out, _, _ = follow(table)
    assert "time: made" in out
    assert "decision-time:" not in out
    assert "Optional: is one of these when a case was decided?" in out


def test_a_band_of_small_whole_numbers_is_no_agent_in_percent(follow):
    mean = np.mean([*P.values()], axis=0)
    band = 1 + np.digitize(mean, np.quantile(mean, [0.2, 0.4, 0.6, 0.8]))
    vendor = (100 * P["Alpha"] + RNG.normal(0, 1, T)).clip(1.5, 99).round(2)
    ward = ["A", "B", "C"] * T
    table = P | {"band": band, "vendor": vendor, "ward": ward[:T], "y": LABEL}
    out, shown, _ = follow(table)
    assert "is 'vendor' an agent in percent?" in out
    assert "is 'band' an agent with scores? Its numbers go from 1 to 5 and rise" in out
    assert "into segments (--by)? 'ward'.\n" in out
    assert (
        " One that is no agent may divide the cases (--by band). If it is an agent, add "
        in out
    )
    assert len(shown["agents"]) == 3
    file = Path("pool.toml").read_text()
    assert re.findall('# by = "(.+)"', file) == ["ward"]
    assert '# scores = ["band=1-5"]' in file
    percent = {name: (100 * p).round(2) for name, p in P.items()}
    out, shown, _ = follow(percent | {"band": band, "y": LABEL})
    assert "band" not in re.findall("--agents (.*)", out)[-1]
    assert len(shown["agents"]) == 3


@pytest.mark.parametrize("sign", ["", "%"])
def test_the_agent_in_percent_of_a_long_table_is_found(follow, sign):
    table = long(LABEL)
    first = table.forecaster.iloc[0]
    own = table.forecaster == first
    percent = (100 * table.forecast).round(2).astype(str) + sign
    table["forecast"] = table.forecast.astype(str).where(~own, percent)
    out, shown, _ = follow(table)
    if sign:
        assert f"  percent: {first} (percent signs" in out
    else:
        assert f"are the reports of {first!r} percentages? They go up to" in out
        assert out.endswith(f" --percent={first}\n")
    assert shown["cases"] == T


def test_a_propensity_is_offered_as_such_and_is_no_agent(follow):
    chance = np.where(P["Alpha"] > 0.5, 1.0, 0.2)
    chance[0] = 0.35
    out, shown, _ = follow(P | {"review_prob": chance, "outcome": LABEL})
    assert (
        "Optional: is this the chance that the outcome of a case became known "
        "(--propensity)? 'review_prob'.\n"
    ) in out
    assert shown["agents"] == [*P]
    assert '# propensity = "review_prob"' in Path("pool.toml").read_text()


def test_labels_in_two_spellings_are_named_and_not_offered_as_segments(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    labels = LABEL.copy().astype(object)
    labels[3] = "Yes"
    pd.DataFrame(P | {"verdict": labels}).to_csv("t.csv", index=False)
    _, out, _ = truepool("init", "t.csv")
    assert "None has two different values" not in out
    assert "--by" not in out
    assert (
        "The table cannot be read yet: outcome labels must differ in more than upper "
        "and lower case; column 'verdict' has 'yes' in line 2 of the "
        "file and 'Yes' in line 5 of the file. Write them in one way"
    ) in out
    assert "Once it can be read: truepool audit t.csv" in out
    labels[3] = "yes"
    pd.DataFrame(P | {"verdict": labels}).to_csv("t.csv", index=False)
    words = "t.csv --config pool.toml --positive yes --pool mean --json".split()
    assert truepool("compare", *words)[0] == 0


@pytest.mark.parametrize(
    "other", [{}, {"gender": np.where(np.arange(T) % 2, "F", "M")}]
)
def test_an_outcome_with_a_third_label_is_asked_for(
    tmp_path, monkeypatch, truepool, other
):
    """Without the word, and with another column of two values, that one was taken."""
    monkeypatch.chdir(tmp_path)
    label = LABEL.astype(object)
    label[::10] = "split"
    pd.DataFrame({**other, **P, "outcome": label}).to_csv("t.csv", index=False)
    code, out, _ = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0
    shown = " ".join(out.split())
    assert "which column holds the outcome? 'outcome' is called like one" in shown
    assert "pass it as --missing LABEL too" in shown
    assert "outcome: gender" not in shown
    cure = ("--outcome", "outcome", "--positive", "yes", "--missing", "split")
    code, _, err = truepool("audit", "t.csv", "--config", "pool.toml", *cure)
    assert code == 0, err


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("MRN", [f"{1000 + i // 3:07d}" for i in range(T)]),
        ("customer_no", [str(50_000 + i // 3) for i in range(T)]),
    ],
)
def test_numbers_that_name_patients_are_a_group_and_no_amount(
    tmp_path, monkeypatch, truepool, name, numbers
):
    monkeypatch.chdir(tmp_path)
    amounts = 100 + 7.5 * (np.arange(T) % 40)
    table = {name: numbers, **P, "amount": amounts, "y": Y}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, _ = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0
    assert f"belong together (--group)? '{name}'" in " ".join(out.split())
    config = Path("pool.toml").read_text()
    assert f'cost-fn = "{name}"' not in config
    assert 'cost-fn = "amount"' in config


@pytest.mark.parametrize("word", ["Annulled", "void", "moved"])
def test_a_long_table_with_a_third_outcome_is_found(
    tmp_path, monkeypatch, truepool, word
):
    """Two questions of many have it; `moved` is no word that is known."""
    monkeypatch.chdir(tmp_path)
    label = LABEL.astype(object)
    label[[3, 8]] = word
    agents = len(P)
    table = {
        "question": np.repeat([f"q{t}" for t in range(T)], agents),
        "who": np.tile([*P], T),
        "p": np.stack([*P.values()], axis=1).ravel(),
        "resolution": np.repeat(label, agents),
    }
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    shown = " ".join(out.split())
    assert "long: question, who, p (one row per report" in shown
    cure = ["--positive", "yes", "--missing", word]
    if word == "moved":
        assert "pass it as --missing LABEL too" in shown
        cure += ["--outcome", "resolution"]
    else:
        assert f"does '{word}' mean no outcome ({2 * agents} rows" in shown
        assert f"--positive LABEL --missing {word}" in shown
    code, _, err = truepool("audit", "t.csv", "--config", "pool.toml", *cure)
    assert code == 0, err


def test_stars_beside_percentages_are_scores(tmp_path, monkeypatch, truepool):
    """Many stars mean a low probability; both were read as percentages."""
    monkeypatch.chdir(tmp_path)
    first, second = [*P.values()][:2]
    stars = np.ceil(5 - 4.99 * first).astype(int)
    table = {"stars": stars, "vendor": (100 * second).round(1), "fraud": LABEL}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    shown = " ".join(out.split())
    cure = "--agents stars,vendor --percent=vendor"
    scores = "--scores stars=5-1"
    assert f"{cure} --positive LABEL {scores}" in shown
    assert 'scores = ["stars=5-1"]' in Path("pool.toml").read_text()
    words = ("audit", "t.csv", "--config", "pool.toml", "--positive", "yes")
    code, _, err = truepool(*words, *cure.split(), *scores.split())
    assert code == 0, err
    code, _, err = truepool(*words, "--agents", "stars,vendor", "--percent")
    assert code == 2
    shown = " ".join(err.split())
    assert "all numbers of 'stars' are whole, from 1 to 5, and look like" in shown
    assert "pass --percent=vendor --scores stars=1-5 (the highest first" in shown
    assert "name all agents: --percent=stars,vendor." in shown
    code, _, err = truepool(
        *words, "--agents", "stars,vendor", "--percent=stars,vendor"
    )
    assert code == 0, err


def test_a_word_among_scores_is_asked_about(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    first = next(iter(P.values()))
    scores = (999 * first).astype(int).astype(str).astype(object)
    scores[::25] = "k.A."
    amounts = {"loss": 500 + 7.5 * (np.arange(T) % 40), "work": 90.5 + np.arange(T) % 9}
    table = {**P, "alpha": scores, **amounts, "fraud": LABEL}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    shown = " ".join(out.split())
    assert "is 'alpha' an agent with scores?" in shown
    assert "'k.A.' mean no report" in shown
    assert "(--group)? 'alpha'" not in shown
    config = Path("pool.toml").read_text()
    for cost in ("cost-fn", "cost-fp"):
        assert all(f'# {cost} = "{name}"' in config for name in amounts)
    words = ("--positive", "yes", "--missing", "k.A.", "--scores", "alpha=0-999")
    words += ("--agents", ",".join([*P, "alpha"]))
    code, _, err = truepool("audit", "t.csv", "--config", "pool.toml", *words)
    assert code == 0, err


def test_no_mean_of_reports_in_two_units_is_shown(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    reports = np.stack([*P.values()], axis=1)
    reports[:, 0] *= 100
    table = {
        "question": np.repeat([f"q{t}" for t in range(T)], len(P)),
        "who": np.tile([*P], T),
        "p": reports.ravel(),
        "resolution": np.repeat(LABEL, len(P)),
    }
    pd.DataFrame(table).to_csv("t.csv", index=False)
    _, out, _ = truepool("init", "t.csv", "-o", "pool.toml")
    assert "--percent=" in out
    assert "mean report" not in out


def test_half_stars_beside_one_percentage_are_scores(tmp_path, monkeypatch, truepool):
    """They were offered as percentages, and read as 1 % to 5 %."""
    monkeypatch.chdir(tmp_path)
    first, second, third = [*P.values()][:3]
    table = {
        "screen": [f"{100 * p:.0f}%" for p in first],
        "Pat, HR": np.round(2 + 8 * second) / 2,
        "dana": np.round(2 + 8 * third) / 2,
        "fraud": LABEL,
    }
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    assert "percent: screen (percent signs, which the others do not have)" in out
    assert "are the reports of 'Pat, HR' and 'dana' scores?" in out
    cure = ("--scores", "Pat? HR,dana=1-5")
    assert f"--config pool.toml --scores '{cure[1]}' --positive LABEL" in out
    words = ("audit", "t.csv", "--config", "pool.toml", "--positive", "yes")
    code, _, err = truepool(*words, *cure)
    assert code == 0, err
    assert "A score s of Pat, HR, dana counts as (s - 1) / 4." in err
    every = ("--agents", "screen,Pat? HR,dana", "--percent")
    code, _, err = truepool("audit", "t.csv", "--outcome", "fraud", *every)
    assert code == 2
    shown = " ".join(err.split())
    assert "'Pat, HR', 'dana' are whole or halves, from 1 to 5, and look like" in shown
    assert "pass --percent=screen --scores 'Pat? HR,dana=1-5'; if they" in shown


def test_the_mean_report_of_a_label_leaves_scores_out():
    table = pa.table({"a": ["10%", "30%", "50%"], "b": [1.0, 3.5, 5.0]})
    columns = [*profile_columns(table).values()]
    assert format_mean([c.by_row for c in columns], columns) == "30 %"


def test_columns_of_two_classes_say_what_they_are_probabilities_of(follow):
    columns = {}
    for name, p in P.items():
        columns |= {f"{name}:yes": p, f"{name}:no": (1 - p).round(3)}
    out, shown, _ = follow(columns | {"outcome": LABEL})
    assert (
        "  positive: yes (the rarer class; a missed case (--cost-fn) is one of these)\n"
    ) in out
    assert "To fill in" not in out
    assert shown["agents"] == list(P)


VOTES = {name: (p > 0.5).astype(int) for name, p in P.items()}


def test_votes_beside_reports_are_asked_about(tmp_path, monkeypatch, truepool):
    """They were offered as outcomes alone, and the next command left them out."""
    monkeypatch.chdir(tmp_path)
    votes = {f"coder {name}": v for name, v in VOTES.items()}
    reports = {"bert": P["Alpha"], "llm": P["Gamma"]}
    pd.DataFrame({**votes, **reports, "final": LABEL}).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    asked = "are 'coder Alpha', 'coder Beta 2' and 'coder Gamma' agents that vote 0 or"
    assert asked in out
    agents = "bert,llm,coder Alpha,coder Beta 2,coder Gamma"
    assert (
        f"Leave the outcome out. If they are agents, add --agents '{agents}', or" in out
    )
    words = ("--config", "pool.toml", "--outcome", "final", "--positive", "yes")
    code, _, err = truepool("audit", "t.csv", *words, "--agents", agents)
    assert code == 0, err
    assert "holds only 0 and 1" not in err
    code, _, err = truepool("audit", "t.csv", *words, "--agents", "bert,llm,coder*")
    assert code == 0, err
    assert "column 'coder Alpha' holds only 0 and 1 while others" in err


def test_one_vote_is_asked_about_where_the_outcome_is_known(follow, truepool):
    reports = {"bert": P["Alpha"], "llm": P["Gamma"]}
    out, _, _ = follow(reports | {"vote": VOTES["Beta 2"], "fraud": LABEL})
    assert "is 'vote' an agent that votes 0 or 1?" in out
    table = reports | {"vote": VOTES["Beta 2"], "other": Y}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    out = truepool("init", "t.csv", "-o", "other.toml")[1]
    assert "which column holds the outcome?" in out
    assert "votes 0 or 1" not in out


def test_a_long_list_of_percentages_is_one_line_of_the_config(
    tmp_path, monkeypatch, truepool
):
    """Only its first line was a comment, so that the file was no TOML."""
    monkeypatch.chdir(tmp_path)
    table = {"probability": P["Alpha"]} | {
        f"judge number {i} in percent": (100 * P["Beta 2"]).round(i % 3)
        for i in range(6)
    }
    pd.DataFrame(table | {"fraud": LABEL}).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    tomllib.loads(Path("pool.toml").read_text())
    (command,) = re.findall(r"^Next: truepool (.+)$", out, re.MULTILINE)
    code, _, err = truepool(*shlex.split(command.replace("LABEL", "yes")))
    assert code == 0, err


def test_a_quality_beside_percentages_is_asked_about_as_falling(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    table = {
        "llama": P["Alpha"],
        "gpt": (100 * P["Beta 2"]).round(1),
        "comet": (99 - 60 * P["Gamma"]).round(1),
        "flag": VOTES["Alpha"],
        "fraud": LABEL,
    }
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    assert "does a high number of 'comet' mean a low probability?" in out
    assert "are the reports of 'gpt' percentages?" in out
    assert "is 'flag' an agent that votes 0 or 1?" in out
    agents = "llama,gpt,comet"
    options = f"--agents {agents} --percent=gpt --scores comet=100-0 --positive LABEL"
    assert out.endswith(f"--config pool.toml {options}\n")
    words = shlex.split(
        options.replace("LABEL", "yes").replace(agents, f"{agents},flag")
    )
    code, out, err = truepool("audit", "t.csv", "--config", "pool.toml", *words)
    assert code == 0, err
    assert "reversed" not in out


def test_a_reading_with_an_indeterminate_result_may_be_the_outcome(
    tmp_path, monkeypatch, truepool
):
    """A reader's votes were taken for the outcome, and it for segments."""
    monkeypatch.chdir(tmp_path)
    final = np.where(Y, "positive", "negative").astype(object)
    final[::9] = "indeterminate"
    table = {
        "a": P["Alpha"],
        "b": P["Gamma"],
        "trainee": VOTES["Alpha"],
        "final": final,
    }
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    assert "which column holds the outcome? 'trainee', 'final'." in out
