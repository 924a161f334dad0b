"""Words of reports in a sentence or two each, for the foot of a page; docs/glossary.md says more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from picsc.reports.pages.blocks import Content, Items, Section

WORDS = {
    "piece": "A part of the data: a fold, a batch, a span of time, the rows with one value of a column, or a client.",
    "reference": "The rows that a piece is compared with: all other pieces, the piece before, the first piece, or "
    "another file.",
    "covariate shift": "The columns that a model learns from are distributed differently in two sets of rows. A label "
    "shift is a difference in how often each class occurs.",
    "effect": "How large a difference is, apart from whether chance explains it: for the data a difference of "
    "probabilities between 0 and 1, for a model a change relative to the reference.",
    "KS distance": "The largest difference, over all values, between the shares of rows up to that value in the piece "
    "and in its reference: 0 where they are alike, 1 where they do not overlap.",
    "TV distance": "Total variation: half the sum of the differences of all levels' shares, between 0 and 1.",
    "p-value": "How often chance alone makes any piece differ so much. The p-values of an audit are corrected for all "
    "pieces, columns and both questions.",
    "verdict": "shift: a difference beyond chance and large enough to matter. ok: none. equivalent: proof that no "
    "column differs by more than was asked. inconclusive: too few rows or groups to see even a large difference, or "
    "for that proof. not tested: nothing to compare with. error: no result.",
    "p data and p model": "Two questions: whether the columns moved, and whether it matters to a model of the target.",
    "null": "What chance alone does: rows are dealt out to the pieces anew, many times, in the way in which the pieces "
    "were made, and every statistic is computed again.",
    "Fisher gap": "The distance between the Fisher informations of a piece and of its reference: how differently they "
    "would train one model.",
    "covariate KL": "The Kullback-Leibler divergence between the columns of a piece and those of its reference, summed "
    "over columns, in nats.",
    "tau": "Fisher gap times covariate KL (Eq. 14). It is compared with what chance makes of pieces of the same size.",
    "domain classifier": "A model that learns to tell the rows of a piece from its reference. Its area under the ROC "
    "curve is 0.5 where they cannot be told apart and 1 where they always can.",
    "st-cv": "Standard training on the pieces, the method that all others are compared with.",
    "controls": "Methods that differ from the correction in one respect each, such as a usual weight decay, so that "
    "they show which part of it helps.",
    "95 % interval": "A range that holds the true value in 19 of 20 such studies. Of a difference: if it holds 0, the "
    "two methods cannot be told apart.",
    "Holm's p": "A p-value adjusted for the number of methods that one method is compared with. For a method that was "
    "chosen by its result it is the one to use.",
    "log-loss": "The mean negative log-likelihood of the right answer, in nats per row; less is better.",
    "lambda": "The weight of the correction's penalty in training.",
    "effective sample size": "How many equally weighted rows would say as much as the weighted ones.",
    "importance weight": "A number per training row by which its loss is multiplied: large for rows that are frequent "
    "in the target and rare in training.",
    "separation": "Area under the ROC curve of a classifier that tells training rows from target rows: 0.5 where they "
    "are alike, 1 where they do not overlap.",
    "client": "A holder of rows that sends models and statistics in their place.",
    "round": "One exchange between the server and the clients that take part.",
    "the paper's number": "The accuracy that the paper prints for the same data and method.",
}
"""Explanations by word."""


def explained(content: Content, words: Sequence[str]) -> Content:
    """The content with a last section that explains words.

    Args:
        content: of a report.
        words: keys of `WORDS`.
    """
    if not words:
        return content
    section = Section("Words on this page", [Items([(word, WORDS[word]) for word in words])], folded=True)
    return replace(content, sections=(*content.sections, section))
