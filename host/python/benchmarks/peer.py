"""Invariants beside those of the package `bispectrum` (PyTorch), in one process, on the same signals.

    python host/python/benchmarks/peer.py dist/bispectral-*.whl [FOLDER]

Makes an environment in FOLDER (a temporary one unless it is named) with the newest release of the peer, which wants Python 3.12
and brings several GB, and this wheel; then measures 1 and 1,000 signals of 256 samples, full and selective, under shifts of a
signal (C256) and of an image (T16×16), both packages with one thread. They run in turn, round after round. Times are the user's, of
this process alone, and the mean of all rounds: other work on the machine changes them little, and the system's time for pages of
large results, which both need alike, is not in them.
BISPECTRAL_PEER_PYTHON names the interpreter for it.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

PEER = "bispectrum"
# Rounds of a line: as many as fit its seconds, but so many at least; and the seconds of a work, which is repeated until it has them.
SECONDS, LEAST, WORK = 8.0, 3, 0.1


def measure():
    from importlib.metadata import version

    import numpy as np
    import torch
    from bispectrum import CnonCn, TorusOnTorus

    from bispectral import Model

    def user():
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime

    def in_turn(*works):
        rounds, end, repeats = [], time.perf_counter() + SECONDS, []
        for work in works:
            work()
            begun = time.process_time()
            work()
            repeats.append(max(1, int(WORK / (time.process_time() - begun))))
        while len(rounds) < LEAST or time.perf_counter() < end:
            times = []
            for work, count in zip(works, repeats):
                begun = user()
                for _ in range(count):
                    work()
                times.append(1000 * (user() - begun) / count)
            rounds.append(times)
        return np.array(rounds).mean(axis=0)

    torch.set_num_threads(1)
    X = np.random.default_rng(0).normal(size=(1000, 256)).astype(np.float32)
    print(f"{PEER} {version(PEER)} with torch {torch.__version__}; bispectral {version('bispectral')}; load {os.getloadavg()[0]:.1f}")
    print(f"| group | invariants | of a signal | signals | {PEER}, ms | bispectral, ms | times as fast |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
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
                    peer, own = in_turn(lambda: theirs(given), lambda: ours.features(X[:count], threads=1))
                    kind, numbers = "selective" if selective else "full", f"{theirs_numbers} / {our_numbers}"
                    print(f"| {label} | {kind} | {numbers} | {count} | {peer:.3f} | {own:.3f} | {peer / own:.2f} |", flush=True)


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
