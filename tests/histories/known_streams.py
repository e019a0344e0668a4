"""Histories of readers that attach, lose their connection, and attach again."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from known_histories import bad, ok
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.sse import encode_comment, encode_event
from journalsim.contract.stream_port import Control, encode_control, encode_frame

MESSAGE = "j-model.turn1"
ANSWER = A("model.turn1", "Hello there", id=MESSAGE)
ROWS = (U("Hi"), ANSWER, END("r1"))


class Streams(Story):
    """A story with readers."""

    def __init__(self) -> None:
        super().__init__(claims=evolve(CLAIMS, replay="from_id"))
        self.connections = 0
        self.client = "ann"

    def attaches(
        self, cursor: str | None = None, status: int = 200, content_type: str = "text/event-stream", by: str = "ann"
    ):
        self.connections += 1
        self.client = by
        asked = {"what": "stream", "connection": self.connections, "cursor": cursor, "applied": cursor or ""}
        self.event("stream.asked", by=by, **asked)
        about = {"content_type": content_type, "cursor": cursor, "session": "s1", "status": status}
        return self._stream("stream.answered", **about)

    def writes(self, data: bytes):
        return self._stream("stream.sent", data=data.decode("utf-8", "surrogateescape"))

    def control(self, kind: str = "stream.open", attachment: Any = "fresh", **more: Any):
        return self.writes(encode_control(Control(kind=kind, attachment=attachment, **{"run_id": "r1"} | more)))

    def puts(self, event_id: str | None, kind: str = "message.delta", text: str = "", run: str = "r1"):
        return self.writes(encode_frame(Frame(kind, run, MESSAGE, text), event_id))

    def shows(self, text: str, shown: str, by: str = "ann", message: str = MESSAGE, source: str | None = None):
        about = {"text": text, "shown": shown, "shown_reasoning": "", "cursor": "", "source": source}
        return self.event("client.applied", "r1", by=by, frame="message.delta", message=message, **about)

    def closes(self, why: str = "ended"):
        return self._stream("stream.closed", why=why)

    def looks(self, *items: Item, by: str = "ann", **more: Any):
        about = {"cursor": "", "reason": "quiet", "attached": True, "missing": False, "watching": False}
        about |= {"gave_up": "finished", "ended": ("r1",), "session": "s1"} | more
        return self.event("client.view", by=by, items=items, **about)

    def opens_page(self, *items: Item, by: str = "ann"):
        return self.event("client.reloaded", by=by, items=items)

    def over(self):
        return self.completes("model.turn1").ends()

    def _stream(self, kind: str, **data: Any):
        return self.event(kind, client=self.client, connection=self.connections, **data)


def _asked() -> Streams:
    story = Streams()
    story.asks().calls()
    return story


def _answered() -> Streams:
    story = _asked()
    story.says("model.turn1", "Hello ", "there").over()
    return story


def _watched(cursor: str | None = None) -> Streams:
    story = _asked()
    story.attaches(cursor).control().puts("r1:1", text="Hello ")
    return story


# --- replay-equals-live --------------------------------------------------------------------------


@ok("replay-equals-live")
def a_page_shows_what_an_undisturbed_reader_shows() -> Story:
    story = _answered()
    story.shows("Hello ", "Hello ").shows("there", "Hello there").quiet()
    return story.looks(ANSWER).reads(*ROWS)


@ok("replay-equals-live")
def the_closing_text_of_a_message_counts_too() -> Story:
    story = _answered()
    story.frame("message.completed", "model.turn1", text="Hello there!").shows("!", "Hello there!")
    return story.quiet().reads(*ROWS)


@ok("replay-equals-live")
def a_frame_that_says_nothing_about_a_message_changes_nothing() -> Story:
    story = _answered()
    story.frame("run.started", "model.turn1", message=None).shows("", "", message="other")
    story.shows("Hello ", "Hello ")
    return story.quiet().reads(*ROWS)


@ok("replay-equals-live")
def a_page_whose_program_broke_is_judged_after_its_person_has_reloaded_it() -> Story:
    story = _answered()
    story.shows("Hello ", "Hello ").quiet().looks(A("model.turn1", "Hello ", "open", id=MESSAGE), gave_up="broken")
    return story.looks(ANSWER, gave_up="nothing-there", reason="healed").reads(*ROWS)


@bad("replay-equals-live")
def a_replay_that_nobody_declared_is_shown_twice() -> Story:
    story = _answered()
    story.shows("Hello ", "Hello ").shows("Hello ", "Hello Hello ").shows("x", "Hello Hello x")
    return story.quiet().reads(*ROWS)


@bad("replay-equals-live")
def a_chunk_between_replay_and_live_is_missing() -> Story:
    return _answered().shows("there", "there").quiet().reads(*ROWS)


@bad("replay-equals-live")
def a_message_is_missing_from_a_page_in_the_end() -> Story:
    return _answered().quiet().looks().reads(*ROWS)


def _stalled() -> Streams:
    """A message goes on after its reader has come back, and then stalls."""
    story = _watched()
    story.says("model.turn1", "Hello ", "there").closes("gone").attaches("r1:1")
    return story.control(attachment="suffix", message_id=MESSAGE)


def _shown_so_far(story: Streams, shown: str, cursor: str) -> Story:
    partial = A("model.turn1", "Hello there", "open", id=MESSAGE)
    page = evolve(partial, text=shown)
    story.quiet("run:r1").looks(page, watching=True, gave_up=None, ended=(), cursor=cursor)
    return story.reads(U("Hi"), partial)


@ok("replay-equals-live")
def a_page_shows_what_there_is_of_a_message_that_stalls() -> Story:
    return _shown_so_far(_stalled().puts("r1:2", text="there"), "Hello there", "r1:2")


@bad("replay-equals-live")
def a_page_is_told_nothing_more_of_a_message_that_goes_on() -> Story:
    return _shown_so_far(_stalled(), "Hello ", "r1:1")


def _used_a_tool() -> Streams:
    story = _asked()
    story.says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.frame("tool.requested", "model.turn1", message=None, call_id="t1").tool("started").tool("returned")
    return story.frame("tool.closed", "model.turn1", message=None, call_id="t1", state="completed").ends()


def _calls_in_the_end(story: Streams, *shown: Item, **more: Any) -> Story:
    answer = A("model.turn1", "Look", id=MESSAGE)
    return story.quiet().looks(answer, *shown, **more).reads(U("Hi"), answer, C("t1"), R("t1"), END("r1"))


@ok("replay-equals-live")
def a_page_shows_each_call_with_its_result() -> Story:
    return _calls_in_the_end(_used_a_tool(), C("t1"), R("t1"))


@bad("replay-equals-live")
def a_page_lacks_a_call_of_which_it_was_to_be_told() -> Story:
    return _calls_in_the_end(_used_a_tool())


@bad("replay-equals-live")
def a_page_shows_a_result_without_its_call() -> Story:
    story = _asked().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    return _calls_in_the_end(story.tool("started").tool("returned").ends(), R("t1"))


@bad("replay-equals-live")
def a_page_shows_a_call_of_which_nobody_was_told() -> Story:
    return _calls_in_the_end(_used_a_tool(), C("t1"), R("t1"), C("t7"))


def _asked_a_person() -> Streams:
    """A run waits for a person, and a page comes."""
    story = _asked().requests("model.turn1", "t1").requests("model.turn1", "t2").completes("model.turn1")
    story.frame("approval.requested", "model.turn1", message=None, call_id="t1")
    story.frame("approval.requested", "model.turn1", message=None, call_id="t2")
    story.frame("approval.resolved", "model.turn1", message=None, call_id="t2")
    return story.attaches()


def _asks(story: Streams, call: str, frame: str = "approval.requested") -> Streams:
    return story.event(
        "client.applied", "r1", by="ann", frame=frame, message=None, text="", source=None, call_id=call, shown=None
    )


def _waits(story: Streams) -> Story:
    story.control().quiet("approval t1").looks(watching=True, gave_up=None, ended=())
    return story.reads(U("Hi"), C("t1", state="open"))


@ok("replay-equals-live")
def a_page_asks_what_waits_for_an_answer() -> Story:
    return _waits(_asks(_asks(_asks(_asked_a_person(), "t1"), "t2"), "t2", "approval.resolved"))


@ok("replay-equals-live")
def a_page_asks_nothing_of_a_run_that_has_ended() -> Story:
    story = _asks(_asks(_asked_a_person(), "t1"), "t1", "run.ended")
    control = {"control": "stream.gap", "attachment": None, "whole_turn": False, "message": None, "reason": "slow"}
    return _waits(_asks(story.event("client.control", "r1", by="ann", **control, sent=None), "t1"))


@ok("replay-equals-live")
def a_page_asks_what_its_history_shows_as_open() -> Story:
    return _waits(_asks(_asked_a_person(), "t2").opens_page(U("Hi"), C("t1", state="open")))


@bad("replay-equals-live")
def a_page_is_not_told_of_a_question() -> Story:
    return _waits(_asked_a_person())


@bad("replay-equals-live")
def a_page_asks_what_has_been_answered() -> Story:
    return _waits(_asks(_asks(_asked_a_person(), "t1"), "t2"))


@bad("replay-equals-live")
def a_page_that_begins_anew_is_not_told_of_a_question() -> Story:
    story = _asks(_asked_a_person(), "t1")
    control = {"control": "stream.open", "attachment": "restart", "whole_turn": True, "message": None, "reason": ""}
    return _waits(story.event("client.control", "r1", by="ann", **control, sent="garbled"))


# --- single-visible-source -----------------------------------------------------------------------


@ok("single-visible-source")
def a_page_that_is_reloaded_shows_each_message_once() -> Story:
    story = _asked()
    story.says("model.turn1", "Hello ").opens_page(U("Hi"), A("model.turn1", "Hello ", "open", id=MESSAGE))
    story.says("model.turn1", "there").shows("there", "Hello there", source="msg-turn1").over()
    return story.quiet().looks(U("Hi"), ANSWER).reads(*ROWS)


@bad("single-visible-source")
def history_and_stream_show_one_message_under_two_ids() -> Story:
    story = _asked()
    story.says("model.turn1", "Hello ").opens_page(U("Hi"), A("model.turn1", "Hello ", "open", id="row-2"))
    story.says("model.turn1", "there").shows("Hello there", "Hello there", source="msg-turn1").over()
    story.shows("", "Hello there", source="msg-turn1")
    return story.quiet().looks(U("Hi"), ANSWER).reads(*ROWS)


@bad("single-visible-source")
def a_page_has_two_bubbles_for_one_message_in_the_end() -> Story:
    story = _answered().opens_page(U("Hi")).quiet()
    return story.looks(ANSWER, evolve(ANSWER, id="again"), missing=True).reads(*ROWS)


@ok("single-visible-source")
def a_message_that_has_no_words_yet_is_a_bubble() -> Story:
    story = _answered().frame("message.opened", "model.turn1", message="next", source=None).opens_page(U("Hi"))
    return story.quiet().looks(ANSWER, Item(kind="assistant", id="next")).reads(*ROWS)


@bad("single-visible-source")
def a_page_has_an_empty_bubble_for_nothing() -> Story:
    return _answered().quiet().looks(ANSWER, Item(kind="assistant", id="r1/answer")).reads(*ROWS)


# --- stream-terminates ---------------------------------------------------------------------------


@ok("stream-terminates")
def a_stream_ends_with_its_run() -> Story:
    story = _answered().attaches().control().puts("r1:2").closes()
    return story.quiet().looks(ANSWER).reads(*ROWS)


@ok("stream-terminates")
def a_stream_dies_with_its_server() -> Story:
    return _answered().attaches().control().crashes().starts().quiet().reads(*ROWS)


@ok("stream-terminates")
def a_page_whose_connections_broke_may_ask_often() -> Story:
    story = _answered().event("stream.endless", by="ann", connections=200, after_end=0)
    return story.attaches().closes().quiet().reads(*ROWS)


@ok("stream-terminates")
def a_page_that_was_told_to_stop_asks_all_the_same() -> Story:
    story = _answered().attaches(status=204, content_type="").closes()
    return story.event("stream.endless", by="ann", connections=9, after_end=9).quiet().reads(*ROWS)


@ok("stream-terminates")
def a_server_that_declares_a_gap_may_leave_off() -> Story:
    story = _asked().says("model.turn1", "Hello ").attaches().control("stream.gap", None).closes()
    return story.says("model.turn1", "there").over().quiet().looks(ANSWER).reads(*ROWS)


@ok("stream-terminates")
def a_process_that_goes_down_may_leave_off() -> Story:
    story = _asked().says("model.turn1", "Hello ").attaches().control(message_id=MESSAGE).closes().crashes().starts()
    story.event("frame.published", "r1", frame="run.ended", message=None, text="", source=None)
    return story.ends(state="interrupted", cause="crashed").quiet()


@bad("stream-terminates")
def a_clean_end_comes_before_the_run_has_ended() -> Story:
    story = _asked().says("model.turn1", "Hello ").attaches().control(message_id=MESSAGE)
    story.puts("r1:1", text="Hello ").closes()
    return story.says("model.turn1", "there").over().quiet().looks(ANSWER).reads(*ROWS)


@bad("stream-terminates")
def a_stream_stays_open_after_the_end_of_its_run() -> Story:
    return _answered().attaches().control().quiet().reads(*ROWS)


@bad("stream-terminates")
def a_page_that_asks_again_and_again_is_never_told_to_stop() -> Story:
    return _answered().event("stream.endless", by="ann", connections=9, after_end=9).quiet().reads(*ROWS)


@bad("stream-terminates")
def a_page_shows_a_call_as_at_work_for_ever() -> Story:
    story = _asked().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.frame("tool.requested", "model.turn1", message=None, call_id="t1").tool("started").tool("returned").ends()
    return _calls_in_the_end(story, C("t1"))


@bad("stream-terminates")
def a_page_shows_a_message_as_open_for_ever() -> Story:
    story = _answered()
    story.quiet().looks(A("model.turn1", "Hello there", "open", id=MESSAGE))
    story.maintains("compact")
    return story.reads(*ROWS)


# --- honest-cursor -------------------------------------------------------------------------------


@ok("honest-cursor")
def what_follows_a_cursor_comes_in_order() -> Story:
    story = _watched().attaches("r1:1").control(attachment="suffix").puts("r1:2", text="there")
    return story.puts("r1:3", "message.completed", "Hello there").closes().quiet()


@ok("honest-cursor")
def a_cursor_that_came_with_the_history_is_answered_by_what_follows_it() -> Story:
    rows = (U("Hi"), A("model.turn1", "Hello ", "open", id=MESSAGE))
    story = _asked().says("model.turn1", "Hello ", "there")
    story.event("journal.read", by="journal", items=rows, reason="reload", session="s1", cursor="r1:7")
    story.attaches("r1:7").control(attachment="suffix", message_id=MESSAGE).puts("r1:8", text="there")
    return story.over().closes().quiet().reads(*ROWS)


@ok("honest-cursor")
def a_cursor_that_means_nothing_gets_a_declared_restart() -> Story:
    story = _watched().attaches("garbled").control(attachment="restart").puts("r1:1", text="Hello ").closes()
    return story.quiet()


@ok("honest-cursor")
def a_cursor_that_is_too_old_gets_a_gap() -> Story:
    story = _watched().attaches("r1:0").control("stream.gap", None).puts("r1:9").closes()
    return story.quiet()


@ok("honest-cursor")
def a_cursor_may_lie_inside_of_a_row() -> Story:
    return _watched().attaches("r1:1.4").control(attachment="suffix").puts("r1:1.5", text="there").closes().quiet()


@ok("honest-cursor")
def a_stream_may_begin_anew_after_a_gap() -> Story:
    story = _watched().puts("r1:3").attaches("r1:3").control(attachment="gap").control("stream.gap", None)
    return story.control(attachment="restart").puts("r1:1", text="Hello ").closes().quiet()


@bad("honest-cursor")
def a_cursor_from_elsewhere_is_taken_for_one_of_ours() -> Story:
    return _watched().attaches("r7:99").control(attachment="suffix").closes().quiet()


@bad("honest-cursor")
def a_cursor_that_cannot_be_read_is_ignored() -> Story:
    return _watched().attaches("garbled").puts("r1:2", text="there").closes().quiet()


@bad("honest-cursor")
def a_completed_message_is_jumped_over() -> Story:
    story = _watched().puts("r1:2", "message.completed", "Hello ").puts("r1:3")
    return story.attaches("r1:1").control(attachment="suffix").puts("r1:3").closes().quiet()


@bad("honest-cursor")
def ids_go_back() -> Story:
    return _watched().puts("r1:7", text="there").puts("r1:4").closes().quiet()


@bad("honest-cursor")
def a_cursor_is_answered_as_if_there_were_none() -> Story:
    return _watched().attaches("r1:1").control().puts("r1:1", text="Hello ").closes().quiet()


@bad("honest-cursor")
def a_stream_is_about_another_session() -> Story:
    story = _watched()
    story.asks(run="r2", key="k2", session="s2", text="Secret")
    return story.attaches().control().puts("r2:1", "run.started", run="r2").closes().quiet()


def _opened(attachment: str = "suffix", policies: dict[str, str] | None = None, cursor: str = "r1:1", **said: Any):
    """A page comes back in the middle of a message, and the answer says something of itself."""
    story = _watched()
    story.policies = policies or {}
    story.frame("run.started", "model.turn1", message=None, event_id="r1:0").says("model.turn1", "Hello ", "there")
    return story.attaches(cursor).control(attachment=attachment, **{"message_id": MESSAGE} | said)


@ok("honest-cursor")
def an_answer_says_what_is_under_way() -> Story:
    return _opened().puts("r1:2", text="there").over().closes().attaches("r1:2").control(attachment="finished").closes()


@ok("honest-cursor")
def a_bubble_that_is_made_up_is_no_beginning() -> Story:
    story = _opened("restart", cursor="garbled", whole_turn=True)
    story.writes(encode_frame(Frame("message.opened", "r1", "r1/answer"), None))
    return story.puts("r1:0", "run.started").puts("r1:1", text="Hello ").closes()


@ok("honest-cursor")
def what_nobody_can_use_is_answered_as_the_policy_says() -> Story:
    story = _opened("restart", {"bad_cursor": "restart"}, "r1:99", whole_turn=True)
    return story.puts("r1:0", "run.started").puts("r1:1", text="Hello ").closes()


@bad("honest-cursor")
def a_run_is_said_to_have_ended_and_goes_on() -> Story:
    return _opened("finished").closes()


@bad("honest-cursor")
def an_answer_is_about_no_run() -> Story:
    return _opened(run_id=None, message_id=None).closes()


@bad("honest-cursor")
def an_answer_is_about_a_run_that_has_ended() -> Story:
    story = _watched().over().asks(run="r2", key="k2")
    return story.attaches("r1:1").control(attachment="suffix").closes()


@bad("honest-cursor")
def a_message_that_nobody_has_heard_of_is_under_way() -> Story:
    return _opened(message_id="r1/answer").closes()


@bad("honest-cursor")
def a_message_of_another_run_is_under_way() -> Story:
    story = _watched().asks(run="r2", key="k2").calls("model.turn2", run="r2").says("model.turn2", "Psst")
    return story.attaches("r1:1").control(attachment="suffix", message_id="j-model.turn2").closes()


@bad("honest-cursor")
def the_message_that_grows_is_named_now_and_then() -> Story:
    return _opened().closes().attaches("r1:1").control(attachment="suffix").closes()


@ok("honest-cursor")
def a_system_that_never_names_the_message_leaves_that_to_the_frames() -> Story:
    return _opened(message_id=None).puts("r1:2", text="there").closes()


@bad("honest-cursor")
def a_cursor_that_nobody_can_use_is_a_gap_against_the_policy() -> Story:
    return _opened("gap", {"bad_cursor": "restart"}, "r9:1").closes()


@bad("honest-cursor")
def a_cursor_ahead_of_everything_is_a_restart_against_the_policy() -> Story:
    return _opened("restart", {"bad_cursor": "gap"}, "r1:99").closes()


@bad("honest-cursor")
def what_follows_comes_without_the_beginning_of_its_run() -> Story:
    return _opened(policies={"reattach": "whole_turn"}, cursor="r1:0").puts("r1:1", text="Hello ").closes()


@bad("honest-cursor")
def a_whole_turn_has_no_beginning() -> Story:
    return _opened("restart", cursor="garbled", whole_turn=True).puts("r1:2", text="there").closes()


@bad("honest-cursor")
def a_run_that_waits_is_said_to_begin() -> Story:
    story = _watched().asks(run="r2", key="k2").attaches("r1:1").control(attachment="suffix")
    story.writes(encode_frame(Frame("run.started", "r2"), "r2:2")).closes().calls("model.turn2", run="r2")
    return story.frame("run.started", "model.turn2", message=None)


@bad("honest-cursor")
def a_run_comes_again_that_had_ended_before_the_cursor() -> Story:
    story = _watched().over().asks(run="r2", key="k2").writes(encode_frame(Frame("run.started", "r2"), "r2:2"))
    story.closes("gone").attaches("r2:2").control(attachment="suffix", run_id="r2")
    return story.writes(encode_frame(Frame("run.started", "r1"), "r1:0")).closes()


# --- legal-wire ----------------------------------------------------------------------------------


@ok("legal-wire")
def frames_alone_have_ids() -> Story:
    story = _watched().writes(encode_comment("still here")).control("stream.end", None).closes()
    return story.attaches(status=204, content_type="").closes().quiet()


@ok("legal-wire")
def a_stream_that_broke_may_stop_anywhere() -> Story:
    story = _watched().writes(b"event: message.delta\ndata: {").event("link.broke", by="ann", fault="cut", connection=1)
    return story.closes("gone").quiet()


@bad("legal-wire")
def a_control_event_has_an_id() -> Story:
    return _watched().writes(encode_event("{}", event="stream.end", id="r1:9")).closes().quiet()


@bad("legal-wire")
def a_control_event_has_the_id_of_the_frame_before_it() -> Story:
    return _watched().writes(encode_event("{}", event="stream.end", id="r1:1")).closes().quiet()


@bad("legal-wire")
def an_id_comes_twice() -> Story:
    frames = encode_frame(Frame("run.started", "r1"), "odd") + encode_frame(Frame("run.ended", "r1"), "odd")
    return _asked().attaches().writes(frames).closes().quiet()


@bad("legal-wire")
def the_status_is_one_that_no_reader_expects() -> Story:
    return _asked().attaches(status=500).closes().quiet()


@bad("legal-wire")
def the_content_type_is_another() -> Story:
    return _asked().attaches(content_type="application/json").closes().quiet()


@bad("legal-wire")
def the_data_of_a_frame_is_not_what_it_must_be() -> Story:
    return _asked().attaches().writes(encode_event("[]", event="run.ended")).closes().quiet()


@bad("legal-wire")
def a_character_is_cut_in_two() -> Story:
    return _asked().attaches().writes(b"event: message\ndata: \xc3\n\n").closes().quiet()


@bad("legal-wire")
def the_answer_ends_inside_an_event() -> Story:
    return _asked().attaches().writes(b"event: run.ended\ndata: {}\n").closes().quiet()


@bad("legal-wire")
def an_event_is_larger_than_any_reader_takes() -> Story:
    return _asked().attaches().writes(b"data: " + b"x" * (8 * 1024 * 1024)).closes("gone").quiet()


# --- readers-are-pure ----------------------------------------------------------------------------


@ok("readers-are-pure")
def attaching_changes_nothing() -> Story:
    story = _answered().reads(*ROWS, reason="reload").attaches(status=204).closes()
    return story.quiet().reads(*ROWS)


@ok("readers-are-pure")
def a_message_on_its_way_through_the_server_is_not_the_readers_doing() -> Story:
    again = (*ROWS, U("More", run="r2"))
    story = _answered().reads(*ROWS, reason="reload").sends("More", "k2")
    story = story.event("request.delivered", by="ann", verb="start", key="k2", copy=False)
    story = story.attaches(status=204).closes().reads(*again, reason="reload").accepts("More", "r2", "k2").ends("r2")
    story = story.reads(*again, END("r2"), reason="reload").attaches(status=204).closes()
    return story.quiet().reads(*again, END("r2"))


@ok("readers-are-pure")
def a_message_that_went_with_the_process_is_on_its_way_no_more() -> Story:
    story = _answered().sends("More", "k2").event("request.delivered", by="ann", verb="start", key="k2", copy=False)
    story = story.crashes().starts().reads(*ROWS, reason="reload").attaches(status=204).closes()
    return story.quiet().reads(*ROWS)


@bad("readers-are-pure")
def a_reader_marks_what_it_has_read() -> Story:
    story = _answered().reads(*ROWS, reason="reload").attaches(status=204).closes().quiet()
    return story.reads(U("Hi"), evolve(ANSWER, metadata={"seen": True}), END("r1"))


# --- bounded-stream-buffers ----------------------------------------------------------------------


@ok("bounded-stream-buffers")
def a_slow_reader_costs_no_more_than_was_said() -> Story:
    return _answered().sizes(reader_bytes=900, reader_bytes_max=1000).quiet().reads(*ROWS)


@bad("bounded-stream-buffers")
def everything_is_kept_for_a_slow_reader() -> Story:
    return _answered().sizes(reader_bytes=9000, reader_bytes_max=1000).quiet().reads(*ROWS)
