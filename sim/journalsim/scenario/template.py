"""The file that ``journalsim new scenario`` writes."""

from __future__ import annotations

from journalsim.scenario.loader import load_scenario

_TEMPLATE = """\
# One race, told once. Check it with: journalsim check {name}.race.yaml
version: 1
name: {name}
summary: "A person stops the answer while it streams, and reloads the page."
why: "Say here what can go wrong, for a reader who does not know the system."
tags: [stop]
script:
  model:
    # turn1: what the model streams for the first call, chunk by chunk
    - stream:
        - text: ["Hel", "lo ", "there"]
        - finish: end_turn
steps:
  - client.send: "Hi"
  - client.stop: {{at: $stop}}
  - client.reload: {{after: stop}}
sweep:
  # one case for every point of the baseline run whose name begins like this
  stop: {{every: point, in: [model.turn1]}}
expect:
  sometimes:
    - journal.contains: {{message: model.turn1, state: interrupted}}
"""


def new_scenario(name: str) -> str:
    """Returns the text of a small scenario to start from.

    Args:
        name: its name, kebab-case.

    Raises:
        ScenarioError: the name is not well formed.
    """
    text = _TEMPLATE.format(name=name)
    load_scenario(text.encode(), f"{name}.race.yaml")
    return text
