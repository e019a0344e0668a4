"""The shop as it should be."""

GREETING = "What may we send you?"
