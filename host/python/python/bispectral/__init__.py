"""Learn the symmetry behind data: from examples that belong together, what relates them and invariants under it.

>>> import numpy as np, bispectral
>>> shapes = np.random.default_rng(0).normal(size=(20, 8))
>>> X = np.stack([np.roll(shape, by) for shape in shapes for by in range(8)])   # each thing in eight positions
>>> y = np.repeat(np.arange(20), 8)                                            # which thing; nobody says which motion
>>> learned = bispectral.learn(X, y)
>>> learned.group
'Z8'
>>> features = learned.model.features(X)                                       # the same wherever a thing stands
>>> bool(np.abs(features[0] - features[7]).max() < 1e-5), bool(np.abs(features[0] - features[8]).max() > 0.1)
(True, True)
"""

from . import datasets
from ._attack import Attacked, attack
from ._bispectral import Error, __version__
from ._chain import Chain, fit_chain
from ._compare import Compared, compare
from ._learned import Learned, learn
from ._model import Inverted, Model
from ._moments import Compact, Moments

__all__ = [
    "Attacked", "Chain", "Compact", "Compared", "Error", "Inverted", "Learned", "Model", "Moments", "__version__", "attack", "compare", "datasets", "fit_chain",
    "learn",
]  # fmt: skip
