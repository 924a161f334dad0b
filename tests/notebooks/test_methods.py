"""Figures of methods: maps of what is forgotten appear where models learn one piece after another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from picsc.notebooks.methods import plot_methods, plot_rounds
from picsc.reports.cv import Lifelong
from tests.factories.cv import cv_report
from tests.factories.fed import fed_report

pytest.importorskip("matplotlib")
MATRIX = ((0.9, 0.5, None), (0.7, 0.8, 0.6), (0.4, 0.6, 0.75))


def test_scores_along_pieces_are_a_map_with_every_number() -> None:
    report = cv_report()
    lifelong = Lifelong(0.58, 0.7, 0.35, 0.55, MATRIX)
    methods = tuple(
        replace(method, lifelong=lifelong) if method.method in ("picsc", "carried") else method
        for method in report.methods
    )
    figure = plot_methods(replace(report, methods=methods, fragments=("b 1", "b 2", "b 3")))
    maps = [axes for axes in figure.axes if "forgotten" in axes.get_title()]
    assert [axes.get_title() for axes in maps] == ["picsc\n35.0 points forgotten", "carried\n35.0 points forgotten"]
    assert [text.get_text() for text in maps[0].texts] == ["90", "50", "70", "80", "60", "40", "60", "75"]
    assert [label.get_text() for label in maps[0].get_xticklabels()] == ["b 1", "b 2", "b 3"]
    assert (maps[0].get_xlabel(), maps[0].get_ylabel()) == ("tested on", "model after learning")
    assert len(maps[0].patches) == 3  # frames around the piece learned last


def test_without_a_sequence_there_are_methods_alone() -> None:
    [axes] = plot_methods(cv_report()).axes
    assert axes.get_xlabel() == "accuracy, percent, with 95 % interval"


def test_rounds_have_a_map_of_clients_below() -> None:
    figure = plot_rounds(fed_report())
    assert figure.axes[0].get_xlabel() == "tested on client" or figure.axes[-2].get_xlabel() == "round"
    maps = [axes for axes in figure.axes if "forgotten" in axes.get_title()]
    assert maps[0].get_title() == "picsc\n1.2 points forgotten"
    assert [label.get_text() for label in maps[0].get_yticklabels()] == ["1", "12"]


def test_reports_from_before_the_maps_have_rounds_alone() -> None:
    report = fed_report()
    old = replace(report, methods=tuple(replace(method, history=None) for method in report.methods))
    [axes] = plot_rounds(old).axes
    assert axes.get_xlabel() == "round"
