"""Connections of one client: who learns what, and when one can connect again."""

from __future__ import annotations

from typing import Any

import pytest

from journalsim.actors.wire.byte_link import ByteLink, Connection, Signal
from journalsim.actors.wire.byte_pipe import Fault, Place, Shape

FRAME = b"id: 1\ndata: a\n\n"


def connected(link: ByteLink, now_ns: int = 0) -> Connection:
    connection = link.connect(now_ns)
    assert connection is not None
    return connection


def drain(connection: Connection) -> list[tuple[int, Signal]]:
    signals = []
    while (due := connection.next_due_ns()) is not None:
        signals += [(due, signal) for signal in connection.advance(due)]
    return signals


def to(side: str, signals: list[tuple[int, Signal]]) -> list[str]:
    return [signal.kind for _, signal in signals if signal.side == side]


def test_bytes_go_both_ways_each_with_its_own_latency() -> None:
    connection = connected(ByteLink(down=Shape(latency_ns=5), up=Shape(latency_ns=3)))
    connection.write("client", 0, b"GET")
    connection.write("server", 1, FRAME)
    assert drain(connection) == [(3, Signal("server", "bytes", b"GET")), (6, Signal("client", "bytes", FRAME))]
    assert not connection.over


def test_a_server_that_ends_its_answer_is_told_nothing() -> None:
    connection = connected(ByteLink())
    connection.write("server", 0, FRAME)
    connection.end("server", 0)
    assert [signal for _, signal in drain(connection)] == [Signal("client", "bytes", FRAME), Signal("client", "end")]


def test_a_client_that_hangs_up_reads_no_more_and_the_server_learns_of_it() -> None:
    connection = connected(ByteLink(down=Shape(latency_ns=5), up=Shape(latency_ns=7)))
    connection.write("server", 0, FRAME)
    connection.end("client", 1)
    connection.write("server", 2, FRAME)
    assert drain(connection) == [(8, Signal("server", "end"))]
    assert connection.over


@pytest.mark.parametrize(
    ("kind", "client", "server"),
    [
        ("cut", ["bytes", "error"], ["error"]),
        ("end", ["bytes", "end"], ["error"]),
        ("reset", ["error"], ["error"]),
        ("half_open", ["bytes"], []),
    ],
)
def test_who_learns_of_a_fault_on_the_way_down(kind: str, client: list[str], server: list[str]) -> None:
    fault = Fault(at=Place(byte=4), kind=kind)  # type: ignore[arg-type]
    connection = connected(ByteLink(down=Shape(latency_ns=5), up=Shape(latency_ns=7), faults=(fault,)))
    connection.write("server", 1, FRAME)
    signals = drain(connection)
    assert (to("client", signals), to("server", signals)) == (client, server)
    assert connection.faults == [fault]


def test_a_fault_at_the_very_start_meets_the_connection_when_it_opens() -> None:
    connection = connected(ByteLink(faults=(Fault(kind="cut"),)))
    assert drain(connection) == [(0, Signal("client", "error")), (0, Signal("server", "error"))]
    connection.write("server", 1, FRAME)
    assert drain(connection) == []


@pytest.mark.parametrize("leave", [Connection.end, Connection.die])
def test_a_server_does_not_notice_a_client_that_left_over_a_half_open_way_up(leave: Any) -> None:
    fault = Fault(kind="half_open", direction="up")
    connection = connected(ByteLink(down=Shape(capacity_bytes=20), faults=(fault,)))
    leave(connection, "client", 1)
    connection.write("server", 2, FRAME)
    connection.write("server", 3, FRAME)
    assert not connection.writable("server")
    assert drain(connection) == []


def test_a_client_does_not_notice_the_death_of_a_server_over_a_half_open_way_down() -> None:
    link = ByteLink(faults=(Fault(at=Place(frames=1), kind="half_open"),))
    connection = connected(link)
    connection.write("server", 0, FRAME)
    link.server_dies(1)
    assert to("client", drain(connection)) == ["bytes"]


def test_a_server_that_dies_breaks_every_connection_and_loses_what_is_under_way() -> None:
    link = ByteLink(down=Shape(latency_ns=5))
    first, second = connected(link), connected(link)
    first.write("server", 0, FRAME)
    link.server_dies(1, down_ns=100)
    assert drain(first) == drain(second) == [(6, Signal("client", "error"))]
    assert link.connect(100) is None
    third = connected(link, 101)
    assert third.number == 3
    assert link.connections == [third]


def test_a_client_that_dies_leaves_the_server_an_error() -> None:
    connection = connected(ByteLink())
    connection.write("server", 0, FRAME)
    connection.die("client", 0)
    assert drain(connection) == [(0, Signal("server", "error"))]


def test_a_fault_holds_for_its_connection_and_closes_the_way_for_its_time() -> None:
    link = ByteLink(faults=(Fault(at=Place(frames=1), lasts_ns=50, connection=2),))
    first = connected(link)
    first.write("server", 0, FRAME)
    assert to("client", drain(first)) == ["bytes"]
    second = connected(link, 1)
    second.write("server", 10, FRAME)
    assert to("client", drain(second)) == ["bytes", "error"]
    assert link.connect(59) is None
    third = connected(link, 60)
    third.write("server", 60, FRAME)
    assert to("client", drain(third)) == ["bytes"]


def test_a_fault_of_connection_zero_meets_each() -> None:
    link = ByteLink(faults=(Fault(at=Place(byte=3), connection=0),))
    assert [to("client", drain(broken)) for broken in _twice(link)] == [["bytes", "error"]] * 2


def _twice(link: ByteLink) -> list[Connection]:
    connections = [connected(link), connected(link)]
    for connection in connections:
        connection.write("server", 0, FRAME)
    return connections


def test_a_paused_client_holds_the_server_back_until_it_goes_on() -> None:
    connection = connected(ByteLink(down=Shape(capacity_bytes=10)))
    connection.pause("client")
    connection.write("server", 0, FRAME)
    assert not connection.writable("server")
    assert drain(connection) == []
    connection.go_on("client")
    assert [signal for _, signal in drain(connection)] == [
        Signal("client", "bytes", FRAME),
        Signal("server", "writable"),
    ]
    assert connection.writable("server")
