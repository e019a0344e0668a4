"""Implements the reference journal, which stores the events of an agent's run under every interruption.

To read it in one sitting, go from the facts to the actions:

* pure, without clock, IO or await: ``lifecycle`` (the three tables), ``content``
  and ``events`` (the stored data), ``state`` (the fold of the rows),
  ``batch``, ``journal`` and ``calls`` (every decision), ``projections`` (the history and the
  model's context), ``frames``, ``frame_log`` and ``attach`` (the live readers), ``recovery`` and ``partials``;
* the shell on trio: ``writer`` (the critical section), ``model_calls`` and ``worker`` (one run), ``stream`` (readers),
  ``server`` (the verbs), ``runner`` and ``adapter`` (the entry points of the harness);
* ``stores`` hold the rows, ``bugs`` are the seeded bugs of the zoo.
"""
