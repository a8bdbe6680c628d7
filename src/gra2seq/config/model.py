"""What a network is."""

from __future__ import annotations

from dataclasses import dataclass

from gra2seq.config.fields import option
from gra2seq.errors import UserError

HALVINGS = 16  # a picture that is painted is halved four times first


@dataclass(frozen=True)
class ModelConfig:
    """The defaults are the paper's (preset `paper`)."""

    name: str = option("sp-gra2seq", "the system: see `gra2seq models`")

    # encoder
    channels: tuple[int, ...] = option((8, 32, 64, 128, 256, 512, 512), "of the patch CNN's convolutions")
    blank_value: float = option(0.0, "pixel value of blank paper; the released code has -1")
    ink_value: float = option(1.0, "pixel value of ink")
    links: str = option("synonymous", "which patches are linked (eq. 2), or another proximity")
    rounds: int = option(1, "of message passing; links are chosen anew from the node features", at_least=1, at_most=64)
    normalise: str = option("symmetric", "of the adjacency (eq. 4); released code: rows",
                            choices=("symmetric", "rows", "none"))  # fmt: skip
    corner: float = option(0.5, "adjacency of the whole view with itself (eq. 3); released code: 1")
    node_position: str = option(
        "none", "what node features know of a patch's place", choices=("none", "canvas", "canvas-and-order")
    )
    picture_branch: bool = option(False, "the code also depends on the whole drawing as one small picture")
    relative_edges: bool = option(False, "links also pass a scalar that depends on how far apart two patches are drawn")
    picture: int = option(48, "side in pixels of the small picture", at_least=16, at_most=1024)
    stroke_hidden: int = option(256, "units each way of the LSTM that reads strokes", at_least=1, at_most=8192)
    embedding: int = option(64, "size of a lattice point's column, and of its row", at_least=1, at_most=4096)

    # code
    code: int = option(128, "numbers of a code", at_least=1, at_most=65536)
    start_log_variance: float = option(0.0, "of the code; -6 starts with little noise", at_least=-50, at_most=50)
    code_repair: bool = option(False, "a small network corrects the codes of damaged drawings")
    ink_prediction: bool = option(
        False, "a small network predicts where lost ink was; where lines are drawn, it is looked up"
    )
    frame_prediction: bool = option(False, "a small network predicts how far a drawing will reach that was begun")
    clusters: int = option(
        50, "K of eq. 5; 30 for DS1; 0: none, or of rpcl-pix2seq twice the categories", at_least=0, at_most=65536
    )
    cluster_rate: float = option(0.05, "eta of eq. 5", at_least=0, at_most=1)
    cluster_weight: float = option(0.25, "lambda of eq. 6", at_least=0)
    cluster_form: str = option(
        "euclidean", "of the clustering term; released code: squared", choices=("euclidean", "squared")
    )

    # decoder
    hidden: int = option(1024, "units of the decoder's LSTM", at_least=1, at_most=16384)
    mixtures: int = option(20, "Gaussians of a pen move", at_least=1, at_most=1024)
    pen_position: bool = option(False, "the decoder's input holds the pen's place beside its last move")
    given_input: bool = option(False, "the decoder's input says whether the last row was given or drawn by itself")
    min_log_std: float | None = option(None, "lower bound of log sigma, in scaled units")

    @property
    def patch(self) -> int:
        """Side of a patch in pixels: a halving a convolution, and one by pooling."""
        return int(2 ** (len(self.channels) + 1))

    def check(self) -> None:
        """Conditions that involve several fields."""
        if not 3 <= len(self.channels) <= 9 or min(self.channels) < 1 or max(self.channels) > 8192:
            raise UserError(
                "channels needs three to nine convolutions of 1 to 8192 channels: blocks are 8 x 8 at least"
            )
