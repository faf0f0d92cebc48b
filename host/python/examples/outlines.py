# # Outlines that start anywhere
# The distance of an outline from its centre, at 64 angles. Where it starts depends on how the thing lies on the table: a cyclic
# shift, which nobody tells us. Six outlines are learned from, each in all positions.
import numpy as np, bispectral

rng, angle = np.random.default_rng(0), np.linspace(0, 2 * np.pi, 64, endpoint=False)
def outline(corners, depth, skew):
    return 1 + depth * np.cos(corners * angle) + skew * np.cos(angle + 1) + 0.1 * np.cos(2 * angle - skew)
things = np.stack([outline(rng.integers(3, 8), rng.uniform(0.1, 0.4), rng.uniform(0, 0.3)) + rng.normal(scale=0.05, size=64) for _ in range(20)])
X, orbit = bispectral.datasets.orbits(things, "translate1d")
learned = bispectral.learn(X, orbit)
print(learned)
# Which method tells four kinds of outlines apart, when each starts anywhere and 10 % noise is added? The losses are in the table,
# too: brute force over all shifts keeps every training sample and compares with it in every position.
kinds = [(3, 0.3, 0.1), (3, 0.3, 0.25), (4, 0.3, 0.1), (5, 0.2, 0.2)]
y = np.arange(160) % 4
signals = np.stack([outline(*kinds[k]) for k in y]) + rng.normal(scale=0.05, size=(160, 64))
print(bispectral.compare(signals, y, shift=True, noise=0.1, draws=3))
# For a device:
model = learned.model.export("outlines.bsn", structure="fft", pairs="selective")
print(model, model.cost()["flash_bytes"], "bytes of flash")
