"""Invariants beside those of the package `bispectrum` (PyTorch), in one process, on the same signals.

    python host/python/benchmarks/peer.py dist/bispectral-*.whl [FOLDER]

Makes an environment in FOLDER (a temporary one unless it is named) with the newest release of the peer, which wants Python 3.12
and brings several GB, and this wheel; then measures 1 and 1,000 signals of 256 samples, full and selective, under shifts of a
signal (C256) and of an image (T16×16), both packages with one thread and with two. They run in turn, round after round: a time is
the least of all rounds, and the ratio the median of the rounds', so that other work on the machine meets both alike.
BISPECTRAL_PEER_PYTHON names the interpreter for it.
"""

import os
import subprocess
import sys
import tempfile
import time

PEER = "bispectrum"
# Rounds of a line: as many as fit its seconds, but so many at least and at most.
SECONDS, LEAST, MOST = 6.0, 3, 300


def measure():
    from importlib.metadata import version

    import numpy as np
    import torch
    from bispectrum import CnonCn, TorusOnTorus

    from bispectral import Model

    def in_turn(*works):
        rounds, end = [], time.perf_counter() + SECONDS
        while len(rounds) < LEAST or len(rounds) < MOST and time.perf_counter() < end:
            times = []
            for work in works:
                begun = time.perf_counter()
                work()
                times.append(1000 * (time.perf_counter() - begun))
            rounds.append(times)
        times = np.array(rounds)
        return times.min(axis=0), np.median(times[:, 0] / times[:, 1])

    X = np.random.default_rng(0).normal(size=(1000, 256)).astype(np.float32)
    print(f"{PEER} {version(PEER)} with torch {torch.__version__}; bispectral {version('bispectral')}; load {os.getloadavg()[0]:.1f}")
    print(f"| group | invariants | of a signal | signals | threads | {PEER}, ms | bispectral, ms | times as fast |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    groups = (
        ("C256", "Z256", lambda selective: CnonCn(256, selective=selective), (256,)),
        ("T16×16", "Z16xZ16", lambda selective: TorusOnTorus((16, 16), selective=selective), (16, 16)),
    )
    with torch.inference_mode():
        for label, group, of, shape in groups:
            for selective in (True, False):
                theirs = of(selective)
                ours = Model.of_group(group).export(structure="fft", pairs="selective" if selective else None)
                for count in (1, 1000):
                    given = torch.from_numpy(X[:count].reshape(count, *shape))
                    theirs_numbers, our_numbers = theirs(given).shape[-1], ours.features(X[:count]).shape[-1]
                    for threads in (1, 2):
                        torch.set_num_threads(threads)
                        least, ratio = in_turn(lambda: theirs(given), lambda: ours.features(X[:count], threads=threads))
                        kind = "selective" if selective else "full"
                        numbers = f"{theirs_numbers} / {our_numbers}"
                        print(f"| {label} | {kind} | {numbers} | {count} | {threads} | {least[0]:.3f} | {least[1]:.3f} | {ratio:.2f} |", flush=True)


def main(wheel, folder=None):
    with tempfile.TemporaryDirectory() as temporary:
        folder = folder or temporary
        python = os.path.join(folder, "bin", "python")
        if not os.path.exists(python):
            subprocess.run([os.environ.get("BISPECTRAL_PEER_PYTHON", "python3.12"), "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--upgrade", PEER], check=True)
        subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
        subprocess.run([python, os.path.abspath(__file__), "--measure"], check=True)


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["--measure"] else main(*sys.argv[1:])
