"""Features of many signals, beside the plain product of matrices behind them, in one run.

    python host/python/benchmarks/speed.py [SIGNALS [THREADS]]

The product is X Pᵀ with the real and imaginary parts of all W_i ⊙ W_j as rows of P, by NumPy, into an array of its own each time, as
features are; both have so many threads (all there are, unless it is said). Everything is run in turn, round after round: a time is
the least of all rounds, the ratio the median of the rounds', so that other work on the machine meets both alike.
"""

import os
import sys
import time

ROUNDS = 11


def in_turn(works, rounds=ROUNDS):
    """Seconds of each work in each round."""
    times = []
    for _ in range(rounds):
        times.append([])
        for work in works:
            begun = time.perf_counter()
            work()
            times[-1].append(time.perf_counter() - begun)
    return times


def main(signals=1000, threads=os.cpu_count()):
    # Read by NumPy's library when it is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    import numpy as np

    from bispectral import Model

    X = np.random.default_rng(0).normal(size=(signals, 256)).astype(np.float32)
    rng = np.random.default_rng(1)
    W = rng.normal(size=(256, 256)) + 1j * rng.normal(size=(256, 256))
    for group, dense in (("no group", Model(W / np.linalg.norm(W, axis=1, keepdims=True))), ("Z256", Model.of_group("Z256")), ("Z16xZ16", Model.of_group("Z16xZ16"))):
        i, j = dense.pairs.T
        products = dense.W[i] * dense.W[j]
        P = np.concatenate([products.real, products.imag])
        lines = {
            "product alone": lambda: X @ P.T,
            "dense": lambda: dense.features(X, threads=threads),
            "dense, 50 exact": lambda: dense.features(X[:50], exact=True, threads=threads),
        }
        if dense.group:
            fast, selective = dense.export(structure="fft"), dense.export(pairs="selective", structure="fft")
            lines |= {
                "fft": lambda: fast.features(X, threads=threads),
                "fft, selective": lambda: selective.features(X, threads=threads),
            }
        times = np.array(in_turn(lines.values()))
        for form, least in zip(lines, times.min(axis=0)):
            print(f"{group:8} {form:16} {1000 * least:9.3f} ms")
        ratio = np.median(times[:, 1] / times[:, 0])
        print(f"{group}: dense features of {signals} on {threads} threads take {ratio:.2f} times the product", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
