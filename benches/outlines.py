"""Labelled signals that ship inside PyPI packages, as `bispectral compare` reads them.

    pip download aeon==1.6.0 sktime==1.2.0 tslearn==0.10.0 --no-deps -d packages   # and unzip each .whl into packages/
    python outlines.py packages sets        # needs numpy; writes sets/NAME/{X,Xt}.npy and {y,yt}.csv

Signals are brought to N samples by periodic linear interpolation: N = 128, or what the table below says.
"""

import pathlib
import sys

import numpy

SETS = {  # name: samples
    "ArrowHead": 128, "OSULeaf": 128, "GunPoint": 128, "ItalyPowerDemand": 24, "ACSF1": 128,
    "PickupGestureWiimoteZ": 128, "BasicMotions": 64, "PLAID": 128,
}


def resample(x, n):
    at = numpy.arange(n) * len(x) / n
    return numpy.interp(at, numpy.arange(len(x) + 1), numpy.append(x, x[0]))


def read(path):
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    begin = next(k for k, line in enumerate(lines) if line.strip().lower() == "@data") + 1
    rows = [line.split(":") for line in lines[begin:] if line.strip()]
    return [[float(v) for v in row[0].split(",")] for row in rows], [row[-1] for row in rows]


def write(folder, suffix, signals, labels, n):
    folder.mkdir(parents=True, exist_ok=True)
    numpy.save(folder / f"X{suffix}.npy", numpy.float32([resample(x, n) for x in signals]))
    (folder / f"y{suffix}.csv").write_text("\n".join(f"c{label.strip()}" for label in labels) + "\n")


packages, out = map(pathlib.Path, sys.argv[1:3])
for name, n in SETS.items():
    for part, suffix in (("TRAIN", ""), ("TEST", "t")):
        write(out / name, suffix, *read(next(packages.rglob(f"{name}_{part}.ts"))), n)
trace = numpy.load(next(packages.rglob("Trace.npz")))
for part, suffix in (("train", ""), ("test", "t")):
    labels = [str(label) for label in trace[f"y_{part}"]]
    write(out / "Trace", suffix, trace[f"X_{part}"][..., 0], labels, 128)
