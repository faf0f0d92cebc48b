"""Models: files, features, inversion, forms."""

import pickle
import threading
import time

import numpy as np
import pytest

from bispectral import Error, Model, attack


def random(samples, inputs, seed=0):
    return np.random.default_rng(seed).normal(size=(samples, inputs))


def formula(W, X, pairs):
    """β̄ by the definition, in double precision."""
    W, X = W.astype(complex), np.asarray(X, float)
    z = X @ W.T
    i, j = pairs.T
    beta = z[:, i] * z[:, j] * np.conj(X @ (W[i] * W[j]).T)
    return beta / np.linalg.norm(beta, axis=1, keepdims=True)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("structure", ["dense", "conjugates", "combined:1", "cyclic", "fft"])
def test_features_are_those_of_the_definition(structure, exact):
    model = Model.of_group("Z4xZ4").export(structure=structure)
    X = random(50, 16)
    found = model.features(X, exact=exact)
    assert found.dtype == np.complex64 and found.flags.c_contiguous
    # Sums of 16 products in single precision, of terms of at most one.
    assert np.abs(found - formula(model.W, X, model.pairs)).max() < 2e-6


def test_exact_features_have_the_same_bits_however_many_there_are():
    rng = np.random.default_rng(1)
    model = Model(rng.normal(size=(5, 12)) + 1j * rng.normal(size=(5, 12)))
    X = random(40, 12)
    all_at_once = model.features(X, exact=True)
    one_by_one = np.stack([model.features(x, exact=True) for x in X])
    assert (all_at_once == one_by_one).all()
    assert (model.features(X, exact=True, threads=1) == all_at_once).all()
    many = model.features(X)
    assert np.abs(many - all_at_once).max() < 2e-6


def test_layouts_and_types_change_nothing():
    model = Model.of_group("Z12")
    X = random(30, 12).astype(np.float32)
    expected = model.features(X, exact=True)
    wide = np.zeros((30, 24), np.float32)
    wide[:, ::2] = X
    bytes_ = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:]
    unaligned = bytes_.view(np.float32).reshape(X.shape)
    assert not unaligned.flags.aligned
    W = np.frombuffer(b"\0" + model.W.tobytes(), np.uint8)[1:].view(np.complex64).reshape(12, 12)
    assert (Model(W).W == model.W).all()
    for same in (unaligned, np.asfortranarray(X), X.astype(np.float64), wide[:, ::2], X[::-1][::-1], X.astype(">f4"), X.tolist()):
        assert (model.features(same, exact=True) == expected).all()
    assert model.features(np.arange(24).reshape(2, 3, 4)).shape == (2, 78)


def test_real_features_are_the_parts_beside_each_other():
    model, X = Model.of_group("Z5"), random(9, 5)
    real, complex_ = model.features(X, output="real"), model.features(X)
    assert real.dtype == np.float32 and (real[:, ::2] == complex_.real).all() and (real[:, 1::2] == complex_.imag).all()


def test_coefficients_power_and_raw():
    model, X = Model.of_group("Z6"), random(10, 6)
    z = model.coefficients(X)
    assert np.abs(z - X @ model.W.T).max() < 1e-5
    assert np.abs(model.power(X) - np.abs(z) ** 2).max() < 1e-5
    raw = model.features(X, raw=True)
    assert np.abs(raw / np.linalg.norm(raw, axis=1, keepdims=True) - model.features(X)).max() < 1e-5


def test_a_model_pickles_as_its_bytes_and_is_read_as_it_was_written(tmp_path):
    model = Model.of_group("Z4xZ2").export(structure="cyclic")
    model.save(tmp_path / "m.bsn")
    assert Model.load(tmp_path / "m.bsn") == pickle.loads(pickle.dumps(model)) == model
    assert (tmp_path / "m.bsn").read_bytes() == model.to_bytes()
    damaged = bytearray(model.to_bytes())
    damaged[30] ^= 1
    with pytest.raises(Error, match="checksum differs"):
        Model.from_bytes(bytes(damaged))
    for end in range(0, len(damaged), 7):
        with pytest.raises(Error):
            Model.from_bytes(model.to_bytes()[:end])


def test_signals_come_back_from_selective_invariants():
    model = Model.of_group("Z16").export(pairs="selective")
    X = random(20, 16)
    inverted = model.invert(model.features(X))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    best = [min(np.abs(np.roll(a, k) - b).max() for k in range(16)) for a, b in zip(inverted.signals, unit)]
    assert max(best) < 1e-3 and not inverted.undetermined and inverted.residuals.max() < 1e-3


def test_without_a_group_signals_are_found_from_noise():
    rng = np.random.default_rng(3)
    model = Model(rng.normal(size=(6, 6)) + 1j * rng.normal(size=(6, 6)))
    told = []
    inverted = model.invert(model.features(random(3, 6)), progress=told.append)
    assert inverted.residuals.min() < 1e-3 and told[0]["moving"] == 3


def test_forms_cost_what_they_say_and_fit_what_they_must(tmp_path):
    model = Model.of_group("Z64")
    costs = {form: model.export(structure=form).cost() for form in ("dense", "conjugates", "fft")}
    assert costs["dense"]["flash_bytes"] > costs["conjugates"]["flash_bytes"] > costs["fft"]["flash_bytes"]
    small = model.export(tmp_path / "small.bsn", fit="flash=2K,ram=4K")
    assert small.cost()["flash_bytes"] <= 2048 and Model.load(tmp_path / "small.bsn") == small
    with pytest.raises(Error, match="no form fits: the smallest needs"):
        model.export(fit="flash=10")
    assert model.export(encoding="i8").encoding == "i8"
    model.export(tmp_path / "model.rs", structure="fft")
    model.export(tmp_path / "model.h", structure="fft")
    assert "pub " in (tmp_path / "model.rs").read_text() and "#" in (tmp_path / "model.h").read_text()
    X, y = random(40, 64), np.repeat(np.arange(20), 2)
    assert len(model.export(pairs="best:7", X=X, y=y).pairs) == 7


@pytest.mark.parametrize(
    "call, line",
    [
        (lambda model: model.features(np.zeros((3, 8))), "sample 0: every value is zero: it has no bispectrum"),
        (lambda model: model.features(np.ones((3, 7))), "signals: they have 7 values, the model has 8 inputs: "),
        (lambda model: model.features(np.full((20, 8), np.inf)), "sample 0: column 0 is inf: "),
        (lambda model: model.features(np.ones((3, 8)), output="both"), 'output: "both" is unknown: '),
        (lambda model: model.invert(np.ones((3, 8))), "invariants: their values are float64: "),
        (lambda model: model.invert(np.ones((3, 8)) * 1j), "invariants: they have 8 values, the model has 36"),
        (lambda model: model.export(structure="sparse"), 'structure: "sparse": must be dense, '),
        (lambda model: model.export(structure="cyclic", encoding="i8"), "model: i8 has nothing to encode "),
        (lambda model: model.export(pairs="best:3"), "model: the best pairs need signals to choose by: "),
        (lambda model: Model(np.ones(3)), "W: an array of 1 dimensions: "),
        (lambda model: Model(np.full((2, 2), np.nan)), "model: "),
        (lambda model: Model.of_group("D4", inputs=7), "group: no action of D4 on 7 inputs is known: "),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(call, line):
    with pytest.raises(Error) as error:
        call(Model.of_group("Z8"))
    assert str(error.value).startswith(line) and "\n" not in str(error.value), error.value


def test_other_threads_run_while_features_are_computed():
    model, X = Model.of_group("Z256"), random(200, 256)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    model.features(X, exact=True, threads=1)
    ended = time.perf_counter()
    done.set()
    thread.join()
    inside = [tick for tick in ticks if begun < tick < ended]
    assert len(inside) > 5, (len(inside), ended - begun)


def test_signals_are_not_copied_where_they_lie_right():
    model = Model.of_group("Z1")
    X = np.ones((30_000_000, 1), np.float32)
    X.flags.writeable = False
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.power(X)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    # The result has 114 MiB; a copy of X would have as many again.
    assert grown < 114 + 80, grown


def test_attacks_on_invariants_end_in_the_orbit_and_on_power_do_not():
    model, X = Model.of_group("Z8"), random(6, 8)
    found = attack(model, X, restarts=5)
    assert found.reached >= 4 and found.summary["inside"] == found.reached
    power = attack(model, X, features="power", restarts=3)
    assert power.reached >= 4 and power.summary["inside"] < power.reached
    with pytest.raises(Error, match='transform: "shift" is unknown'):
        attack(model, X, transform="shift")
