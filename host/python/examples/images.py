# # Images under quarter turns and mirrors
# Forty images of 6×6 in their eight positions. Which image a picture shows is known, which motion was made is not.
import numpy as np, bispectral

images = bispectral.datasets.patches(40, 6)
X = np.stack([np.rot90(m, k) for image in images for m in (image, image[:, ::-1]) for k in range(4)])
orbit = np.repeat(np.arange(40), 8)
learned = bispectral.learn(X, orbit)
print(learned.group, learned.table.tolist())
# The group does not commute, so no matrix of characters serves: the model has couplings of its irreps.
features = learned.model.features(X, output="real")
print("within orbits", np.abs(features - np.repeat(features[::8], 8, axis=0)).max(), "between", np.linalg.norm(features[0] - features[8]))
# Beside: the nearest neighbour of images that were turned, by pixels and by invariants, when one position of each is known.
new = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)
def nearest(known, asked):
    return np.linalg.norm(asked[:, None] - known[None], axis=2).argmin(axis=1)
flat = new.reshape(len(new), -1)
known = learned.model.features(X[::8], output="real")
print("pixels", (nearest(X[::8].reshape(40, -1), flat) == orbit).mean())
print("pixels, best of eight positions (brute force)", (nearest(X.reshape(320, -1), flat) // 8 == orbit).mean())
print("invariants", (nearest(known, learned.model.features(new, output="real")) == orbit).mean())
# For a device:
model = learned.model.export("images.bsn", pairs="selective", encoding="f16")
print(model, model.cost()["flash_bytes"], "bytes of flash")
