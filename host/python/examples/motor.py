# # A motor
# Vibration over one turn of a shaft, 128 samples. The recording begins at any angle, and three states are to be told apart: sound,
# unbalanced, and a bearing that knocks three times a turn.
import numpy as np, bispectral
from bispectral.sklearn import BispectralClassifier

rng, turn = np.random.default_rng(0), np.linspace(0, 2 * np.pi, 128, endpoint=False)
def recorded(state):
    x = 0.4 * np.cos(2 * turn) + 0.2 * np.cos(4 * turn + 0.7)
    if state == 1:
        x = x + 0.5 * np.cos(turn + 0.3)
    if state == 2:
        x = x + 0.5 * np.exp(8 * (np.cos(3 * turn) - 1)) * np.cos(24 * turn)
    return np.roll(x, rng.integers(128)) + rng.normal(scale=0.1, size=128)
y = rng.integers(0, 3, 300)
X = np.stack([recorded(state) for state in y])
# All that people use today beside invariants, with losses and bytes:
print(bispectral.compare(X, y, draws=3))
# The chain that a device runs, trained on 200 and asked about the others:
classifier = BispectralClassifier(epochs=20, pairs="selective", structure="fft").fit(X[:200], y[:200])
print("right on held-out recordings:", classifier.score(X[200:], y[200:]))
model = classifier.export("i8")
model.save("motor.bsn")
print(model, model.cost()["flash_bytes"], "bytes of flash")
