"""Simulates a disk, and computes what a journal finds on it after the machine dies at a chosen moment.

States of a byte
    *written*  in a buffer of the process (a file opened ``buffered``); lost with the process
    *flushed*  the operating system has it; survives the process, but not a power cut
    *synced*   on the disk; survives both

A name in a folder has the last two states too. ``kill`` ends processes, ``lose_power`` the machine; ``crash`` only
computes the image that a power cut would leave.

Operations are numbered per verb, ``disk.write#7``. Each operation that changes the outcome of a power cut has a point
before and one after, at which the disk calls ``observe``: actions are placed there. For the disk, a crash before an
operation equals a crash after the operation before it.

The fault budget
----------------
A journal must survive these worlds, whatever it guarantees:

1. Synced bytes and lengths of a file are there, in every world. Names are
   there if the folder was synced after they changed.
2. Since the last sync, each sector holds some content that it has had since then,
   each sector and each file by itself: writes are lost, survive in part (a front, an
   end, all but a hole) and overtake each other. The length is a length of that
   time, and may run ahead of the bytes.  [1, figure 2, states A, B and C; 2: "the
   file size is updated before the file content"]
3. At most one sector, which was being written, is torn at any byte: its front is new
   and its end is old, or the other way round.  [2: sector writes are linear, not atomic]
4. Names change whole or not at all. Unsynced changes of names survive in order
   (a journaling file system), or in any order (``entries="any_order"``: ext2, btrfs [1]).
5. After a failed sync, its bytes stay readable and are never written; the next sync
   succeeds.  [3: "pages are always marked clean", and no database that
   they tried is safe then; for SQLite see journalsim_reference.stores.disk_sqlite]
6. No space, an I/O error, a short write, a slow operation, at any operation.

What must survive depends on the state of the bytes when the journal acknowledges:

    acknowledged    kill             power cut                       power cut, sync lies
    when synced     all of it        all of it, at most one more     not judged
    when flushed    all of it        a sound prefix                  not judged
    when written    a sound prefix   a sound prefix                  not judged

"Sound" means that the journal opens, and holds whole entries in their order.

The simulator never makes these worlds:

* synced bytes change, or a sector cannot be read: that is for checksums and backups;
* bytes change outside the range that was written ("powersafe overwrite" [2]);
* a sector holds a later write without an earlier one to the same sector: both were
  in one cached page;
* a write after a truncation of the file survives without the truncation, unless
  ``truncates="any_order"`` (a file system without a journal, which reuses freed
  blocks at once);
* a rename leaves neither name, or half a name [1: "directory operations … are
  seemingly atomic" with journaling or copy-on-write];
* bytes of another file appear, other than the constant ``fill``.

A sync that succeeds and does nothing (``lying_sync``, the fault ``lie``) is outside the budget. A scenario has to
request it, and ``lies`` names every operation that lied.

[1] Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014, section 2 and table 1.
[2] SQLite, "Atomic Commit In SQLite", section 2, https://www.sqlite.org/atomiccommit.html.
[3] Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping

from journalsim.actors.disk.content import Content, Image
from journalsim.actors.disk.folder_names import Folder, NameChange
from journalsim.actors.disk.loss import after_loss
from journalsim.actors.disk.worlds import STATES_MAX, crash_states, drawn_world
from journalsim.contract.disk_faults import CHANGING, DiskOptions, Fault, Loss
from journalsim.engine.entries import Killed

FILE_BYTES_MAX = 64 * 2**20  # no journal of a case comes near; a loop that writes for ever ends here


class PowerOff(Killed):
    """The process or its machine is gone; the error ends every task that uses the disk."""


class Life:
    """A process that uses the disk.

    Attributes:
        alive: False once the process or the machine is gone.
    """

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive = True


class Operation:
    """One operation under way: its name, if the disk is observed or has faults, and its faults by kind."""

    __slots__ = ("faults", "name")

    def __init__(self, name: str, faults: Mapping[str, Fault]) -> None:
        self.name = name
        self.faults = faults


_PLAIN = Operation("", {})


class Disk:
    """One folder on one disk, through all lives of the machine.

    Args:
        image: contents by name, all of them synced.
        options: the kind of file system.
        faults: the faults while the machine is up.
        observe: called with ``disk.write#7.before`` and ``….after`` of every changing operation.
        report: called with the name of a faulty operation, and the kind of its fault.

    Attributes:
        lies: names of the syncs that succeeded and did nothing.
        troubles: names of all faulty operations, with the kind of fault, in order.
        delay_ns: virtual time of slow operations that no caller has taken yet, nanoseconds.
    """

    def __init__(
        self,
        image: Mapping[str, bytes] | None = None,
        *,
        options: DiskOptions | None = None,
        faults: Iterable[Fault] = (),
        observe: Callable[[str], None] | None = None,
        report: Callable[[str, str], None] | None = None,
    ) -> None:
        self.options = options or DiskOptions()
        self.observe = observe
        self._report = report
        self.lies: list[str] = []
        self.troubles: list[tuple[str, str]] = []
        self.delay_ns = 0
        self._faults = tuple(faults)
        self._numbers: dict[str, int] = {}
        self._orders = 0
        self._files = 0
        self._lives: list[Life] = []
        self.folder = self._fresh(image or {})

    # --- lives

    def begin_life(self) -> Life:
        """Registers a new process, which uses the disk through :class:`journalsim.actors.disk.mount.Mount`."""
        life = Life()
        self._lives.append(life)
        return life

    def kill(self) -> None:
        """Ends every process that uses the disk; unsynced data of the operating system stays unsynced."""
        lives, self._lives = self._lives, []
        for life in lives:
            life.alive = False

    def lose_power(self, loss: Loss | None = None) -> Image:
        """Ends the machine; from now on the disk holds the image after the loss, all of it synced."""
        image = self.crash(loss or Loss())
        self.kill()
        self.folder = self._fresh(image)
        return image

    def crash(self, loss: Loss | None = None) -> Image:
        """Returns the image that a power cut would leave now; changes nothing."""
        loss = loss or Loss()
        return drawn_world(self.folder, loss.number) if loss.number else after_loss(self.folder, loss)

    def crash_states(self, *, tears: bool = False, limit: int = STATES_MAX) -> Iterator[Image]:
        """Yields every image that a power cut now may leave; see :func:`journalsim.actors.disk.worlds.crash_states`."""
        return crash_states(self.folder, tears=tears, limit=limit)

    # --- while it is up

    def image(self) -> Image:
        """Returns the contents that programs see."""
        return {name: bytes(content.view) for name, content in sorted(self.folder.view.items())}

    def count(self, *verbs: str) -> int:
        """Returns the number of operations of these verbs so far; of all changing verbs by default."""
        return sum(self._numbers.get(verb, 0) for verb in verbs or CHANGING)

    def heal(self) -> None:
        """Removes every fault, also those to come."""
        self._faults = ()

    def take_delay_ns(self) -> int:
        """Returns the virtual time of slow operations since the last call, nanoseconds; the caller waits for it."""
        delay_ns, self.delay_ns = self.delay_ns, 0
        return delay_ns

    # --- for its mounts

    def check(self, life: Life) -> None:
        """Checks that the process is alive.

        Raises:
            PowerOff: the process is gone.
        """
        if not life.alive:
            raise PowerOff("the disk is gone, with the process that used it")

    def begin(self, verb: str, life: Life) -> Operation:
        """Begins an operation: numbers it, passes the point before it and finds its faults.

        Raises:
            PowerOff: the process is gone, perhaps by a fault of this operation.
        """
        self.check(life)
        number = self._numbers[verb] = self._numbers.get(verb, 0) + 1
        if self.observe is None and not self._faults:
            return _PLAIN
        faults = {fault.kind: fault for fault in self._faults if fault.hits(verb, number)}
        operation = Operation(f"disk.{verb}#{number}", faults)
        for kind in faults:
            if kind != "lie":
                self._go_wrong(operation.name, kind)
        if self.observe is not None and verb in CHANGING:
            self.observe(f"{operation.name}.before")
        if "crash" in operation.faults:
            self.lose_power(operation.faults["crash"].loss)
        self.check(life)
        if "slow" in operation.faults:
            self.delay_ns += operation.faults["slow"].duration_ns
        return operation

    def end(self, operation: Operation, life: Life) -> None:
        """Ends a changing operation that succeeded."""
        if self.observe is not None:
            self.observe(f"{operation.name}.after")
            self.check(life)

    def write(self, content: Content, offset: int, data: bytes) -> None:
        """Hands bytes to the operating system.

        Raises:
            OSError: the file would exceed its bound.
        """
        if offset + len(data) > FILE_BYTES_MAX:
            raise OSError(errno.ENOSPC, f"the file would be longer than {FILE_BYTES_MAX} bytes")
        self._orders += 1
        content.change(self._orders, offset, data)

    def truncate(self, content: Content, size: int) -> None:
        """Hands a length to the operating system."""
        self._orders += 1
        content.change(self._orders, size, None)

    def create(self, name: str, *, volatile: bool) -> Content:
        """Makes an empty file."""
        self._files += 1
        content = Content(self._files, b"", self.options)
        self.folder.change(NameChange("create", name, "", content), volatile=volatile)
        return content

    def lies_about(self, operation: Operation, verb: str) -> bool:
        """Returns True if a sync lies, and records it."""
        if not self.options.lying_sync and "lie" not in operation.faults:
            return False
        name = operation.name or f"disk.{verb}#{self._numbers[verb]}"
        self.lies.append(name)
        self._go_wrong(name, "lie")
        return True

    def _go_wrong(self, operation: str, kind: str) -> None:
        self.troubles.append((operation, kind))
        if self._report is not None:
            self._report(operation, kind)

    def _fresh(self, image: Mapping[str, bytes]) -> Folder:
        first = self._files + 1
        self._files += len(image)
        contents = {
            name: Content(number, image[name], self.options) for number, name in enumerate(sorted(image), first)
        }
        return Folder(contents, self.options)
