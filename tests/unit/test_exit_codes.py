"""Exit codes: one for each way to end, and the worst of several."""

from __future__ import annotations

import pytest

from journalsim import errors
from journalsim.errors import Exit, SimError, worst


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([], Exit.HELD),
        ([Exit.HELD, Exit.INCONCLUSIVE], Exit.INCONCLUSIVE),
        ([Exit.ADAPTER, Exit.BROKEN, Exit.INCONCLUSIVE], Exit.BROKEN),
        ([Exit.BROKEN, Exit.NONDETERMINISTIC], Exit.NONDETERMINISTIC),
        ([Exit.INTERRUPTED, Exit.INTERNAL], Exit.INTERNAL),
    ],
)
def test_the_worst_code_wins(codes: list[Exit], code: Exit) -> None:
    assert worst(codes) is code


def test_every_code_has_a_rank() -> None:
    assert {worst([code]) for code in Exit} == set(Exit)


def test_every_error_ends_with_its_code() -> None:
    found = {
        name: value.exit_code
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, SimError)
    }
    assert found == {
        "SimError": Exit.INTERNAL,
        "UsageError": Exit.USAGE,
        "NothingSelectedError": Exit.NOTHING_SELECTED,
        "AdapterError": Exit.ADAPTER,
        "BlockedInRealTimeError": Exit.ADAPTER,
    }
