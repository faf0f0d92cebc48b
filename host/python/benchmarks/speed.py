"""Features of many signals, beside the plain product of matrices behind them, in one run.

    python host/python/benchmarks/speed.py [SIGNALS]

The product is X Pᵀ with the real and imaginary parts of all W_i ⊙ W_j as rows of P, by NumPy. Every line is the least of several
runs, one after the other, so that other work on the machine hits all alike.
"""

import sys
import time

import numpy as np

from bispectral import Model


def least(work, runs=5):
    def once():
        begun = time.perf_counter()
        work()
        return time.perf_counter() - begun

    return min(once() for _ in range(runs))


def main(signals=1000):
    X = np.random.default_rng(0).normal(size=(signals, 256)).astype(np.float32)
    print(f"{'group':8} {'form':16} {'signals':>7} {'ms':>9}")
    for group in ("Z256", "Z16xZ16"):
        dense = Model.of_group(group)
        i, j = dense.pairs.T
        products = dense.W[i] * dense.W[j]
        P = np.concatenate([products.real, products.imag])
        fast, selective = dense.export(structure="fft"), dense.export(pairs="selective", structure="fft")
        product = least(lambda: X @ P.T)
        lines = [
            ("product alone", signals, product),
            ("dense", signals, least(lambda: dense.features(X))),
            ("dense, exact", 50, least(lambda: dense.features(X[:50], exact=True))),
            ("dense", 1, least(lambda: dense.features(X[:1]))),
            ("fft", signals, least(lambda: fast.features(X))),
            ("fft, selective", signals, least(lambda: selective.features(X))),
            ("fft, selective", 1, least(lambda: selective.features(X[:1]), 50)),
        ]
        for form, count, seconds in lines:
            print(f"{group:8} {form:16} {count:7} {1000 * seconds:9.3f}")
        print(f"{group}: dense features of {signals} take {lines[1][2] / product:.2f} times the product")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
