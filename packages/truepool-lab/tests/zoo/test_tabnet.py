import pytest
from training_data import features, small_model

from truepool.agents import zoo
from truepool.core import distributions
from truepool.core.errors import MissingExtraError


def test_the_error_about_a_missing_library_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(distributions, "find_spec", lambda library: None)
    with pytest.raises(MissingExtraError, match=r"truepool-lab\[neural\]"):
        zoo.make("tabnet").classifier(0)


def test_tabnet_leaves_torch_as_it_was():
    torch = pytest.importorskip("torch", reason="TabNet needs truepool-lab[neural]")
    torch.set_num_threads(2)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    X, y = features(40)
    small_model("tabnet").classifier(0).fit(X, y).predict_proba(X)
    assert torch.rand(1) == expected
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
