"""Words of other systems, and the words of this language that mean the same."""

from __future__ import annotations

from collections.abc import Mapping

OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    "interrupt": ("stop", "interrupted"),
    "cancel": ("stop", "stopped"),
    "abort": ("stop", "stopped"),
    "stopped": ("interrupted",),
    "cancelled": ("interrupted", "stopped"),
    "canceled": ("interrupted", "stopped"),
    "partial": ("interrupted", "open"),
    "done": ("completed",),
    "success": ("completed",),
    "error": ("failed",),
    "kill": ("crash",),
    "refresh": ("reload",),
    "retry": ("resubmit",),
    "disconnect": ("detach",),
    "reconnect": ("attach",),
    "timeout": ("timed_out",),
}
"""The first word that fits where the author wrote is suggested; the others are ignored."""
