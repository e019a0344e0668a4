"""Seeded bugs of identity: which message a piece belongs to, and which two messages are one."""

from __future__ import annotations

from journalsim.contract.items import Item
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.content import Content
from journalsim_reference.journal import Decision
from journalsim_reference.model_calls import Response
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer


class _OneBufferPerId(Worker):
    """Treats another id of the provider as another message, until the completion brings the whole."""

    async def grow(self, response: Response, piece: Content, source: str | None) -> None:
        known = self.content(response, None).aliases
        if known and source is not None and source not in known:
            response.current = None
        await super().grow(response, piece, source)

    def content(self, response: Response, source: str | None) -> Content:
        whole = Content()
        for message_id in self._pieces(response):
            whole = whole.plus(self.run_state.messages[message_id].content)
            whole = whole.plus(self.writer.partials.content(message_id))
        return whole.with_aliases(() if source is None else (source,))

    def commit_completion(self, response: Response, message_id: str | None, content: Content, reason: str) -> Decision:
        response.stale += tuple(piece for piece in self._pieces(response) if piece != message_id)
        return super().commit_completion(response, message_id, content, reason)

    def _pieces(self, response: Response) -> list[str]:
        return [m for m in response.messages if self.run_state.messages[m].state in ("open", "interrupted")]


class _GluesTheRetry(Worker):
    """Retries below the loop that appends chunks, which continues the open message."""

    async def receive(self, response: Response) -> None:
        *before, last = response.stale or ("",)
        known = self.run_state.messages.get(last)
        if known is not None and known.state == "open" and not known.content.calls:
            response.current, response.stale = last, tuple(before)
            response.messages.append(last)
        await super().receive(response)


class _KeepsTheFailedAttempt(Worker):
    """Forgets the messages of a failed attempt when it calls the model again."""

    async def receive(self, response: Response) -> None:
        response.stale = ()
        await super().receive(response)


class _KnowsMessagesByText(Writer):
    """Treats two answers with the same text as one."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return _without_copies(super().shown(session_id))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return _without_copies(super().given(session_id))


def _without_copies(items: tuple[Item, ...]) -> tuple[Item, ...]:
    answers = [(item.kind, item.state, item.text) for item in items]
    return tuple(
        item
        for index, item in enumerate(items)
        if item.kind != "assistant" or item.state != "completed" or answers.index(answers[index]) == index
    )


IDENTITY = (
    Bug(
        name="provider-id-splits-message",
        summary="A message whose provider changes its id while it streams is stored as two.",
        failure_mode="DF-4",
        trips=("stable-identity",),
        build=with_parts(worker=_OneBufferPerId),
    ),
    Bug(
        name="retry-glued-to-failed-attempt",
        summary="A second attempt continues the text of the failed one.",
        failure_mode="GO-23",
        trips=("retry-is-atomic",),
        build=with_parts(worker=_GluesTheRetry),
    ),
    Bug(
        name="retry-keeps-failed-rows",
        summary="A retry leaves the rows of the failed attempt in place.",
        failure_mode="GO-23",
        trips=("retry-is-atomic",),
        build=with_parts(worker=_KeepsTheFailedAttempt),
    ),
    Bug(
        name="equal-texts-are-one-message",
        summary="Two answers with the same text are stored as one message.",
        failure_mode="",
        trips=("no-lost-completed-message",),
        build=with_parts(writer=_KnowsMessagesByText),
    ),
)
