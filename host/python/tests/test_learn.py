"""Learning, and what came of it."""

import os
import signal
import time

import numpy as np
import pytest

import bispectral
from bispectral import Error, Model, datasets, learn


def test_a_group_is_learned_from_labels_alone():
    X, y = datasets.group("Z4xZ2", exemplars=20)
    learned = learn(X, y)
    assert learned.group == "Z4xZ2" and learned.why_no_group is None
    assert learned.model.group == "Z4xZ2" and learned.W.shape == (8, 8) and learned.W.dtype == np.complex64
    table = learned.table
    assert sorted(table[0].tolist()) == list(range(8)) and (table == table.T).all()
    assert learned.evaluation["within"] < 1e-9 < 1 < learned.evaluation["between"]


def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads():
    X, y = datasets.group("Z3xZ3", exemplars=15)
    X = X + np.random.default_rng(0).normal(scale=0.05, size=X.shape).astype(np.float32)
    one, three = (learn(X, y, threads=threads, phases=["spectral"]) for threads in (1, 3))
    assert one.model == three.model and (one.W == three.W).all()


def test_labels_are_integers_or_words_and_samples_of_any_real_type():
    X, y = datasets.group("Z6", exemplars=12)
    words = np.array([f"thing {label}" for label in y])
    assert learn(X, words).group == learn(X.astype(np.float64), y).group == "Z6"
    order = np.asfortranarray(X)
    assert learn(order, y).model == learn(X, y).model


def test_images_are_three_dimensional_and_exemplars_can_be_moved():
    images = datasets.patches(30, 6)
    learned = learn(images, transform="translate2d")
    assert learned.group == "Z6xZ6"
    assert learned.model.features(images).shape == (30, 666)


def turns_and_mirrors(images):
    """Every image in its eight positions, and which image each is."""
    X = np.stack([np.rot90(m, k) for image in images for m in (image, image[:, ::-1]) for k in range(4)])
    return X, np.repeat(np.arange(len(images)), 8)


def test_a_group_that_does_not_commute_is_learned_with_its_invariants():
    X, y = turns_and_mirrors(np.random.default_rng(0).normal(size=(40, 4, 4)))
    learned = learn(X, y)
    assert learned.group == "D4" and learned.table.shape == (8, 8) and (learned.table != learned.table.T).any()
    assert learned.permutations.shape == (8, 16) and (np.sort(learned.permutations) == np.arange(16)).all()
    model = learned.model
    assert model.structure == "couplings" and len(model.pairs) == 0 and model.table.shape == (8, 8)
    features = model.features(X, output="real")
    assert np.abs(features - np.repeat(features[::8], 8, axis=0)).max() < 1e-6 < 1e-2 < np.abs(features[0] - features[8]).max()
    rebuilt = model.invert(model.features(X[:1])).signals[0]
    orbit = X[:8].reshape(8, 16) / np.linalg.norm(X[0])
    assert np.abs(orbit - rebuilt).max(axis=1).min() < 1e-3
    found = bispectral.attack(model, X[:3], restarts=3)
    assert found.motions is None and found.reached >= 1
    with pytest.raises(Error, match="the squares of the rows of couplings are not invariant"):
        bispectral.attack(model, X[:3], features="power")
    assert learned._repr_html_().count("<img") == 3
    known = Model.of_group("D4", inputs=16)
    both = known.features(X[:8], output="real")
    assert np.abs(both - both[0]).max() < 1e-6


def test_where_no_group_is_recognised_the_data_is_described():
    rng = np.random.default_rng(1)
    learned = learn(rng.normal(size=(60, 6)), np.repeat(np.arange(20), 3))
    assert learned.group is None and learned.why_no_group and learned.diagnosis["findings"]


def test_methods_are_compared_and_the_table_prints():
    rng = np.random.default_rng(0)
    shapes, y = rng.normal(size=(3, 32)), np.arange(60) % 3
    X, told = shapes[y] + rng.normal(scale=0.2, size=(60, 32)), []
    table = bispectral.compare(X, np.array(["a", "b", "c"])[y], shift=True, draws=2, progress=told.append)
    assert [step["draw"] for step in told] == [1, 2] and len(table) == 10
    assert "brute force over shifts" in repr(table) and table._repr_html_().count("<tr>") == 11
    other = bispectral.compare(X[:40], y[:40], X[40:], y[40:], draws=1)
    assert {line["method"] for line in other} == {line["method"] for line in table}
    for call, line in (
        (lambda: bispectral.compare(X, y, held_out=1), "held_out: 1: take a number from 0 to 0.9"),
        (lambda: bispectral.compare(X, y[:3]), "y: labels of shape (3,) for 60 signals"),
        (lambda: bispectral.compare(X, y * 0), "y: 1 different labels: "),
        (lambda: bispectral.compare(X, y, X[:, :5], y), "X_test: signals of 5 values, the others have 32"),
    ):
        with pytest.raises(Error) as error:
            call()
        assert str(error.value).startswith(line), error.value


def test_a_chain_for_a_device_says_classes_as_the_device_does(tmp_path):
    rng = np.random.default_rng(0)
    shapes, y = rng.normal(size=(3, 32)), np.arange(150) % 3
    X = np.stack([np.roll(shapes[k], rng.integers(32)) for k in y]) + rng.normal(scale=0.1, size=(150, 32))
    names = np.array(["ant", "bee", "cat"])[y]
    chain = bispectral.fit_chain(X[:90], names[:90], fit="flash=16K,ram=4K")
    assert chain.left_out > 0.98 and (chain.predict(X[90:]) == names[90:]).mean() > 0.98
    assert chain.described["flash_bytes"] == len(chain.model.to_bytes()) <= 4 << 10
    chain.model.save(tmp_path / "chain.bsn")
    assert (Model.load(tmp_path / "chain.bsn").classify(X) == chain.model.classify(X)).all()
    assert chain.model.classify(X[0]) == y[0]
    for call, line in (
        (lambda: bispectral.fit_chain(X, y, fit="flash=1K"), "the limits: no chain fits: "),
        (lambda: bispectral.fit_chain(X, y * 0), "y: 1 different labels: "),
        (lambda: chain.model.classify(X[:, :9]), "model: signals have 9 values, it has 32 inputs: "),
        (lambda: Model.of_group("Z8").classify(np.ones((1, 8))), "model: it has no classifier: "),
    ):
        with pytest.raises(Error) as error:
            call()
        assert str(error.value).startswith(line) and "\n" not in str(error.value), error.value


def test_every_step_is_told_and_an_exception_on_the_way_ends_it():
    X, y = datasets.group("Z6", exemplars=12)
    told = []
    learn(X, y, progress=told.append, phases=[{"loss": "second-order", "steps": 30, "tolerance": 0}], restarts=0)
    assert [step["step"] for step in told] == list(range(1, 31)) and told[0]["phase"] == 1

    def stop(step):
        if step["step"] == 5:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        learn(X, y, progress=stop, phases=[{"loss": "second-order", "steps": 1_000_000, "tolerance": 0}])


def test_a_fork_learns_as_its_parent_does():
    X, y = datasets.group("Z6", exemplars=12)
    learned = learn(X, y)
    child = os.fork()
    if child == 0:
        same = learn(X, y).model == learned.model
        os._exit(0 if same else 1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the fork hangs")


@pytest.mark.parametrize(
    "call, line",
    [
        (lambda X, y: learn(X, y[:-1]), "y: labels of shape (71,) for 72 samples: give one label a sample"),
        (lambda X, y: learn(X), "y: missing: "),
        (lambda X, y: learn(X, y, held_out=1.5), "held_out: 1.5 is not a share to hold out: set it between 0 and 1"),
        (lambda X, y: learn(X, y, phases=["third"]), "phases: unknown variant `third`"),
        (lambda X, y: learn(X, y, phases=[{"loss": "spectral", "stepz": 3}]), "phases: unknown field `stepz`"),
        (lambda X, y: learn(X, y, threads=0), "threads: 0: take 1 or more"),
        (lambda X, y: learn(X * 1j, y), "X: its values are complex64: give real numbers"),
        (lambda X, y: learn(X[0], y), "X: an array of 1 dimensions: "),
        (lambda X, y: learn(np.where(np.arange(72 * 6).reshape(72, 6) == 20, np.nan, X), y), "samples: row 3: column 2 is NaN: "),
        (lambda X, y: learn(X, transform="turn"), 'transform: "turn" is unknown: take '),
        (lambda X, y: learn(X, np.zeros(len(X), int)), "labels: "),
    ],
)
def test_what_cannot_be_learned_is_said_in_one_line(call, line):
    X, y = datasets.group("Z6", exemplars=12)
    with pytest.raises(Error) as error:
        call(X, y)
    assert str(error.value).startswith(line) and "\n" not in str(error.value), error.value
    assert isinstance(error.value, ValueError)


def test_the_page_and_the_notebook_have_the_pictures(tmp_path):
    learned = learn(*datasets.group("Z3xZ3", exemplars=15))
    learned.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "The symmetry of the data is Z3xZ3" in page and page.count("<svg") >= 3
    assert set(learned.figures()) == {"cayley", "filters", "distances", "loss"}
    shown = learned._repr_html_()
    assert shown.count("<img") == 3 and "Z3xZ3" in shown
    with pytest.raises(FileNotFoundError):
        Model.load(tmp_path / "absent.bsn")


def test_the_version_is_that_of_the_crates():
    assert bispectral.__version__ == "0.1.0"
