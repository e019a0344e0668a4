from __future__ import annotations

from typing import get_args

import pytest

from journalsim.contract.frames import Frame, FrameKind
from journalsim.contract.sse import Decoder, SseEvent
from journalsim.contract.stream_port import Control, ControlKind, decode_event, encode_control, encode_frame
from journalsim.errors import AdapterError

HOSTILE = "a\r\nb\u2028data: x\nid: y\n\n\ufeff"


def only_event(data: bytes) -> SseEvent:
    decoder = Decoder()
    (event,) = decoder.feed(data)
    return event


@pytest.mark.parametrize("kind", get_args(FrameKind))
def test_frame_comes_back_from_the_wire_as_it_was(kind: FrameKind):
    frame = Frame(kind, "run1", message_id="m1", text=HOSTILE, reasoning="why", call_id="t1", event_id="run1:3")
    event = only_event(encode_frame(frame, "run1:3"))
    assert (decode_event(event), event.type, event.last_event_id) == (frame, kind, "run1:3")


@pytest.mark.parametrize("kind", get_args(ControlKind))
def test_control_event_has_no_id_and_comes_back_as_it_was(kind: ControlKind):
    control = Control(kind=kind, attachment="suffix", whole_turn=True, run_id="run1", message_id="m", reason="slow")
    data = encode_control(control)
    assert b"\nid:" not in data
    assert decode_event(only_event(data)) == control


def test_event_that_the_dialect_does_not_have_means_nothing():
    assert decode_event(only_event(b"data: {}\n\n")) is None


@pytest.mark.parametrize("data", ["not json", "[1]", '{"run_id": "r", "colour": 1}', "{}"])
def test_data_of_another_form_is_an_error_that_says_what_was_expected(data: str):
    with pytest.raises(AdapterError, match="must be a JSON object of run_id, message_id"):
        decode_event(only_event(b"event: run.started\ndata: " + data.encode() + b"\n\n"))
