from picsc.auditing.attribution.findings import groups_finding, set_aside_finding


def test_nothing_set_aside_is_no_finding() -> None:
    assert set_aside_finding([], "pieces") == []
    assert groups_finding([], 5) == []
    assert groups_finding([["fold 1", "fold 2"]], 5) == []


def test_pieces_set_aside_that_agree_are_said_to() -> None:
    (alone,), (alike,) = (set_aside_finding(["fold 1", "fold 2"], "pieces", agree=agree) for agree in (False, True))
    assert alone.message == "set aside: fold 1, fold 2; the other pieces are compared with one another only"
    assert alike.message == f"{alone.message}; the pieces set aside show no difference from one another"


def test_groups_are_named_with_what_is_in_none() -> None:
    groups = [["fold 1", "fold 2"], ["fold 3", "fold 4"]]
    (finding,) = groups_finding(groups, 4)
    assert finding.message.startswith("2 groups of pieces: {fold 1, fold 2} and {fold 3, fold 4}; ")
    assert "the other one agrees with no group" in groups_finding(groups, 5)[0].message
    assert "the other 2 agree with no group" in groups_finding(groups, 6)[0].message
