"""Features of many signals, beside the plain product of matrices behind them, in one run.

    python host/python/benchmarks/speed.py [SIGNALS]

The product is X Pᵀ with the real and imaginary parts of all W_i ⊙ W_j as rows of P, by NumPy, into an array of its own each time, as
features are. Everything has one thread and is run in turn, round after round. Times are the user's, of this process alone, and the
mean of all rounds: other work on the machine changes them little, and the system's time for pages of large results, which all need
alike, is not in them.
"""

import os
import resource
import sys

ROUNDS, WORK = 5, 0.2


def user():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def in_turn(works, rounds=ROUNDS):
    """Seconds of each work in each round."""
    times = []
    for _ in range(rounds):
        times.append([])
        for work in works:
            # Long enough for a clock that ticks every few milliseconds.
            count, begun = 0, user()
            while user() - begun < WORK:
                work()
                count += 1
            times[-1].append((user() - begun) / count)
    return times


def main(signals=1000):
    # Read by NumPy's library when it is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
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
            "dense": lambda: dense.features(X, threads=1),
            "dense, 50 exact": lambda: dense.features(X[:50], exact=True, threads=1),
        }
        if dense.group:
            fast, selective = dense.export(structure="fft"), dense.export(pairs="selective", structure="fft")
            lines |= {
                "fft": lambda: fast.features(X, threads=1),
                "fft, selective": lambda: selective.features(X, threads=1),
            }
        times = np.array(in_turn(lines.values())).mean(axis=0)
        for form, mean in zip(lines, times):
            print(f"{group:8} {form:16} {1000 * mean:9.3f} ms")
        print(f"{group}: dense features of {signals} take {times[1] / times[0]:.2f} times the product", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
