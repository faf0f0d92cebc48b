"""Progress of long work: a function that is called with every step, or a bar where tqdm is installed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Iterator, Union

Progress = Union[bool, None, Callable[[dict[str, Any]], Any]]


@contextmanager
def steps(progress: Progress, what: str) -> Iterator[Callable[[str], None] | None]:
    """What the native module calls: nothing, the caller's function, or a bar."""
    if callable(progress):
        yield lambda words: progress(json.loads(words))
        return
    if not progress:
        yield None
        return
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        yield None
        return
    with tqdm(desc=what, unit=" steps") as bar:

        def step(words: str) -> None:
            told = json.loads(words)
            bar.update()
            if "phase" in told:
                bar.set_postfix(attempt=told["attempt"], phase=told["phase"], change=f"{told['invariance']:.1e}", refresh=False)
            elif "moving" in told:
                bar.set_postfix(moving=told["moving"], refresh=False)
            elif "epoch" in told:
                bar.set_postfix(epoch=told["epoch"], accuracy=told["held_out_accuracy"], refresh=False)

        yield step
