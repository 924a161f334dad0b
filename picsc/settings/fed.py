"""The settings of `picsc fed`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import FED_METHODS, FedInputs, FedMethod, ModelName
from picsc.settings.cutting import Keys, PartitionSettings
from picsc.settings.fields import Accuracy, Alpha, Count, Device, FedEngine, Gamma, Jobs, Metrics, Rate, Repeats, Seed
from picsc.settings.option import Option
from picsc.settings.reading import ReadSettings


class FedSettings(Settings):
    """All settings of `picsc fed`; the data are none of them.

    Example:
        >>> import picsc
        >>> settings = picsc.FedSettings.model_validate({"clients": {"clients": 10, "partition": "dirichlet"}})
        >>> settings.clients.clients
        10
        >>> settings.seed  # all others have their defaults: `picsc.federate(data, settings=settings)`
        0
    """

    read: ReadSettings = ReadSettings()
    clients: PartitionSettings = PartitionSettings()
    methods: Annotated[
        tuple[FedMethod, ...],
        Option("fedavg, fedprox, scaffold, picsc, .. (default: all).", "NAME,..", "Methods", flag="--method"),
    ] = FED_METHODS
    """Methods that are run, in the order of the report."""
    metrics: Metrics = ()
    """Metrics by the names of scikit-learn that the report has beside the accuracy, each on the test rows of every
    client after the last round, with the mean over clients, its interval and paired tests over seeds: those of `cv`. ()
    is none."""
    model: Annotated[ModelName, Option("mlp, lenet, bag, lstm or auto (default {default}).", "NAME", "Training")] = (
        "auto"
    )
    """Network of every client; auto is mlp for tables, lenet for images, bag for words, lstm for characters."""
    hidden: Annotated[
        Annotated[int, Field(ge=1, le=4096)] | None, Option("Hidden units (default 32, of lstm 256).", "N", "Training")
    ] = None
    """Hidden units of mlp, width of bag's embeddings, or units of lstm; None is 32, 32 and 256."""
    rounds: Annotated[int, Field(ge=1, le=100_000), Option("Rounds (default {default}).", "N", "Training")] = 30
    """Rounds of communication."""
    epochs: Annotated[
        int, Field(ge=1), Option("A client's passes in a round (default {default}).", "N", "Training")
    ] = 2
    """Passes of a client over its rows in a round."""
    steps: Annotated[Count | None, Option("A client's steps, instead of epochs.", "N", "Training")] = None
    """Steps of a client in a round instead of epochs."""
    batch_size: Annotated[Count | None, Option("Rows a step (default 32, not tables 64).", "N", "Training")] = None
    """Rows per step; None is 32 for tables and 64 for the others."""
    lr: Annotated[
        Rate | Literal["auto"],
        Option("Number or auto: chosen by method (default {default}).", "RATE", "Training"),
    ] = "auto"
    """Learning rate of clients; auto chooses for every method on training rows of tables, with the same number of tries
    each: `picsc.federated.tuning.TRIES` pairs of a rate and the method's own constant, or as many rates where it has
    none; beyond an end of its grid where the best one is there. Of other models it is 0.05."""
    whiten: Annotated[
        bool,
        Option("Whitened columns for all methods (default: no).", panel="Training", opposite="--no-whiten"),
    ] = False
    """True trains every method alike on whitened columns of a table, up to 512 encoded ones: clients send the second
    moments of their columns once. Not with images and texts. The same as `inputs` standard."""
    inputs: Annotated[
        FedInputs | None,
        Option("Columns: natural, standard or auto (default natural).", "NAME", "Training", after="whiten"),
    ] = None
    """Columns of a table that methods train on: as they are (natural), whitened (standard), or auto: what is better on
    training rows, chosen for every method alike together with its learning rate. None is natural, unless `whiten`."""
    momentum: Annotated[
        float, Field(ge=0, lt=1), Option("Momentum of clients (default {default}).", "M", "Training")
    ] = 0.0
    """Momentum of the clients' SGD, in [0, 1)."""
    weight_decay: Annotated[
        float, Field(ge=0), Option("Weight decay of clients (default {default}).", "W", "Training")
    ] = 0.0
    """Weight decay of the clients' SGD, at least 0."""
    server_lr: Annotated[
        float, Field(gt=0), Option("Length of the server's step (default {default}).", "RATE", "Methods", after="mean")
    ] = 1.0
    """Length of the server's step towards the mean of the clients' models; 1 goes all the way."""
    server_momentum: Annotated[
        float,
        Field(ge=0, lt=1),
        Option("Momentum of the server (default {default}).", "M", "Methods", after="server_lr"),
    ] = 0.0
    """Share of the server's last step that is kept, of every method."""
    sample: Annotated[
        float,
        Field(gt=0, le=1),
        Option("Share of clients in a round (default {default}).", "SHARE", "Training"),
    ] = 1.0
    """Share of the clients that take part in a round."""
    mean: Annotated[
        Literal["rows", "clients"],
        Option("Mean weighted by rows or clients (default {default}).", "NAME", "Methods", after="aggregate"),
    ] = "rows"
    """Weights of the clients in the plain mean: their numbers of rows, or all equal."""
    proximal: Annotated[
        Annotated[float, Field(ge=0)] | Literal["auto"],
        Option("Penalty of fedprox, or auto: chosen (default {default}).", "MU", "Methods", flag="--mu"),
    ] = "auto"
    """mu of FedProx, the weight of its proximal term, at least 0; auto is chosen on training rows together with the
    rate, and 0.01 where a rate is given."""
    strength: Annotated[
        Annotated[float, Field(ge=0)] | Literal["auto"],
        Option("Penalty of Eq. 16, or auto: chosen (default {default}).", "VALUE", "Methods", flag="--lambda"),
    ] = "auto"
    """lambda of Eq. 16 and of FedCurv, the weight of the penalty, at least 0; auto is chosen for each method on
    training rows together with the rate, and 0.1 where a rate is given."""
    alpha: Alpha = 0.9
    """Weight of the past in the smoothed Fisher information (Eq. 15)."""
    gamma: Gamma = None
    """Threshold of Eq. 14's tau; None is its calibrated 95 % quantile when nothing is shifted."""
    delta: Annotated[
        Annotated[float, Field(gt=0)] | Literal["auto"],
        Option("Prior of the Fisher mean, or auto: chosen (default {default}).", "D", "Methods"),
    ] = "auto"
    """Prior precision of the Fisher-weighted mean; auto is chosen for fisher-mean on training rows together with the
    rate, and 0.0001 where a rate is given and for other methods."""
    aggregate: Annotated[
        Literal["auto", "fisher", "mean"],
        Option("For picsc: fisher, mean or auto (default {default}).", "NAME", "Methods"),
    ] = "auto"
    """Aggregation of PIcsC: the Fisher-weighted or the plain mean of the clients' models; auto is the plain mean."""
    validation: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("Test rows of a client (default {default}).", "SHARE", "Clients", after="clients.min_rows"),
    ] = 0.2
    """Share of every client's rows that are its test rows; data with an official test part use that."""
    min_client_rows: Annotated[
        int,
        Field(ge=1),
        Option("Refuse clients with fewer rows (default {default}).", "N", "Clients", after="validation"),
    ] = 10
    """Fewest rows of any client; a smaller one is refused by name, because the server could read its rows off its
    statistics. Counts of fewer than 5 rows, or of fewer than this, are not sent. Lower it for simulations only."""
    most_rows: Annotated[
        Count | None,
        Option("Most rows that a client trains on (default: all).", "N", "Clients", after="min_client_rows"),
    ] = None
    """Most rows that a client trains on, a random part of those it has; at most as many are its test rows."""
    target_accuracy: Annotated[
        Accuracy | None, Option("Count rounds until A: 0.9 or 90 (default: fedavg's last).", "A", "Run")
    ] = None
    """Accuracy up to which rounds and bytes are counted: a fraction up to 1, or percent above 1 up to 100; None is the
    accuracy that fedavg ends with."""
    repeats: Annotated[Repeats | None, Option("Runs by other seeds (default 3, not tables 1).", "N", "Run")] = None
    """Runs with other seeds of partition, weights and minibatches; None is 3 for tables, 1 for the others."""
    allow_failures: Annotated[
        int, Field(ge=0), Option("Clients that may fail a round (default {default}).", "N", "Run")
    ] = 0
    """Clients that may fail in a round and be left out of it."""
    device: Device = "auto"
    """Processor that trains; auto is cuda or mps where there is one that pays, else cpu."""
    seed: Seed = 0
    """Seed of every random draw."""
    jobs: Jobs = 1
    """Processes that train; the results are the same for any number."""
    engine: FedEngine = "local"
    """Where clients train. `local` simulates them in processes of this machine, `dask` in a Dask cluster of `jobs`
    workers on this machine, `dask:ADDRESS` in the workers of the scheduler at that address; the results are the same.
    `flower` starts a SuperLink of Flower and a SuperNode for each client on this machine, which read a file each and
    send only what they would send from machines of their own; it trains tables, at a given rate, on natural columns."""

    @model_validator(mode="after")
    def _one_kind_of_inputs(self) -> FedSettings:
        if self.whiten and self.inputs is not None:
            raise ValueError("--whiten is --inputs standard: leave one of them out")
        if self.inputs == "auto" and self.lr != "auto":
            raise ValueError("--inputs auto is chosen together with learning rates: leave out --lr")
        return self

    @property
    def whitenings(self) -> tuple[bool, ...]:
        """Whether columns are whitened; both where that is chosen."""
        if self.inputs == "auto":
            return (False, True)
        return (self.whiten or self.inputs == "standard",)

    @property
    def keys(self) -> Keys:
        """Columns that are no covariates."""
        return Keys.of(by=self.clients.by)
