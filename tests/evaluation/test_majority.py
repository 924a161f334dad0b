import numpy as np

from picsc.evaluation.majority import above_majority, majority_code
from picsc.reports.common import MajorityClass


def test_the_most_frequent_class_leaves_out_rows_without_a_label() -> None:
    assert majority_code(np.array([-1, -1, -1, 0, 2, 2])) == 2
    assert majority_code(np.array([-1.0])) == 0


def test_the_advice_names_the_share_where_accuracies_say_little() -> None:
    rare = MajorityClass("well", 0.99)
    assert "no accuracy is above 99.0 %, the share of class well" in above_majority(rare, [0.985, None, 0.99])
    assert "is measured against 99.0 %" in above_majority(rare, [0.995])
    assert above_majority(MajorityClass("well", 0.5), [0.6]) == ""
    assert above_majority(rare, [None]) == ""
