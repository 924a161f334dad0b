"""Coverage-guided fuzzing of what reads foreign bytes, by hand: `python tests/fuzz/fuzz.py READER --minutes 60`.

Needs atheris (Apache-2.0), which is no dependency of the tests; it finds its way into Python code by coverage. Whatever
a reader does with any bytes must be a table or a `PicscError` of one line. A finding is written to `finding-...` in the
working directory, once for each place in the code, and the run goes on; make a plain test or a case of tests/bad_inputs
of it. A crash of the process or a reading that takes longer than 20 s ends the run, with `crash-...` or `timeout-...`.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["picsc", "yaml"]):
    from picsc.auditing.baseline import read_baseline
    from picsc.datasets.files import libsvm as libsvm_files
    from picsc.datasets.files.read import read_frame
    from picsc.datasets.load import from_file
    from picsc.errors import PicscError, RecipeError
    from picsc.recipes.load import load_recipes
    from picsc.settings import KINDS, ReadSettings
    from picsc.settings.layers import resolved
    from picsc.settings.pyproject import project_file
    from picsc.settings.recipe import Recipe

_ARFF = (
    b"@relation r\n@attribute a numeric\n@attribute d date 'yyyy-MM-dd HH:mm'\n@attribute 'b c' {x,'y z','\\'q'}\n"
    b"@data\n"
)
_SPARSE = b"%c\n@RELATION r\n@ATTRIBUTE a REAL\n@ATTRIBUTE s string\n@ATTRIBUTE c {'u',v}\n@DATA\n"
_KEEL = b"@relation r\n@attribute a real [0.0, 1.0]\n@attribute c {p, n}\n@inputs a\n@outputs c\n@data\n"
SEEDS: dict[str, tuple[bytes, ...]] = {
    ".csv": (
        b"a,b,y\n1,2,p\n3,4,q\n5,6,p\n7,9,q\n2,2,q\n",
        b"# note\nx;y\n1,5;'u'\n2,5;v\n3,25;'v'\n4,5;u\n",
        b'\xef\xbb\xbfa\t"b\nc"\tt\n1\tNA\tx\n2\t2020-01-02\tz\n3\t"""q"""\tx\n4\t00123\tz\n',
        "a,b\n1,x\n2,y\n3,x\n4,y\n".encode("utf-16"),
        b"caf\xe9|n\n1|2\n2|1e5\n3|-1.#IND\n4|inf\n9|0x1F\n",
        b"a,a,\n1,2,\n3,4,\n5,6,\n0,1,\n",
    ),
    ".arff": (
        _ARFF + b"1,'2020-01-02 03:04',x\n?,?,'y z'\n2,?,'\\'q'\n1e3,\"2020-01-02 03:05\",?\n4,?,x\n",
        _SPARSE + b"{0 2.5,2 v}\n{}\n{1 'a b',2 ?}\n{0 -1}\n{0 3, 1 w}\n",
        b"@relation r\n@attribute a integer\n@attribute b{p,q}\n@data\n1\tp\n2 q\n3 p\n4 q\n",
    ),
    ".dat": (
        _KEEL + b"0.5, p\n<null>, n\n0.1, n\n0.2, p\n0.9, p\n",
        b"1 2 p\n3 4 q\n5 6 p\n7 8 q\n",
        b"@relation r\n@attribute 'a b' integer [0, 5]\n@attribute c {p, 'n q'}\n@data\n1 p\n2 'n q'\n3 p\n?, p\n",
    ),
    ".libsvm": (
        b"1 1:0.5 3:2\n-1 2:1 # x\n1 1:1\n-1 3:2\n1 2:7\n",
        b"0 qid:3 0:1\n1 qid:3 1:1\n0 qid:4 1:2\n1 qid:4\n",
        b"1,2 1:1\n",
    ),
    ".jsonl": (
        b'{"a": 1, "b": "x"}\n{"a": null, "b": "y", "c": 1.5}\n{"a": 3}\n{"b": true, "a": NaN}\n{"b": "2020-01-02"}\n',
        b'[{"a": 1, "y": "p"}, {"a": 2e3, "y": "q"}, {"a": -3, "y": "p"}, {"a": 4, "y": "\\ud800"}]',
        b'{"a": [1]}\n{"a": {"b": 1}}\n',
    ),
    "recipe": (
        b"title: t\nverb: audit\ndata: [breast_cancer]\ncut: {folds: 5}\nread: {target: no}\nseed: 010\n",
        b"a: &x [1, 2]\nb: *x\n<<: {c: 1e-3}\n",
    ),
    "project": (
        b"[tool.picsc]\nseed = 5\nread.target = 'label'\n[tool.picsc.audit]\ncut.folds = 4\nfail-on = 'never'\n",
        b"[tool.picsc.fed.clients]\nclients = 3\npartition = 'iid'\n[tool.picsc.compare]\nlambda = 0.1\n",
    ),
    "baseline": (
        (
            b'{"schema": "picsc.baseline/1", "files": {"a.csv": {"cut": "2 batches", "pieces": '
            b'{"batch 2": {"moved": {"numeric x": 0.31}, "rows": 50}}}}}'
        ),
    ),
}
"""Small files that the readers take; those of .npz, .xlsx, .arrow and .parquet are written by their libraries."""
_FILES = {"recipe": "x.yaml", "project": "pyproject.toml", "baseline": "x.json"}
_BINARY = (".arrow", ".npz", ".parquet", ".xlsx")
WORDS: dict[str, tuple[str, ...]] = {
    ".csv": ("\\x22", "'", "\\x0d\\x0a", "\\xef\\xbb\\xbf", "\\xff\\xfe", "# ", "NA", "-1.#QNAN", "inf", "1e999", "00"),
    ".arff": (
        "@attribute ",
        "@data",
        "@relation",
        "numeric",
        "string",
        "date ",
        "{",
        "}",
        "?",
        "\\\\u0041",
        "\\\\'",
        "%",
    ),
    ".dat": ("@attribute ", "@data", "@inputs ", "@outputs ", "real [0, 1]", "integer", "{p, n}", "<null>", "?"),
    ".libsvm": ("1:", "0:", "qid:", "#", ",", "nan", "inf", "-1 ", "2147483647:", "1e308"),
    ".jsonl": (
        "{\\x22a\\x22: ",
        "null",
        "true",
        "NaN",
        "Infinity",
        "[",
        "]",
        "1e999",
        "\\\\u0000",
        "9223372036854775808",
    ),
    "recipe": ("verb: ", "<<: ", "*x", "&x ", "!!python", "1e-3", "cut: ", "? ", "- ", "|\\x0a", "!!set", "!!binary "),
}
"""What mutations may put in, as libFuzzer's dictionaries write it."""
_KEYS = tuple(
    {"lambda", *KINDS, *Recipe.model_fields, *(name for kind in KINDS.values() for name in kind.model_fields)}
)
WORDS["recipe"] += _KEYS
WORDS["project"] = ("[tool.picsc]", "= ", "2024-01-01", "inf", "nan", "''", "[[", "\\x0a", *_KEYS)
WORDS["baseline"] = ("schema", "files", "pieces", "moved", "rows", "cut", "NaN", "1e999", "{", "}", "[", "null")
READ = ReadSettings()


def seeds(reader: str) -> tuple[bytes, ...]:
    """Small files that the reader takes."""
    return _written(reader) if reader in _BINARY else SEEDS[reader]


def _written(suffix: str) -> tuple[bytes, ...]:
    """One table in a format that a library writes."""
    import numpy as np
    import openpyxl
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = pd.DataFrame({"a": [1.5, 2.0, None, 4.0, 5.0], "k": pd.Categorical(list("xyxyx")), "y": list("pqpqp")})
    table, out = pa.Table.from_pandas(frame), io.BytesIO()
    if suffix == ".npz":
        np.savez(out, X=np.arange(10.0).reshape(5, 2), y=np.asarray(list("pqpqp")))
    elif suffix == ".parquet":
        pq.write_table(table, out)
    elif suffix == ".arrow":
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    else:
        book = openpyxl.Workbook()
        for row in [list(frame.columns), *frame.astype(object).where(frame.notna(), None).to_numpy().tolist()]:
            book.active.append(row)
        book.save(out)
    return (out.getvalue(),)


def reader_of(name: str, folder: Path) -> Callable[[bytes], None]:
    """One reader as a function of bytes."""
    path = folder / _FILES.get(name, f"x{name}")
    known: set[str] = set()

    def read() -> None:
        if name == "recipe":
            load_recipes([path])
        elif name == "project":
            found = project_file(folder)
            for verb, kind in KINDS.items():
                resolved(kind, found.layers(verb) if found else ())
        elif name == "baseline":
            read_baseline(path)
        else:
            from_file(read_frame(path, READ), path, READ)

    def one(content: bytes) -> None:
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                read()
            except PicscError as error:
                problems = error.problems if isinstance(error, RecipeError) else [str(error)]
                if any("\n" in problem for problem in problems):
                    record(content, f"a sentence of several lines: {problems}")
            except Exception:  # noqa: BLE001 - what is looked for
                record(content, traceback.format_exc())

    def record(content: bytes, what: str) -> None:
        place = next((line for line in reversed(what.splitlines()) if "/picsc/" in line), what[:60])
        if place not in known:
            known.add(place)
            file = Path(f"finding-{name.strip('.')}-{len(known)}")
            file.write_bytes(content)
            sys.stderr.write(f"{file}: {what}\n")

    return one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=sorted([*SEEDS, *_BINARY]))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--corpus", type=Path, help="folder that keeps what was interesting")
    given = parser.parse_args()
    shared_memory = Path("/dev/shm")  # noqa: S108 - only to spare the disk
    folder = Path(tempfile.mkdtemp(dir=shared_memory if os.access(shared_memory, os.W_OK) else None))
    tempfile.tempdir = str(folder)
    corpus = given.corpus or folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(seeds(given.reader)):
        (corpus / f"seed-{i}").write_bytes(seed)
    libsvm_files.MOST_FEATURES = 2000  # an index of six digits makes a table that takes longer than the timeout
    words = folder / "words"
    words.write_text("".join(f'"{word}"\n' for word in WORDS.get(given.reader, ("PK",))), encoding="utf-8")
    longest = 1 << 14 if given.reader in _BINARY else 1 << 12
    limits = [f"-max_total_time={round(given.minutes * 60)}", f"-max_len={longest}", "-len_control=0", "-timeout=20"]
    atheris.Setup([sys.argv[0], str(corpus), f"-dict={words}", *limits], reader_of(given.reader, folder))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
