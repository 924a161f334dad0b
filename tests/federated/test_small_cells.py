"""Small cells: what is not sent, so that no row can be read off counts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from picsc.datasets.encoding import Covariates, of_numbers
from picsc.equations.moment_kl import moments_kl
from picsc.federated.cell_sizes import fewest_in_cell
from picsc.federated.client_summary import described
from picsc.federated.small_cells import label_counts, sent_columns, sent_products
from picsc.federated.summary_tests import run_client_tests
from tests.federations import summary_of

KINDS = Covariates((0, 1), (2,), ((3, 6),))


def rows(n: int = 40, *, rare: int = 10, gone: int = 10, few: int = 0) -> Tensor:
    """A number, a number that may have two values, a missing flag, three levels; some cells have so many rows."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, 6, generator=generator)
    if few:
        x[:, 1] = 0.0
        x[:few, 1] = 73.5
    x[:, 2] = (torch.arange(n) < gone).float()
    level = torch.where(torch.arange(n) % (n // rare) == 0, 2, torch.arange(n) % 2)
    x[:, 3:] = torch.nn.functional.one_hot(level, 3).float()
    return x


def test_a_column_is_sent_where_each_of_its_cells_has_enough_rows() -> None:
    assert sent_columns(rows(), KINDS, 5).tolist() == [True] * 6
    assert sent_columns(rows(rare=4), KINDS, 5).tolist() == [True, True, True, False, False, False]
    assert sent_columns(rows(gone=4), KINDS, 5).tolist() == [True, True, False, True, True, True]
    assert sent_columns(rows(gone=36), KINDS, 5).tolist() == [True, True, False, True, True, True]
    assert sent_columns(rows(gone=0), KINDS, 5).tolist() == [True] * 6
    assert sent_columns(rows(rare=4, gone=4), KINDS, 1).tolist() == [True] * 6


@pytest.mark.parametrize(("few", "sent"), [(1, False), (4, False), (5, True), (35, True), (36, False)])
def test_a_number_with_two_values_is_a_count_too(few: int, sent: bool) -> None:
    assert bool(sent_columns(rows(few=few), KINDS, 5)[1]) is sent


def test_means_that_are_not_sent_are_not_in_the_summary() -> None:
    x = rows(few=1, rare=4)
    found = described(x, KINDS, seed=0, fewest=5)
    assert found.means.isnan().tolist() == found.variances.isnan().tolist() == [False, True, False, True, True, True]
    torch.testing.assert_close(found.means[[0, 2]], x.mean(0)[[0, 2]])


def test_a_table_of_two_columns_with_a_small_cell_is_not_sent_at_all() -> None:
    """The margins are sent, and the other cells of the table would give the small one."""
    x = rows(gone=20)
    crossed = x[:, 2] @ x[:, 3:]
    assert crossed.min() >= 5
    assert bool(sent_products(x, KINDS, 5).all())
    level = torch.where(torch.arange(40) < 17, 0, torch.where(torch.arange(40) < 30, 1, 2))
    x[:, 3:] = torch.nn.functional.one_hot(level, 3).float()  # of 20 rows without a value, 3 have level 1
    sent = sent_products(x, KINDS, 5)
    assert sent_columns(x, KINDS, 5).all()
    assert not sent[2, 3:].any()
    assert not sent[3:, 2].any()
    sent[2, 3:] = sent[3:, 2] = True
    assert bool(sent.all())
    unsent = sent_products(rows(gone=4), KINDS, 5)
    assert not unsent[2].any()
    assert torch.equal(unsent, unsent.T)


def test_counts_of_labels_are_sent_together_or_not_at_all() -> None:
    y = torch.tensor([0] * 20 + [1] * 5)
    counts = label_counts(y, 3, 5)
    assert counts is not None
    assert counts.tolist() == [20, 5, 0]
    assert label_counts(y[:24], 3, 5) is None
    assert fewest_in_cell(10) == 5
    assert fewest_in_cell(1) == 1


def test_clients_that_leave_columns_out_are_compared_in_the_others() -> None:
    """A client is compared in the columns that it sends, each with all the others that send this column."""
    xs = [rows(rare=4), rows(60, rare=20), rows(50, rare=10)]
    xs[1][:, 0] += 0.5
    squares = [torch.rand(len(x), 7, generator=torch.Generator().manual_seed(k)) for k, x in enumerate(xs)]
    sent = [summary_of([s], x, KINDS, seed=k, fewest=5) for k, (s, x) in enumerate(zip(squares, xs, strict=True))]
    found = run_client_tests(sent, KINDS)
    bare = Covariates((0, 1), (2,), ())
    without = [summary_of([s], x[:, :3], bare, seed=k) for k, (s, x) in enumerate(zip(squares, xs, strict=True))]
    assert [each.sent.all().item() for each in sent] == [False, True, True]
    assert found[0].kl == pytest.approx(run_client_tests(without, bare)[0].kl)
    levels = Covariates((), (), ((3, 6),))
    of_levels = moments_kl(sent[1].moments, sent[2].moments, levels)
    assert float(of_levels) > 0.01
    assert found[1].kl == pytest.approx(run_client_tests(without, bare)[1].kl + float(of_levels))


def test_a_number_that_a_client_does_not_send_is_no_part_of_its_divergence() -> None:
    kinds = of_numbers(2)
    xs = [rows(few=2)[:, :2], rows(60)[:, :2] + 0.5]
    squares = [torch.rand(len(x), 7, generator=torch.Generator().manual_seed(k)) for k, x in enumerate(xs)]
    sent = [summary_of([s], x, kinds, seed=k, fewest=5) for k, (s, x) in enumerate(zip(squares, xs, strict=True))]
    one = [summary_of([s], x[:, :1], of_numbers(1), seed=k) for k, (s, x) in enumerate(zip(squares, xs, strict=True))]
    alone = run_client_tests(one, of_numbers(1))
    assert [each.kl for each in run_client_tests(sent, kinds)] == pytest.approx([each.kl for each in alone])


def test_label_tests_are_between_the_clients_that_send_counts() -> None:
    x = rows()
    squares = torch.rand(40, 7, generator=torch.Generator().manual_seed(0))
    counts = [torch.tensor([30, 10]), None, torch.tensor([20, 20])]
    summaries = [summary_of([squares], x, KINDS, seed=k, label_counts=c) for k, c in enumerate(counts)]
    found = run_client_tests(summaries, KINDS)
    alone = run_client_tests([summaries[0], summaries[2]], KINDS)
    assert [each.label_p for each in found] == [alone[0].label_p, None, alone[1].label_p]
    assert found[0].label_p is not None


def test_a_federation_of_numbers_with_many_values_sends_all() -> None:
    x = torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
    assert bool(sent_products(x, of_numbers(4), 5).all())
