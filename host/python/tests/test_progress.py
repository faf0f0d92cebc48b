"""Long calls: what they tell on the way, and Ctrl-C, which ends any of them."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from bispectral import datasets
from bispectral.sklearn import BispectralClassifier

# Each would take many seconds, with one thread.
LONG = """
    import signal, sys, time
    import numpy as np
    import bispectral
    from bispectral import Model, Moments
    from bispectral.sklearn import BispectralClassifier

    # A shell has its background jobs ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    def random(*shape):
        return rng.standard_normal(shape, dtype=np.float32)
    X, y = bispectral.datasets.group("Z16", exemplars=20)
    shapes, kinds = random(3000, 128), np.arange(3000) % 3
    characters = Model.of_group("Z512")
    free = Model(random(64, 1024) + 1j * random(64, 1024))
    small = BispectralClassifier(epochs=1, components=10, threads=1).fit(random(60, 256), np.arange(60) % 3)
    many, labels = random(100_000, 512), np.arange(100_000) % 500
    calls = {
        "learn": lambda: bispectral.learn(X, y, phases=[{"loss": "orbit-separation", "steps": 10**9, "tolerance": 0}], threads=1),
        "fit": lambda: BispectralClassifier(epochs=10**6, threads=1).fit(X, y),
        "principal components": lambda: BispectralClassifier(threads=1).fit(many[:20_000, :256], labels[:20_000] % 3),
        "predict": lambda: small.predict(many[:, :256]),
        "compare": lambda: bispectral.compare(shapes, kinds, draws=100, threads=1),
        "fit_chain": lambda: bispectral.fit_chain(shapes, kinds, threads=1),
        "coefficients": lambda: characters.coefficients(many, threads=1),
        "features": lambda: free.features(np.concatenate([many, many], axis=1)[:40_000], threads=1),
        "invert": lambda: free.invert(free.features(random(50, 1024)), restarts=10**6, threads=1),
        "attack": lambda: bispectral.attack(free, random(50, 1024), steps=10**8, threads=1),
        "moments": lambda: [Moments(512).add(many, labels, threads=1) for _ in range(10)],
    }
    print(len(calls), flush=True)
    for name, call in calls.items():
        print(name, flush=True)
        begun = time.process_time()
        try:
            call()
            print("ended by itself", flush=True)
        except KeyboardInterrupt:
            print("interrupted", time.process_time() - begun, flush=True)
            # What was interrupted leaves nothing behind: the same threads work on.
            assert bispectral.learn(X, y, threads=1).group == "Z16"
"""


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="counts the processor's seconds as Linux does")
def test_ctrl_c_ends_every_long_call_within_a_second():
    program = [sys.executable, "-c", textwrap.dedent(LONG)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, bufsize=1)
    # What is not interrupted may never end.
    watch = threading.Timer(300, process.kill)
    watch.start()
    took = {}
    try:
        for _ in range(int(process.stdout.readline())):
            name = process.stdout.readline().strip()
            begun = processor_seconds(process.pid)
            while processor_seconds(process.pid) < begun + 0.4:
                assert process.poll() is None
            signalled = processor_seconds(process.pid)
            os.kill(process.pid, signal.SIGINT)
            word, _, seconds = process.stdout.readline().strip().partition(" ")
            assert word == "interrupted", (name, word, seconds)
            # Of the processor, so that other work on the machine does not count.
            took[name] = round(float(seconds) - (signalled - begun), 2)
        assert process.wait(timeout=60) == 0
    finally:
        watch.cancel()
        process.kill()
    assert max(took.values()) < 1, took


def test_a_classifier_tells_of_features_and_epochs_and_an_exception_ends_it():
    X, y = datasets.group("Z8", exemplars=20)
    told = []
    BispectralClassifier(epochs=4, progress=told.append).fit(X, y)
    assert [step["epoch"] for step in told if "epoch" in step] == [1, 2, 3, 4] and told[0]["features"] > 0

    def stop(step):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        BispectralClassifier(epochs=2, progress=stop).fit(X, y)


CALLS = """
    import sys
    {before}
    import numpy as np, bispectral
    from bispectral.sklearn import BispectralClassifier
    X, y = bispectral.datasets.group("Z8", exemplars=12)
    model = bispectral.learn(X, y, progress=True).model
    model.invert(model.features(X[:2]), progress=True)
    bispectral.attack(model, X[:2], progress=True)
    bispectral.compare(X, y % 3, draws=1, progress=True)
    BispectralClassifier(epochs=2, progress=True).fit(X, y % 3)
    print("done")
"""


@pytest.mark.parametrize("installed", [True, False])
def test_a_bar_is_drawn_where_tqdm_is_installed_and_nothing_where_it_is_not(installed):
    if installed:
        pytest.importorskip("tqdm")
    program = textwrap.dedent(CALLS).format(before="" if installed else "sys.modules['tqdm'] = None")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"
    bars = [name for name in ("learn", "invert", "attack", "compare", "fit") if f"{name}: " in done.stderr]
    assert bars == (["learn", "invert", "attack", "compare", "fit"] if installed else []), done.stderr
    assert installed or done.stderr == ""
