"""Runs and replies that a page knows about but has not displayed.  While any remain, the page re-reads the history."""

from __future__ import annotations

from attrs import Factory, define


@define(eq=False)
class Unseen:
    """What one page still waits for.

    Attributes:
        runs: began in the session of the page while it watched or requested something else, and no
            stream has named them since.
        left: the person sent a message whose answer is a stream, and the page dropped for it a run whose end it
            had not displayed.
    """

    runs: dict[str, None] = Factory(dict)
    left: bool = False
    _heard: dict[str | None, None] = Factory(dict)
    _posts: dict[str, int] = Factory(dict)

    @property
    def unanswered(self) -> bool:
        """Whether a message that the page posted itself has no answer yet."""
        return any(self._posts.values())

    def began(self, run: str) -> None:
        """Notes a run that began and that the page does not watch; one that a stream has named does not count."""
        if run not in self._heard:
            self.runs[run] = None

    def hear(self, run: str | None) -> None:
        """Notes that a stream names a run."""
        self._heard[run] = None
        self.runs.pop(run or "", None)

    def post(self, key: str, *, leaves: bool) -> None:
        """Notes that the page posts a message.

        Args:
            key: of the message.
            leaves: the page drops a run whose end it has not displayed.
        """
        self._posts[key] = self._posts.get(key, 0) + 1
        self.left = self.left or leaves

    def answer(self, key: str) -> None:
        """Notes the answer to one of the posts with a key."""
        self._posts[key] = max(0, self._posts.get(key, 0) - 1)

    def reload(self) -> None:
        """Forgets the posts: after a reload, their answers have no page."""
        self._posts.clear()
