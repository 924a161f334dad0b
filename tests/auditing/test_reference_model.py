import numpy as np
import pandas as pd
import pytest

import picsc


@pytest.mark.parametrize("seed", range(2))
def test_one_outlier_in_a_numeric_target_does_not_blind_the_model(seed: int) -> None:
    """y = a in four pieces and y = -a in the last: the model question sees that, whatever one value of y is."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(1000, 3)), columns=list("abc"))
    frame["y"] = frame.a + 0.5 * rng.normal(size=1000)
    frame.loc[800:, "y"] = 0.5 * rng.normal(size=200) - frame.loc[800:, "a"]
    frame.loc[3, "y"] = 1e5
    last = picsc.audit(frame, target="y", folds=5, draws=199).fragments[4]
    assert last.verdict == "shift"
    assert last.p_model_adjusted == pytest.approx(0.005)
