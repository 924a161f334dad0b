"""`picsc predict`: predictions of a saved model for new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from picsc.reports import PredictReport
from picsc_cli import gates
from picsc_cli.console import exits, streams
from picsc_cli.options import common as options
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish

_Model = Annotated[Path, typer.Argument(metavar="DIR", help="Folder that --save-model wrote.", show_default=False)]
_New = Annotated[
    str, typer.Argument(metavar="NEW", help="File with new rows; - is standard input.", show_default=False)
]
_Audit = Annotated[
    bool,
    typer.Option("--audit", help="Also compare the new rows with the training rows.", rich_help_panel="Verdict"),
]
_Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output", metavar="FORMAT", help="table, json, csv or, with a file, csv:FILE.", rich_help_panel=options.OUTPUT
    ),
]


def predict(
    model: _Model,
    new: _New,
    audit: _Audit = False,
    fail_on: options.FailOnVerdict = None,
    output: _Outputs = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict new rows with a saved model.

    Exit code: 0 fine, 1 a column that --audit finds shifted, 2 the model or the rows could not be used, 3 a bug in
    picsc.
    """
    with exits.handle_errors():
        options.refuse_contradictions((fail_on is not None and not audit, "--fail-on goes with --audit"))
        wanted = outputs.parse(output or (), PredictReport)
        outputs.check(wanted, read=(new, *(model / name for name in MODEL_FILES)))
        with streams.progress(quiet=quiet) as progress:
            if progress is not None:
                progress("predicting")
            from picsc.saved_models.prediction import predict_file  # loads torch: after all other errors

            report = predict_file(model, new, audit=audit)
        publish(report, wanted, quiet=quiet)
        shown = any(each.format == "table" and each.path is None for each in wanted) and not quiet
        for finding in () if shown else report.findings:
            streams.warn(f"{finding.message}{f'; {finding.advice}' if finding.advice else ''}")
        if audit and not any(each.format == "table" and each.path is None for each in wanted):
            streams.warn(report.shift_line)
        raise typer.Exit(gates.code(report.verdict, fail_on or gates.FailOn.SHIFT))


MODEL_FILES = ("weights.safetensors", "encoding.json", "training-rows.json", "model-card.md", "SHA256SUMS")
"""Files of a saved model, which no output may replace."""
