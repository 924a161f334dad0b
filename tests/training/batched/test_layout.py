from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from picsc.errors import DataError
from picsc.runtime.threads import one_thread
from picsc.training.batched.layout import Stack, TrainingProblem, minibatches, stack_problems, tile_rows
from tests.stacks import UNEVEN, draw_problem, draw_problems


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


@st.composite
def numbered_problems(draw: st.DrawFn) -> list[TrainingProblem]:
    """Problems of equally many fragments of any sizes; the only feature of a row is its number, counted from 1."""
    k = draw(st.integers(1, 4))
    size = st.one_of(st.integers(1, 6), st.integers(1, 150))
    sizes = draw(st.lists(st.lists(size, min_size=k, max_size=k), min_size=1, max_size=3))
    weighted = draw(st.booleans())
    drawn = [draw_problem(line, 1, seed=seed, weighted=weighted) for seed, line in enumerate(sizes)]
    return [problem._replace(x=np.arange(1, len(problem.x) + 1, dtype=np.float32)[:, None]) for problem in drawn]


def stacked(problems: list[TrainingProblem], shuffle: int | None = None) -> Stack:
    return stack_problems(problems, likelihood="classes", outputs=2, shuffle=shuffle, dtype=torch.float64)


def numbers_of(stack: Stack) -> torch.Tensor:
    """The number of the row at every place of a numbered stack, (g, t m); 0 where padded."""
    return stack.x[:, 0].reshape(stack.problems, -1).long()


@settings(max_examples=60, deadline=None)
@given(numbered_problems(), st.sampled_from([None, 0, 1]))
def test_every_row_has_one_place_with_its_target_and_weight(
    problems: list[TrainingProblem], shuffle: int | None
) -> None:
    stack = stacked(problems, shuffle)
    for i, problem in enumerate(problems):
        n = len(problem.y)
        places = numbers_of(stack)[i]
        mask = stack.mask.reshape(stack.problems, -1)[i]
        assert sorted(places[mask == 1].tolist()) == list(range(1, n + 1))
        assert (places[mask == 0] == 0).all()
        assert torch.equal(stack.x[:, 1].reshape(stack.problems, -1)[i], mask)
        rows = (places[mask == 1] - 1).numpy()
        given_weight = np.ones(n) if problem.weight is None else problem.weight
        for of_places, of_rows in ((stack.y, problem.y), (stack.weight, given_weight / given_weight.sum())):
            found = of_places.reshape(stack.problems, -1)[i]
            np.testing.assert_allclose(found[mask == 1].numpy(), of_rows[rows], rtol=1e-12)
            assert (found[mask == 0] == 0).all()


@settings(max_examples=60, deadline=None)
@given(numbered_problems(), st.sampled_from([None, 3]))
def test_weights_sum_to_one_and_shares_average_fragments(problems: list[TrainingProblem], shuffle: int | None) -> None:
    stack = stacked(problems, shuffle)
    g, t = stack.problems, stack.tiles
    ones = torch.ones(g, dtype=torch.float64)
    torch.testing.assert_close(stack.weight.reshape(g, -1).sum(1), ones, rtol=1e-12, atol=0)
    assert ((stack.share > 0).sum(1) <= 1).all()  # a tile holds rows of one fragment
    tile_sums = numbers_of(stack).reshape(g, t, -1).sum(-1).double()
    means = (stack.share @ tile_sums[..., None])[..., 0]
    for i, problem in enumerate(problems):
        for j in range(stack.share.shape[1]):
            expected = problem.x[problem.fragment == j].astype(np.float64).mean()
            assert means[i, j].item() == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(numbered_problems(), st.integers(1, 200))
def test_minibatches_cover_all_rows_with_their_weights(problems: list[TrainingProblem], batch_size: int) -> None:
    stack = stacked(problems, shuffle=1)
    parts = minibatches(stack, batch_size)
    together = torch.cat([numbers_of(part) for part in parts], 1)
    for i, problem in enumerate(problems):
        assert sorted(together[i][together[i] > 0].tolist()) == list(range(1, len(problem.y) + 1))
    for part in parts:
        g = part.problems
        filled = part.mask.reshape(g, -1).any(1)
        expected = filled.double()
        torch.testing.assert_close(part.weight.reshape(g, -1).sum(1), expected, rtol=1e-12, atol=0)
        per_tile = part.mask.reshape(g, part.tiles, -1).sum(-1)
        in_fragment = (part.share @ per_tile[..., None])[..., 0]  # sum of n_t / n_k over the fragment's tiles
        present = ((stack.share > 0).double() @ per_tile[..., None])[..., 0] > 0
        torch.testing.assert_close(in_fragment, present.double(), rtol=1e-12, atol=0)


def test_minibatches_hold_an_equal_share_of_every_fragment() -> None:
    """Equal fragments of 60 rows in a tile of 60: every part of 4 x 15 rows has 15 of each."""
    stack = stacked(draw_problems([(60, 60, 60, 60)] * 2), shuffle=0)
    parts = minibatches(stack, 60)
    assert [part.rows for part in parts] == [15] * 4
    assert {part.share.max().item() for part in parts} == {1 / 15}


@settings(max_examples=60, deadline=None)
@given(numbered_problems(), st.integers(1, 200), st.integers(0, 5))
def test_no_minibatch_has_more_than_a_row_more_or_less_than_its_share(
    problems: list[TrainingProblem], batch_size: int, seed: int
) -> None:
    stack = stacked(problems, shuffle=seed)
    in_tile = stack.mask.view(stack.problems, stack.tiles, -1).sum(-1)
    for part in minibatches(stack, batch_size):
        share = in_tile * part.rows / stack.rows
        assert ((part.mask.view(stack.problems, stack.tiles, -1).sum(-1) - share).abs() < 1).all()


def test_a_batch_of_all_rows_is_the_stack() -> None:
    stack = stacked(draw_problems(), shuffle=0)
    (part,) = minibatches(stack, 10_000)
    for name in ("x", "y", "mask", "weight", "share"):
        torch.testing.assert_close(getattr(part, name), getattr(stack, name), rtol=1e-12, atol=0)


def test_minibatches_of_a_shuffled_stack_mix_the_order_of_rows() -> None:
    ordered, first, again, other = (
        numbers_of(minibatches(stacked([_numbered(64)], shuffle), 8)[0]) for shuffle in (None, 0, 0, 1)
    )
    assert ordered.tolist() == [list(range(1, 9))]
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first, ordered)


def _numbered(n: int) -> TrainingProblem:
    problem = draw_problem([n], 1)
    return problem._replace(x=np.arange(1, n + 1, dtype=np.float32)[:, None])


def test_large_fragments_are_cut_into_tiles_so_that_padding_stays_small() -> None:
    stack = stacked(draw_problems([(9, 400, 20)]))
    assert stack.tiles > 3
    assert stack.tiles * stack.rows < 2 * 429  # one tile per fragment would be 1,200 places


def test_equal_fragments_are_one_tile_each_without_padding() -> None:
    stack = stacked(draw_problems([(42, 42, 42, 42)] * 3))
    assert (stack.tiles, stack.rows) == (4, 42)


@given(st.lists(st.lists(st.integers(1, 5000), min_size=3, max_size=3), min_size=1, max_size=4))
def test_tiles_never_exceed_the_largest_fragment(sizes: list[list[int]]) -> None:
    assert 1 <= tile_rows(np.array(sizes)) <= max(max(line) for line in sizes)


def test_classes_are_one_hot_from_three_on() -> None:
    stack = stack_problems(draw_problems([(4, 5)], outputs=3), likelihood="classes", outputs=3, dtype=torch.float64)
    assert stack.y.shape[2] == 3
    assert torch.equal(stack.y.sum(2, keepdim=True), stack.mask)


def test_properties() -> None:
    stack = stacked(draw_problems(UNEVEN, f=7))
    assert (stack.problems, stack.features) == (2, 7)
    assert stack.x.shape == (2, 8, stack.tiles * stack.rows)


def test_what_cannot_be_stacked_is_refused() -> None:
    good = draw_problem([4, 5])
    with pytest.raises(DataError, match="no problems"):
        stacked([])
    with pytest.raises(DataError, match="problem 1: fragment 1 of 2 has no rows"):
        stacked([good, draw_problem([9])])
    with pytest.raises(DataError, match="problem 0 has 0 rows"):
        stacked([good._replace(x=good.x[:0], y=good.y[:0], fragment=good.fragment[:0])])
    with pytest.raises(DataError, match="problem 1 has 3 features"):
        stacked([good, draw_problem([4, 5], 3)])
    with pytest.raises(DataError, match="problem 0 has 9 rows of x, 8 of y"):
        stacked([good._replace(y=good.y[1:])])
    with pytest.raises(DataError, match="weights of 9 training rows sum to 0"):
        stacked([good._replace(weight=np.zeros(9))])
