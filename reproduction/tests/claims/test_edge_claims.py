"""Claims about the edge tables, decided on the rows of the machine that published them."""

from published_run import published, value

from truepool_paper.edge.team import MODELS

INFERENCE = "tab:jetson_inference"


def here(label, key, column):
    return value(label, f"this machine, {key}", column)


def test_every_row_names_its_machine_and_none_stands_for_another():
    for label in (INFERENCE, "tab:jetson_rtt"):
        cells = published()[label].cells
        ours = {key for (key, _), cell in cells.items() if cell.measured}
        assert ours
        for key in ours:
            assert key[0].startswith("this machine, ")
            assert "core" in cells[key, "machine"].measured.value
        printed = [cell for cell in cells.values() if cell.printed]
        assert {cell.verdict for cell in printed} == {"not at hand"}


def test_claim_204_the_forest_is_the_slowest_model_here_too():
    times = {name: here(INFERENCE, name, "time (ms)") for name in MODELS}
    assert max(times, key=times.get) == "Random Forest"


def test_claim_209_onnx_gains_less_than_10_times_for_most_and_changes_nothing():
    gains = {name: here(INFERENCE, f"{name}, ONNX", "gain, 1 case") for name in MODELS}
    assert max(gains, key=gains.get) == "Random Forest"
    assert gains.pop("Random Forest") > 10
    assert max(gains.values()) < 10
    for name in MODELS:
        assert here(INFERENCE, f"{name}, ONNX", "gain, 500 cases") < 10
        assert here(INFERENCE, f"{name}, ONNX", "max |dp| (1e-6)") < 1
