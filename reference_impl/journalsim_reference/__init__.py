"""The reference journal: how to keep what an agent's run brings, whatever interrupts it.

To read it in one sitting, go from what is true to what is done about it:

* pure, without clock, IO or await: ``lifecycle`` (the three tables), ``content``
  and ``events`` (what is said and stored), ``state`` (what the rows add up to),
  ``batch``, ``journal`` and ``calls`` (every decision), ``projections`` (what people and
  the model see), ``frames``, ``frame_log`` and ``attach`` (what live readers are told), ``recovery`` and ``partials``;
* the shell on trio: ``writer`` (the critical section), ``model_calls`` and ``worker`` (one run), ``stream`` (readers),
  ``server`` (the verbs), ``runner`` and ``adapter`` (what the harness loads);
* ``stores`` keep the rows, ``bugs`` are the ways in which others got it wrong.
"""
