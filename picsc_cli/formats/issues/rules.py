"""Kinds of issues in a sentence each, for formats that list them."""

from __future__ import annotations

_WORDS = {
    "shift": "The rows are distributed differently from those that they are compared with.",
    "equivalent": "Every column is shown to be close to what it is compared with.",
    "inconclusive": "There are too few rows or groups for a verdict.",
    "error": "There is no result where there should be one.",
    "not-tested": "There is nothing to compare the piece with.",
    "not-audited": "The file could not be audited.",
    "no-result": "A model, a method or a data set has no result.",
    "not-counted": "The data set is left out of means and tests.",
    "gate": "The candidate of a comparison does not meet a condition.",
}


def rule_words(rule: str) -> str:
    """What the kind of an issue is: a code of `picsc.reports.common.Finding`, or one of the kinds above."""
    return _WORDS.get(rule) or f"A finding on the data: {rule.replace('-', ' ')}."
