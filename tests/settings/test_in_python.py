"""Errors of Python calls speak of keywords."""

from __future__ import annotations

import pytest

from picsc.errors import DataError, NumericsError, SettingsError
from picsc.settings import AuditSettings, CompareSettings, CvSettings, FedSettings
from picsc.settings.by_keyword import from_keywords
from picsc.settings.in_python import in_keywords, with_keywords


class TestSentences:
    @pytest.mark.parametrize(
        ("option", "keyword"),
        [
            ("name one with --target", "name one with target="),
            ("choose another column for --by", "choose another column for by="),
            ("--every and --cuts need --time COL", "every= and cuts= need time=COL"),
            ("use --splitter stratified or dob-scv", "use splitter='stratified' or dob-scv"),
            ("use --folds 5 or fewer", "use folds=5 or fewer"),
            ("p-values at --level 0.05; use --block 10", "p-values at level=0.05; use block=10"),
            ("--by site: there are no columns", "by='site': there are no columns"),
            ("--by site (one piece per group)", "by='site' (one piece per group)"),
            ("--every 'fortnight' is no length", "every='fortnight' is no length"),
            ("drop it with --drop x2", "drop it with drop=['x2']"),
            ("shuffle before cutting (--shuffle), and ask", "shuffle before cutting (shuffle=True), and ask"),
            ("or --no-header if the first line is data", "or header=False if the first line is data"),
            ("use --no-target, --categorical or --numeric", "use no_target=True, categorical= or numeric="),
            ("(picsc audit --no-target)", "(picsc.audit with no_target=True)"),
            ("column '--target' is empty", "column '--target' is empty"),
            ("start without --resume", "start without --resume"),
            ("a--target, ---by and --targets", "a--target, ---by and --targets"),
        ],
    )
    def test_of_an_audit(self, option: str, keyword: str) -> None:
        assert with_keywords(option, AuditSettings, "audit") == keyword

    def test_names_are_those_of_the_verb(self) -> None:
        sentence = "--method dob-scv needs --lambda; --no-shuffle, --shuffle and --lr auto"
        cv = with_keywords(sentence, CvSettings, "cv")
        assert cv == "methods= dob-scv needs strength=; shuffle=False, shuffle=True and lr='auto'"
        compared = with_keywords("--method dob-scv cuts by classes", CompareSettings, "compare")
        assert compared == "methods=['dob-scv'] cuts by classes"
        assert with_keywords("--mu and --lr auto", FedSettings, "fed") == "proximal= and lr='auto'"

    @pytest.mark.parametrize("kind", [DataError, SettingsError])
    def test_errors_keep_their_type(self, kind: type[Exception]) -> None:
        with pytest.raises(kind, match=r"^lower draws=$"), in_keywords(AuditSettings, "audit"):
            raise kind("lower --draws")

    def test_errors_keep_what_they_hold(self) -> None:
        with pytest.raises(NumericsError, match=r"^lower lr=$") as caught, in_keywords(CvSettings, "cv"):
            raise NumericsError("lower --lr", epoch=3)
        assert caught.value.epoch == 3


class TestKeywords:
    def test_problems_of_values(self) -> None:
        with pytest.raises(SettingsError) as caught:
            from_keywords(AuditSettings, "audit", {"folds": 0, "splitter": "x", "drop": 3})
        assert "folds=0: must be greater than or equal to 1" in str(caught.value)
        assert "splitter='x': must be 'kfold'" in str(caught.value)
        assert "drop=3: must be a list" in str(caught.value)
        assert "--" not in str(caught.value)

    def test_a_keyword_of_another_name_than_its_option(self) -> None:
        with pytest.raises(SettingsError, match=r"^strength='inf': must be"):
            from_keywords(CvSettings, "cv", {"strength": "inf"})
        with pytest.raises(SettingsError, match=r"^methods='stcv': must be"):
            from_keywords(CvSettings, "cv", {"methods": ["stcv"]})

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"folds": 3, "batches": 3}, r"choose one way to cut, not 2: folds=, batches=$"),
            ({"gap": "3d"}, r"^gap= needs time=COL$"),
            ({"target": "y", "no_target": True}, r"^no_target=True contradicts target='y'$"),
        ],
    )
    def test_contradictions(self, given: dict[str, object], said: str) -> None:
        with pytest.raises(SettingsError, match=said):
            from_keywords(AuditSettings, "audit", given)

    def test_names_of_columns_become_text(self) -> None:
        given = {"target": 3, "drop": [0, "a"], "categorical": (1.5,), "by": ("a", 2)}
        made = from_keywords(AuditSettings, "audit", given)
        assert (made.read.target, made.read.drop, made.read.categorical) == ("3", ("0", "a"), ("1.5",))
        assert made.cut.by == "('a', 2)"
        assert from_keywords(CompareSettings, "compare", {"by": 0, "test_on": [3]}).test_on == ("3",)
        with pytest.raises(SettingsError, match=r"^drop='a': must be a list$"):
            from_keywords(AuditSettings, "audit", {"drop": "a"})
