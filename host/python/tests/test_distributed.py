"""Dask: lazily, from more than a worker holds, and through the loss of a worker."""

import os
import pickle
import resource
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("dask.distributed")

from bispectral import Error, Model, Moments, datasets, learn
from bispectral.distributed import Counts, moments
from bispectral.distributed import learn as learn_chunks

INPUTS, ROWS, CHUNKS, ORBITS = 8, 200_000, 30, 500
LIMIT = 350 << 20


def chunk(marks, at):
    """Orbits of random shapes, shifted; float64, so that all chunks together are more than a worker is given; it leaves a mark."""
    Path(marks, f"{at}-{os.getpid()}-{time.monotonic_ns()}").touch()
    rng = np.random.default_rng(at)
    shapes = np.random.default_rng(0).normal(size=(ORBITS, INPUTS))
    orbit, by = rng.integers(0, ORBITS, ROWS), rng.integers(0, INPUTS, ROWS)
    columns = (np.arange(INPUTS)[None] - by[:, None]) % INPUTS
    return np.take_along_axis(shapes[orbit], columns, axis=1), orbit


def arrays(marks, chunk):
    """Dask arrays of all chunks, each made where it is needed, which leaves a mark."""
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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two worker processes, each given less memory than all chunks together take."""
    assert CHUNKS * ROWS * INPUTS * 8 > LIMIT
    folder = tmp_path_factory.mktemp("workers")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit=LIMIT, dashboard_address=None, local_directory=folder
    ) as cluster, distributed.Client(cluster) as client:
        yield client


def peak():
    """The most memory that this process had at once, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def undisturbed_and_with_a_loss(client, folder, compute):
    """What ``compute`` of a folder for marks gives, and what it gives where a worker that has made chunks is killed on the way."""
    client.wait_for_workers(2)
    quiet_marks, marks = folder / "quiet", folder / "killed"
    quiet_marks.mkdir()
    marks.mkdir()
    quiet = compute(quiet_marks)
    assert len(client.run(peak)) == 2 and all(most < CHUNKS * ROWS * INPUTS * 8 for most in client.run(peak).values())
    makers = [path.name.split("-")[1] for path in quiet_marks.iterdir()]
    assert len(set(makers)) == 2, "both workers took part"
    killed = {}

    def kill():
        while len(made := [path.name.split("-")[1] for path in marks.iterdir()]) < 8:
            time.sleep(0.01)
        killed["pid"], killed["done"] = max(made, key=made.count), len(made)
        os.kill(int(killed["pid"]), signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    survived = compute(marks)
    thread.join()
    made = [path.name.split("-") for path in marks.iterdir()]
    assert killed["done"] < len(made), "the worker was killed on the way"
    assert {at for at, _, _ in made} == {str(at) for at in range(CHUNKS)}
    assert len({pid for _, pid, _ in made}) >= 2, "another went on"
    return quiet, survived


def test_two_workers_learn_from_more_than_either_holds_and_one_is_killed(cluster, tmp_path):
    quiet, survived = undisturbed_and_with_a_loss(cluster, tmp_path, lambda marks: learn_chunks(*arrays(marks, chunk), orbits=60, members=16))
    assert quiet.group == survived.group == "Z8"
    assert quiet.model == survived.model and (quiet.W == survived.W).all()


def turned(samples, seed, degrees=(1, 2)):
    """Points of planes, of which each turns so many times as fast; with the orbit of each."""
    rng, numbers = np.random.default_rng(seed), 2 * len(degrees)
    things, y = np.random.default_rng(9).normal(size=(80, numbers)), rng.integers(0, 80, samples)
    angle = rng.uniform(0, 2 * np.pi, samples)
    z = (things[y].view(complex) * np.exp(1j * np.stack([k * angle for k in degrees], 1))).view(float)
    return z @ np.linalg.qr(np.random.default_rng(8).normal(size=(numbers, numbers)))[0].T, y


def turned_chunk(marks, at):
    """A chunk of signals of turned planes, which leaves a mark."""
    Path(marks, f"{at}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return turned(ROWS, at, degrees=(1, 2, 3, 4))


def test_two_workers_add_moments_of_more_than_either_holds_and_one_is_killed(cluster, tmp_path):
    quiet, survived = undisturbed_and_with_a_loss(cluster, tmp_path, lambda marks: moments(*arrays(marks, turned_chunk)))
    assert quiet.count == survived.count == CHUNKS * ROWS
    assert quiet.to_bytes() == survived.to_bytes()
    found = survived.learn()
    assert found.group == quiet.learn().group == "SO(2)" and found.model == quiet.learn().model


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
