"""Invariants beside those of the package `bispectrum` (PyTorch), in one process, on the same signals.

    python host/python/benchmarks/peer.py dist/bispectral-*.whl [FOLDER]

Makes an environment in FOLDER (a temporary one unless it is named) with the newest release of the peer, which wants Python 3.12
and brings several GB, and this wheel; then measures 1 and 1,000 signals of 256 samples, full and selective, under shifts of a
signal (C256) and of an image (T16×16). Every figure is the least of several runs, both packages in turn. BISPECTRAL_PEER_PYTHON
names the interpreter for it.
"""

import os
import subprocess
import sys
import tempfile
import time

PEER = "bispectrum"


def measure():
    from importlib.metadata import version

    import numpy as np
    import torch
    from bispectrum import CnonCn, TorusOnTorus

    from bispectral import Model

    def in_turn(first, second, runs):
        least = [float("inf")] * 2
        for _ in range(runs):
            for k, work in enumerate((first, second)):
                begun = time.perf_counter()
                work()
                least[k] = min(least[k], time.perf_counter() - begun)
        return [1000 * seconds for seconds in least]

    X = np.random.default_rng(0).normal(size=(1000, 256)).astype(np.float32)
    print(f"{PEER} {version(PEER)} with torch {torch.__version__} on {torch.get_num_threads()} threads; bispectral {version('bispectral')}")
    print(f"| group | invariants | signals | {PEER}, ms | bispectral, ms | times |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    with torch.inference_mode():
        for label, group, of, shape in (("C256", "Z256", lambda s: CnonCn(256, selective=s), (256,)), ("T16×16", "Z16xZ16", lambda s: TorusOnTorus((16, 16), selective=s), (16, 16))):
            for selective in (True, False):
                theirs = of(selective)
                ours = Model.of_group(group).export(structure="fft", pairs="selective" if selective else None)
                for count in (1, 1000):
                    given = torch.from_numpy(X[:count].reshape(count, *shape))
                    runs = 30 if count == 1 or selective else 3
                    peer, own = in_turn(lambda: theirs(given), lambda: ours.features(X[:count]), runs)
                    kind = "selective" if selective else "full"
                    print(f"| {label} | {kind} | {count} | {peer:.3f} | {own:.3f} | {peer / own:.2f} |", flush=True)


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
