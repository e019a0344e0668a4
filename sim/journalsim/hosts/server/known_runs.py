"""What a server knows about its runs: which were accepted, which have ended, and who waits for a person."""

from __future__ import annotations

from attrs import Factory, define

from journalsim.contract.frames import Frame


@define(eq=False)
class KnownRuns:
    """The runs of one server, through all its processes.

    Attributes:
        accepted: the session of each run, in order of acceptance.
        questions: the run of each approval that nobody has answered, by call.
    """

    accepted: dict[str, str] = Factory(dict)
    questions: dict[str, str] = Factory(dict)
    _ended: set[str] = Factory(set)  # membership only

    @property
    def active(self) -> list[str]:
        """Runs that were accepted and whose end was not announced, oldest first."""
        return [run for run in self.accepted if run not in self._ended]

    def running(self, session: str) -> bool:
        """Whether a run of the session has not ended."""
        return any(self.accepted[run] == session for run in self.active)

    def accept(self, run: str, session: str) -> bool:
        """Notes that a run was accepted, and returns whether it had been before."""
        again = run in self.accepted
        self.accepted.setdefault(run, session)
        return again

    def hear(self, frame: Frame) -> None:
        """Notes what a published frame says about questions and ends."""
        if frame.kind == "approval.requested" and frame.call_id is not None:
            self.questions[frame.call_id] = frame.run_id
        elif frame.kind == "approval.resolved":
            self.questions.pop(frame.call_id or "", None)
        elif frame.kind == "run.ended":
            self._ended.add(frame.run_id)
            self.questions = {call: run for call, run in self.questions.items() if run != frame.run_id}
