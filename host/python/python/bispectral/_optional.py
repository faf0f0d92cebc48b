"""Packages that only some modules need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, extra: str) -> Any:
    """The module, or an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{module} is not installed: pip install 'bispectral[{extra}]'", name=module) from None
