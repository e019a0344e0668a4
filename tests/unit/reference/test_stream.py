"""Readers of a session: replay, then live, no hole and nothing twice, and an end that is always said."""

from __future__ import annotations

import pytest
import trio
from reference_fakes import FakePorts, asks, finish, serving, settle, text
from stream_fakes import Page

from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import StreamRequest
from journalsim_reference.server import Server
from journalsim_reference.stores.memory import Folder, MemoryStore

pytestmark = pytest.mark.trio

HALF = "\ud83d"  # of an emoji, as a provider that splits characters sends it


async def follow(server: Server, page: Page, session: str = "s1") -> int:
    """Reads a stream to its end."""
    answer = server.attach(StreamRequest(session_id=session, cursor=page.cursor))
    if answer.body is not None:
        page.connect()
        async for data in answer.body:
            page.feed(data)
    return answer.status


async def take(server: Server, page: Page, pieces: int) -> None:
    """Reads some pieces of a stream and goes away."""
    answer = server.attach(StreamRequest(session_id="s1", cursor=page.cursor))
    assert answer.body is not None
    page.connect()
    for _ in range(pieces):
        page.feed(await anext(answer.body))
    await answer.body.aclose()  # type: ignore[attr-defined]


async def test_a_reader_is_told_a_run_from_its_beginning_to_its_end() -> None:
    async with serving([text("Hel"), text("lo"), finish()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        page = Page()
        assert await follow(server, page) == 200
        assert page.view == ({"run1/m1": "Hello"}, {"run1": "completed"})
        assert page.controls() == ["open fresh", "end run_terminal"]
        frames = [said for said in page.heard if isinstance(said, Frame)]
        assert frames == ports.frames
        assert page.cursor == frames[-1].event_id


async def test_a_reader_who_comes_later_is_told_what_was_and_then_what_comes() -> None:
    held = trio.Event()
    async with serving([text("Hel"), held, text("lo"), finish()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        page = Page()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow, server, page)
            await settle()
            assert page.view[0] == {"run1/m1": "Hel"}
            held.set()
        assert page.view == ({"run1/m1": "Hello"}, {"run1": "completed"})
        assert [said for said in page.heard if isinstance(said, Frame)] == ports.frames


@pytest.mark.parametrize("sync", ["every_event", "barriers"])
@pytest.mark.parametrize("reattach", ["suffix", "whole_turn"])
async def test_a_reader_who_breaks_off_anywhere_ends_with_the_same_page(sync: str, reattach: str) -> None:
    script = [text("Hel"), text("lo"), *asks("c1"), finish("tool_use")]
    policies = {"sync": sync, "reattach": reattach}
    async with serving(script, [text("Do"), text("ne"), finish()], **policies) as (server, ports):

        async def hits() -> str:
            return "3 hits"

        ports.tools["c1"] = hits
        await server.start("s1", "Hi", "k1")
        await settle()
        undisturbed = Page(cursor="run1:1")
        await follow(server, undisturbed)
        for first in range(1, len(undisturbed.heard)):
            for then in range(1, 5):
                page = Page(cursor="run1:1")
                for pieces in (first, then):
                    if page.cursor != undisturbed.cursor:
                        await take(server, page, min(pieces, len(undisturbed.heard) - first))
                await follow(server, page)
                assert page.view == undisturbed.view
                assert page.holes == []
                assert page.cursor == undisturbed.cursor


async def test_every_reader_has_the_whole_stream_and_takes_nothing_from_another() -> None:
    async with serving([text("Hel"), text("lo"), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        pages = [Page() for _ in range(3)]
        async with trio.open_nursery() as nursery:
            for page in pages:
                nursery.start_soon(follow, server, page)
        assert pages[0].heard == pages[1].heard == pages[2].heard
        late = Page(cursor="run1:1")
        await follow(server, late)
        assert late.view == pages[0].view


async def test_a_run_that_is_over_is_told_to_its_end_and_then_there_is_nothing_to_attach_to() -> None:
    async with serving([text("Hello"), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        page = Page(cursor="run1:2")
        assert await follow(server, page) == 200
        assert page.controls() == ["open finished", "end run_terminal"]
        assert page.ended == {"run1": "completed"}
        assert await follow(server, page) == 204
        assert await follow(server, Page()) == 204
        assert await follow(server, Page(), "s9") == 404


async def test_a_cursor_of_another_session_is_refused() -> None:
    async with serving([text("One"), finish()], [text("Two"), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await server.start("s2", "Ho", "k2")
        await settle()
        assert await follow(server, Page(cursor="run1:2"), "s2") == 409


async def test_a_stream_goes_on_into_the_run_that_waited_its_turn() -> None:
    async with serving([text("One"), finish()], [text("Two"), finish()], busy="queue") as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await server.start("s1", "Ho", "k2")
        page = Page()
        await follow(server, page)
        assert page.view == ({"run1/m1": "One", "run2/m1": "Two"}, {"run1": "completed", "run2": "completed"})


async def test_a_reader_who_is_too_slow_is_told_so_and_sent_away() -> None:
    held = trio.Event()
    async with serving([text("a"), held, *map(text, "bcdefgh"), finish()]) as (server, _ports):
        server.writer.streams.rows_max = 4
        await server.start("s1", "Hi", "k1")
        await settle()
        slow = server.attach(StreamRequest(session_id="s1"))
        assert slow.body is not None
        page = Page()
        page.feed(await anext(slow.body))
        page.feed(await anext(slow.body))
        held.set()
        await settle()
        async for data in slow.body:
            page.feed(data)
        assert page.controls() == ["open fresh", "gap this reader is too slow", "end slow_consumer"]
        assert page.ended == {}
        assert await follow(server, page) == 200
        assert page.controls()[-3:] == ["open gap", "gap the cursor is evicted", "end gap"]
        read = Page(cursor=server.cursor("s1"))
        assert await follow(server, read) == 204


async def test_a_reader_who_comes_after_the_beginning_is_dropped_is_given_the_run_in_one_piece() -> None:
    held = trio.Event()
    async with serving([*map(text, "abcdefgh"), held, text("i"), finish()], sync="barriers") as (server, _ports):
        server.writer.streams.rows_max = 4
        await server.start("s1", "Hi", "k1")
        await settle()
        page = Page()
        await take(server, page, 4)
        assert page.view[0] == {"run1/m1": "abcdefgh"}
        assert page.cursor == server.cursor("s1")
        held.set()
        await follow(server, page)
        assert page.view == ({"run1/m1": "abcdefghi"}, {"run1": "completed"})
        assert page.holes == []
        assert page.controls() == ["open fresh", "open suffix", "end run_terminal"]


async def test_a_reader_who_breaks_off_within_one_piece_has_no_cursor_yet() -> None:
    held = trio.Event()
    async with serving([*map(text, "abcdefgh"), held, finish()]) as (server, _ports):
        server.writer.streams.rows_max = 4
        await server.start("s1", "Hi", "k1")
        await settle()
        page = Page()
        await take(server, page, 3)
        assert page.cursor is None
        held.set()
        await settle()


async def test_history_and_its_cursor_leave_no_hole_and_show_nothing_twice() -> None:
    async with serving([text("Hel"), text("lo"), finish()], sync="barriers") as (server, ports):
        seen: list[tuple[dict[str, str], str | None]] = []

        def look(name: str) -> None:
            shown = {item.id or "": item.text for item in server.read("s1") if item.kind == "assistant"}
            seen.append((shown, server.cursor("s1")))

        ports.at_step = look
        await server.start("s1", "Hi", "k1")
        await settle()
        for shown, cursor in seen[1:]:
            page = Page(texts=shown, cursor=cursor)
            await follow(server, page)
            assert page.view == ({"run1/m1": "Hello"}, {"run1": "completed"})
        assert seen[0] == ({}, None)


async def test_a_new_process_tells_what_the_old_one_had_told() -> None:
    folder = Folder()
    async with serving([text("Hel"), trio.Event()], folder=folder) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        page = Page()
        await take(server, page, 4)
        assert page.view[0] == {"run1/m1": "Hel"}
        server.writer.store.crash()
    async with serving(folder=folder) as (server, _ports):
        await follow(server, page)
        assert page.view == ({"run1/m1": "Hel"}, {"run1": "interrupted"})
        assert page.controls() == ["open fresh", "open finished", "end run_terminal"]


async def test_a_cursor_for_text_that_a_crash_took_away_is_not_mistaken_for_another_row() -> None:
    folder = Folder()
    async with serving([text("Hel"), text("lo"), trio.Event()], folder=folder, sync="barriers") as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        page = Page()
        await take(server, page, 5)
        assert page.cursor == "run1:1.4"  # started, opened and both pieces, none of them safe yet
        server.writer.store.crash()
    async with serving(folder=folder, sync="barriers") as (server, _ports):
        await follow(server, page)
        assert page.controls()[1:] == ["open gap", "gap the cursor is evicted", "end gap"]


async def test_a_process_that_writes_nothing_more_sends_its_readers_away() -> None:
    async with serving([text("Hel"), trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        page = Page()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow, server, page)
            await settle()
            server.writer.fence(RuntimeError("another process has taken over"))
        assert page.controls() == ["open fresh", "end server_closed"]
        assert page.ended == {}  # the end of a stream is not the end of a run


async def test_half_a_character_survives_the_wire() -> None:
    async with serving([text(HALF), text("x"), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        page = Page()
        await follow(server, page)
        assert page.view[0] == {"run1/m1": f"{HALF}x"}


async def test_clearing_the_history_takes_the_stream_back_to_nothing() -> None:
    async with serving([text("One"), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.annotate("s1", "run1/m1", {"flag": True})
        await server.clear("s1")
        assert server.cursor("s1") is None
        page = Page(cursor="run1:2")
        await follow(server, page)
        assert page.controls() == ["open gap", "gap the cursor is evicted", "end gap"]


async def test_a_session_that_does_not_exist_has_no_cursor_and_is_not_made_by_looking() -> None:
    async with serving() as (server, _ports):
        assert server.cursor("s9") is None
        assert server.status("s9") == {"run": None, "state": "idle", "last_seq": 0, "prompt": None}
        assert server.state.sessions == {}


async def test_status_says_what_goes_on_and_nothing_that_could_be_a_cursor() -> None:
    async with serving([text("a"), trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        status = server.status("s1")
        assert status == {"run": "run1", "state": "running", "last_seq": 4, "prompt": "Hi"}
        await server.stop("s1", "run1")
        await settle()
        assert server.status("s1")["state"] == "interrupted"


async def test_silence_is_filled_with_comments_if_that_is_wanted(autojump_clock: trio.abc.Clock) -> None:
    async with trio.open_nursery() as nursery:
        server = Server(MemoryStore(Folder()), FakePorts(nursery, [[text("a"), trio.Event()]]))
        server.writer.streams.heartbeat_s = 15
        await server.start("s1", "Hi", "k1")
        answer = server.attach(StreamRequest(session_id="s1"))
        assert answer.body is not None
        pieces = [await anext(answer.body) for _ in range(6)]
        assert pieces[4:] == [b": waiting\n", b": waiting\n"]
        assert trio.current_time() >= 30
        await answer.body.aclose()  # type: ignore[attr-defined]
        nursery.cancel_scope.cancel()


async def test_what_is_kept_for_a_reader_is_counted_as_long_as_it_watches() -> None:
    held = trio.Event()
    async with serving([text("Hel"), text("lo"), held, finish()]) as (server, _):
        await server.start("s1", "Hi", "k1")
        answer = server.attach(StreamRequest(session_id="s1"))
        assert answer.body is not None
        assert server.statistics().reader_bytes == 0
        await anext(answer.body)
        await settle()
        sizes = server.statistics()
        assert 0 < (sizes.reader_bytes or 0) <= (sizes.reader_bytes_max or 0)
        await answer.body.aclose()  # type: ignore[attr-defined]
        assert server.statistics().reader_bytes == 0
        held.set()
