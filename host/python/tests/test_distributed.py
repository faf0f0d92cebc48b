"""Dask: lazily, from more than a worker holds, and through the loss of a worker."""

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("dask.distributed")

from bispectral import Error, Model, Moments, datasets, learn
from bispectral.distributed import Counts, moments
from bispectral.distributed import learn as learn_chunks

INPUTS, ROWS, CHUNKS, ORBITS = 8, 200_000, 30, 500
LIMIT = 350 << 20


def chunk(marks, at):
    """Orbits of random shapes, shifted; float64, so that all chunks together are more than a worker is given."""
    Path(marks, f"{at}-{os.getpid()}-{time.monotonic_ns()}").touch()
    rng = np.random.default_rng(at)
    shapes = np.random.default_rng(0).normal(size=(ORBITS, INPUTS))
    orbit, by = rng.integers(0, ORBITS, ROWS), rng.integers(0, INPUTS, ROWS)
    columns = (np.arange(INPUTS)[None] - by[:, None]) % INPUTS
    return np.take_along_axis(shapes[orbit], columns, axis=1), orbit


def arrays(marks):
    import dask

    made = [dask.delayed(chunk, nout=2)(str(marks), at) for at in range(CHUNKS)]
    X = da.concatenate([da.from_delayed(x, (ROWS, INPUTS), float) for x, _ in made])
    y = da.concatenate([da.from_delayed(of, (ROWS,), np.int64) for _, of in made])
    return X, y


def test_what_is_learned_does_not_depend_on_the_chunks():
    X, y = datasets.group("Z3xZ3", exemplars=30)
    here = learn(X, y)
    for rows in (37, 100, 270):
        chunks = learn_chunks(da.from_array(X, chunks=(rows, 4)), da.from_array(y, chunks=50))
        assert chunks.group == "Z3xZ3" and chunks.model == here.model and (chunks.W == here.W).all()


def test_features_are_lazy_and_those_of_the_whole():
    model, X = Model.of_group("Z12"), np.random.default_rng(0).normal(size=(100, 12))
    for output in ("complex", "real"):
        lazy = model.features(da.from_array(X, chunks=(30, 5)), output=output, exact=True)
        assert isinstance(lazy, da.Array) and lazy.chunks[0] == (30, 30, 30, 10)
        assert (lazy.compute(scheduler="synchronous") == model.features(X, output=output, exact=True)).all()
    images = da.from_array(X.reshape(100, 3, 4), chunks=(50, 3, 4))
    assert (model.power(images).compute(scheduler="synchronous") == model.power(X)).all()


def test_counts_are_sums():
    whole = Counts().add([1, 1, 2])
    assert whole.merge(Counts().add([2, 3])).counts == {1: 2, 2: 2, 3: 1}
    assert Counts({k: 2 for k in range(10)}).chosen(3) == [0, 3, 6] and Counts({7: 1}).chosen(3) == []


def test_two_workers_learn_from_more_than_either_holds_and_one_is_killed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert CHUNKS * ROWS * INPUTS * 8 > LIMIT
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit=LIMIT, dashboard_address=None, local_directory=tmp_path
    ) as cluster, distributed.Client(cluster) as client:
        quiet = learn_chunks(*arrays(tmp_path / "a"), orbits=60, members=16)
        killed = {}

        def kill():
            while len(list((tmp_path / "b").iterdir())) < 5:
                time.sleep(0.01)
            victim = next(iter(client.run(os.getpid).values()))
            os.kill(victim, signal.SIGKILL)
            killed["pid"], killed["done"] = victim, len(list((tmp_path / "b").iterdir()))

        thread = threading.Thread(target=kill)
        thread.start()
        survived = learn_chunks(*arrays(tmp_path / "b"), orbits=60, members=16)
        thread.join()
        made = [path.name.split("-") for path in (tmp_path / "b").iterdir()]
        assert killed["done"] < len(made), "the worker was killed on the way"
        assert {int(pid) for _, pid, _ in made} > {killed["pid"]}
    assert quiet.group == survived.group == "Z8"
    assert quiet.model == survived.model and (quiet.W == survived.W).all()


def turned(samples, seed):
    """Points of a plane, and of a second which turns twice as fast; with the orbit of each."""
    rng = np.random.default_rng(seed)
    things, y = np.random.default_rng(9).normal(size=(80, 4)), rng.integers(0, 80, samples)
    angle = rng.uniform(0, 2 * np.pi, samples)
    z = (things[y].view(complex) * np.exp(1j * np.stack([angle, 2 * angle], 1))).view(float)
    return z @ np.linalg.qr(np.random.default_rng(8).normal(size=(4, 4)))[0].T, y


def test_moments_are_added_merged_and_sent_anywhere():
    X, y = turned(6000, 0)
    whole, parts = Moments(4).add(X, y), [Moments(4).add(X[k::3], y[k::3]) for k in range(3)]
    merged = parts[0].merge(pickle.loads(pickle.dumps(parts[1]))).merge(parts[2])
    assert merged.count == whole.count == 6000
    found = whole.learn()
    assert found.group == merged.learn().group == "SO(2)" and found.blocks == [2, 2] and found.basis.shape == (4, 4)
    again = Moments.from_bytes(whole.to_bytes())
    assert again.to_bytes() == whole.to_bytes() and again.learn().model == found.model
    features = found.model.features(turned(200, 1)[0], output="real")
    assert features.shape[0] == 200 and np.isfinite(features).all()
    lazily = moments(da.from_array(X, chunks=(1000, 4)), da.from_array(y, chunks=1000))
    twice = moments(da.from_array(X, chunks=(1000, 4)), da.from_array(y, chunks=1000))
    assert lazily.count == 6000 and lazily.to_bytes() == twice.to_bytes()
    for wrong, line in (
        (lambda: Moments(0), "samples: "),
        (lambda: Moments(4).add(X[:, :3], y), "samples: samples have 3 values, "),
        (lambda: Moments(4).add(X, y.astype(str)), "y: labels of "),
        (lambda: Moments.from_bytes(whole.to_bytes()[:-9]), "moments: "),
        (lambda: Moments(4).add(X[:3], y[:3]).learn(), "samples: there are too few orbits"),
    ):
        with pytest.raises(Error) as error:
            wrong()
        assert str(error.value).startswith(line) and "\n" not in str(error.value), error.value
