"""Loads the adapter that the user names after ``-a``.

``ref`` and ``ref:VARIANT`` name the reference journal, which is loaded by name like any outside adapter;
``python:pkg.mod:factory`` names a factory of the user's own; ``asgi:pkg.mod:app`` and ``http://host:port`` name a
system behind HTTP. Code is imported only because the user named it here.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from journalsim.contract.adapters import RunnerAdapter
from journalsim.contract.capabilities import Capabilities
from journalsim.errors import AdapterError, UsageError

_REFERENCE = "journalsim_reference.adapter:make"
_ZOO = "journalsim_reference.bugs"
_LATER = ("exec",)
_VERBS = {"store": ("open", "close", "append", "read"), "runner": ("setup", "start", "stop", "read", "shutdown")}


@frozen(kw_only=True)
class LoadedAdapter:
    """An adapter that can be made once per case.

    Attributes:
        spec: the text that the user typed.
        make: makes a fresh adapter, of either level.
        capabilities: the capabilities that it declares.
    """

    spec: str
    make: Callable[[], Any]
    capabilities: Capabilities


def load_adapter(spec: str) -> LoadedAdapter:
    """Returns the adapter that ``spec`` names, after making one to read its capabilities.

    Raises:
        UsageError: no adapter has this name.
        AdapterError: the named factory cannot be imported, raises, or makes something else.
    """
    kind, _, rest = spec.partition(":")
    if kind == "ref":
        factory = _import(_REFERENCE, spec)
        if rest and rest not in variants():
            raise UsageError(f"unknown variant {rest!r} of ref{_nearest(rest, variants())}; see: journalsim list bugs")
        return _probe(spec, lambda: factory(rest))
    if kind == "python":
        if rest.count(":") != 1:
            raise UsageError(f"adapter {spec!r}: write python:package.module:factory")
        return _probe(spec, _import(rest, spec))
    if kind == "asgi":
        if rest.count(":") != 1:
            raise UsageError(f"adapter {spec!r}: write asgi:package.module:app")
        from journalsim.hosts.asgi import asgi_factory

        return _probe(spec, asgi_factory(_import(rest, spec), spec))
    if kind in ("http", "https"):
        from journalsim.hosts.http_real import http_factory

        return _probe(spec, http_factory(spec))
    if kind in _LATER:
        raise UsageError(
            f"adapter {spec!r}: {kind}: adapters are not supported yet; use ref, python:…, asgi:… or http://…"
        )
    raise UsageError(
        f"unknown adapter {spec!r}{_nearest(kind, ['ref', 'python'])}: "
        "write ref, ref:bug-NAME, python:pkg.mod:factory, asgi:pkg.mod:app or http://host:port"
    )


def adapter_from(factory: Callable[[], Any], name: str = "") -> LoadedAdapter:
    """Returns the adapter that a factory makes, for callers that have the factory in hand.

    Args:
        factory: makes a fresh adapter, of either level.
        name: name of the adapter in messages; the factory's own by default.

    Raises:
        AdapterError: the factory raises, or makes something else.
    """
    return _probe(name or getattr(factory, "__qualname__", repr(factory)), factory)


def variants() -> list[str]:
    """Returns the variants of ``ref``: other stores, then the zoo."""
    return [*stores(), *(f"bug-{bug.name}" for bug in zoo())]


def stores() -> Mapping[str, str]:
    """Returns the variants of ``ref`` that differ only in their store, with a description of each."""
    found: Mapping[str, str] = importlib.import_module(_REFERENCE.partition(":")[0]).STORES
    return found


def zoo() -> Sequence[Any]:
    """Returns the seeded bugs of the reference, each with name, summary, failure_mode and trips."""
    bugs: Sequence[Any] = importlib.import_module(_ZOO).BUGS
    return bugs


def _import(path: str, spec: str) -> Callable[..., Any]:
    module_name, _, attribute = path.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # a command finds the user's modules as `python -m` would
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise AdapterError(f"adapter {spec!r}: cannot import {module_name}: {type(error).__name__}: {error}") from error
    factory = getattr(module, attribute, None)
    if factory is not None and not callable(factory):
        what = f"{attribute!r} of {module_name} is a {type(factory).__name__}"
        raise AdapterError(f"adapter {spec!r}: {what}, expected a function or class that makes an adapter")
    if factory is None:
        names = [name for name in vars(module) if not name.startswith("_")]
        raise AdapterError(f"adapter {spec!r}: {module_name} has no factory {attribute!r}{_nearest(attribute, names)}")
    return factory  # type: ignore[no-any-return]


def _probe(spec: str, make: Callable[[], Any]) -> LoadedAdapter:
    try:
        adapter = make()
    except Exception as error:
        raise AdapterError(f"adapter {spec!r}: the factory raised {type(error).__name__}: {error}") from error
    capabilities = getattr(adapter, "capabilities", None)
    if not isinstance(capabilities, Capabilities):
        raise AdapterError(
            f"adapter {spec!r}: {type(adapter).__name__} needs an attribute 'capabilities', "
            "an instance of journalsim.contract.capabilities.Capabilities"
        )
    missing = [verb for verb in _VERBS[capabilities.level] if not callable(getattr(adapter, verb, None))]
    if missing:
        raise AdapterError(
            f"adapter {spec!r}: a {capabilities.level}-level adapter needs the verbs "
            f"{', '.join(_VERBS[capabilities.level])}; {type(adapter).__name__} lacks {', '.join(missing)}"
        )
    if capabilities.level == "store":
        from journalsim.hosts.driver import claims_of  # only a running case needs trio

        capabilities = claims_of(adapter)
    return LoadedAdapter(spec=spec, make=make, capabilities=capabilities)


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def runner(adapter: LoadedAdapter, record: Callable[..., object]) -> RunnerAdapter:
    """Returns a fresh runner: the adapter itself, or our own driver around a store."""
    from journalsim.hosts.driver import StoreDriver  # only a running case needs trio

    made = adapter.make()
    if made.capabilities.level == "store":
        return StoreDriver(made, record)
    return made  # type: ignore[no-any-return]
