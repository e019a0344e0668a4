"""The adapter gives the harness every verb that it claims."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from reference_fakes import FakePorts, finish, settle, shape, text

from journalsim.contract.items import Statistics
from journalsim.contract.stream_port import StreamRequest
from journalsim_reference.adapter import make
from journalsim_reference.bugs import BUGS
from journalsim_reference.runner import CAPABILITIES

every_store = pytest.mark.parametrize("variant", ["", "memory"])


@pytest.mark.trio
@every_store
async def test_a_life_with_a_crash_in_its_middle(variant: str, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        ports = FakePorts(nursery, [[text("Hello"), finish()], [text("Half"), trio.Event()]])
        journal = make(variant)
        await journal.setup(str(tmp_path), ports)
        first = await journal.start("s1", "Hi", "k1")
        await settle()
        await journal.annotate("s1", f"{first}/user", {"starred": True})
        second = await journal.start("s1", "Ho", "k2")
        await settle()
        await journal.disconnected("s1", "alice")
        assert journal.statistics().active_runs == 1
        assert await journal.answer("s1", second, "c1", True) == "unknown"
        journal.crash()
        nursery.cancel_scope.cancel()
    async with trio.open_nursery() as nursery:
        journal = make(variant)
        await journal.setup(str(tmp_path), FakePorts(nursery))
        assert shape(journal.read("s1")) == [
            "user Hi",
            "assistant Hello",
            "marker",
            "user Ho",
            "assistant Half interrupted",
            "marker crashed interrupted",
        ]
        assert journal.read("s1")[0].metadata == {"starred": True}
        assert await journal.stop("s1", second) == "ended"
        assert journal.cursor("s1") == f"{second}:7"
        assert (await journal.attach(StreamRequest(session_id="s1", cursor=f"{second}:7"))).status == 204
        await journal.compact("s1")
        assert shape(journal.context("s1")) == ["summary ok"]
        await journal.clear("s1")
        assert journal.read("s1") == ()
        assert journal.statistics() == Statistics(
            partial_messages_max=16, partial_bytes_max=32 * 1024, reader_bytes=0, reader_bytes_max=32 * 1024
        )
        await journal.shutdown()


def test_a_process_may_die_before_its_store_is_open() -> None:
    journal = make()
    journal.crash()
    with pytest.raises(AssertionError, match="setup comes first"):
        journal.read("s1")


def test_it_claims_what_it_has_a_verb_for() -> None:
    journal = make()
    assert journal.capabilities is CAPABILITIES
    verbs = [
        "setup",
        "start",
        "stop",
        "read",
        "shutdown",
        "context",
        "crash",
        "statistics",
        "disconnected",
        "answer",
        "attach",
    ]
    assert all(callable(getattr(journal, verb)) for verb in [*verbs, *CAPABILITIES.maintenance])


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.name))
def test_every_bug_is_a_variant(bug) -> None:  # type: ignore[no-untyped-def]  # a Bug
    assert make(f"bug-{bug.name}").capabilities is CAPABILITIES


@pytest.mark.parametrize("variant", ["bug-unheard-of", "postgres"])
def test_an_unknown_variant_is_an_error(variant: str) -> None:
    with pytest.raises(ValueError, match="has no variant"):
        make(variant)


def test_nothing_can_be_asked_before_setup() -> None:
    with pytest.raises(AssertionError, match="setup comes first"):
        make().read("s1")
