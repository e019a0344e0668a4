"""What a page was told of and has not shown yet: the reasons to read the history again."""

from __future__ import annotations

from attrs import Factory, define


@define(eq=False)
class Unseen:
    """Runs and answers that a page still waits for.

    Attributes:
        runs: began in its session while it asked about something else, and no stream has told of them since.
        left: it went away from a run whose end it had not shown, because its person sent a message meanwhile.
    """

    runs: dict[str, None] = Factory(dict)
    left: bool = False
    _heard: dict[str | None, None] = Factory(dict)
    _posts: dict[str, int] = Factory(dict)

    @property
    def unanswered(self) -> bool:
        """Whether a message that it posted itself has got no answer."""
        return any(self._posts.values())

    def began(self, run: str) -> None:
        """It is told of a run, and does not watch it."""
        if run not in self._heard:
            self.runs[run] = None

    def hear(self, run: str | None) -> None:
        """A stream tells of a run."""
        self._heard[run] = None
        self.runs.pop(run or "", None)

    def post(self, key: str, *, leaves: bool) -> None:
        """It posts a message, and leaves a run that it has not seen the end of, or none."""
        self._posts[key] = self._posts.get(key, 0) + 1
        self.left = self.left or leaves

    def answer(self, key: str) -> None:
        """One of the posts with a key is answered."""
        self._posts[key] = max(0, self._posts.get(key, 0) - 1)

    def reload(self) -> None:
        """Its person reloads it: no post is its own any more."""
        self._posts.clear()
