"""What cannot be used is refused in one sentence each, and leaves nothing behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bad_inputs.calls import Case, called, cases, sentences

CASES = cases()
SAID = sentences()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_bad_input_gets_its_sentence(case: Case, tmp_path: Path) -> None:
    outcome = called(case, tmp_path)
    lines = outcome.stderr.strip().splitlines()
    folders = {str(part): None for name in case.files for part in Path(name).parents if part.name}
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert "Traceback" not in outcome.stderr
    assert outcome.stderr.strip() == SAID[case.name]
    assert all(re.match(r"picsc: \S|[\w./-]+:\d+: \S", line) for line in lines[:1])
    assert outcome.left == {**folders, **case.files}


def test_cases_and_sentences_are_the_same_set() -> None:
    assert [case.name for case in CASES] == list(SAID)


def test_sentences_speak_to_the_user() -> None:
    """No Python in them: no class of an exception, no repr of an object, no module path."""
    pythonic = re.compile(r"Traceback|<class|object at 0x|\b[A-Z]\w+Error\b|Exception|(?<!tool\.)picsc\.\w+\.\w+")
    assert not [name for name, said in SAID.items() if pythonic.search(said)]
