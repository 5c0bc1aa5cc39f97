"""The network of INViT: an encoder for each view, and a decoder over the outputs of all."""

from collections.abc import Sequence
from typing import cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lifelong_co.protocols import Context, Problem
from lifelong_co_adapters.invit.checkpointing import Checkpointing
from lifelong_co_adapters.invit.decoder import Decoder, Weights
from lifelong_co_adapters.invit.encoder import Encoder
from lifelong_co_adapters.invit.layer import Folded
from lifelong_co_adapters.invit.sizes import token_widths
from lifelong_co_adapters.invit.views import HIDDEN, nearest, tokens, view


@attrs.frozen(eq=False)
class Prepared:
    """The parts of a batch and of the weights that decoding needs."""

    table: Tensor  # [B, A, 2 + k]: coordinates and scalars of every action
    folded: list[Folded]  # for the action encoder, then for the state encoders
    decoder: Weights
    checkpointing: Checkpointing


class Network(nn.Module):
    """Encoders and decoder for any problem that describes its features and context.

    An action is a node or the depot; the depot comes first. The anchor is the depot, or without a
    depot the node in the role ``first``. The anchor is an action only if it is a depot.

    Parameters
    ----------
    problem
        The problem; it gives the widths of the embeddings.
    dim_emb, dim_ff, nb_heads, nb_layers_state_encoder, nb_layers_action_encoder, \
nb_layers_decoder, action_k, state_k, batchnorm
        Names of the official code; see `solver.invit`.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        dim_emb: int,
        dim_ff: int,
        nb_heads: int,
        nb_layers_state_encoder: int,
        nb_layers_action_encoder: int,
        nb_layers_decoder: int,
        action_k: int,
        state_k: Sequence[int],
        batchnorm: bool,
    ) -> None:
        super().__init__()
        widths = token_widths(problem)
        self.width = max(widths.values())
        self.depots = int("depot" in problem.feature_dims)
        self.action_k = action_k
        # An anchor that is not an action is only in the views of the state.
        self.anchored = [bool(self.depots), *(True for _ in state_k)]
        self.lengths = [action_k, *state_k]
        self.register_buffer(
            "list_lengths", torch.tensor(self.lengths)[:, None, None], persistent=False
        )

        def encoder(anchored: bool, layers: int) -> Encoder:
            return Encoder(
                {kind: k for kind, k in widths.items() if anchored or kind != "anchor"},
                width=self.width,
                dim=dim_emb,
                heads=nb_heads,
                dim_ff=dim_ff,
                layers=layers,
                batchnorm=batchnorm,
            )

        self.action_encoder = encoder(self.anchored[0], nb_layers_action_encoder)
        self.state_encoders = nn.ModuleList(encoder(True, nb_layers_state_encoder) for _ in state_k)
        self.decoder = Decoder(
            queries=(2 * len(state_k) + 1 + self.depots) * dim_emb,
            candidates=len(self.lengths) * dim_emb,
            dim=dim_emb,
            heads=nb_heads,
            layers=nb_layers_decoder,
        )

    def encoders(self) -> list[Encoder]:
        """Return the encoders in the order of the views."""
        return [self.action_encoder, *(cast(Encoder, module) for module in self.state_encoders)]

    def prepare(self, features: dict[str, Tensor]) -> Prepared:
        """Prepare a batch from the features of its actions: ``[B, *, dim]`` for each kind."""
        padded = [F.pad(x, (0, self.width - x.shape[2])) for x in features.values()]
        table = torch.cat(padded, dim=1)
        return Prepared(
            table=table,
            folded=[encoder.fold() for encoder in self.encoders()],
            decoder=self.decoder.weights(),
            checkpointing=Checkpointing(),
        )

    def decode(
        self, prepared: Prepared, context: Context, feasible: Tensor, unfinished: Tensor
    ) -> Tensor:
        """Return log-probabilities ``[B, S, A]``, -inf where ``feasible`` bool is False."""
        B, S, A = feasible.shape
        rows = self.undecided(feasible)

        def chosen(tensor: Tensor) -> Tensor:
            return tensor.flatten(0, 1) if rows is None else tensor.flatten(0, 1)[rows]

        instance = torch.arange(B, device=feasible.device)[:, None].expand(B, S)
        last = context.nodes["last"]
        left = chosen(unfinished)
        decided = prepared.checkpointing.call(
            self.decide,
            self.token_count(left),
            prepared=prepared,
            instance=chosen(instance),
            last=chosen(last),
            anchor=chosen(context.nodes.get("first", torch.zeros_like(last))),
            scalars=None if context.scalars is None else chosen(context.scalars),
            feasible=chosen(feasible),
            unfinished=left,
        )
        if rows is None and context.nowhere is None:
            return decided.view(B, S, A)
        weights = feasible.to(decided.dtype)
        uniform = (weights / weights.sum(dim=2, keepdim=True)).log()
        if rows is not None:
            decided = uniform.flatten(0, 1).index_copy(0, rows, decided)
        decided = decided.view(B, S, A)
        if context.nowhere is None:
            return decided
        return torch.where(context.nowhere[..., None], uniform, decided)

    def token_count(self, unfinished: Tensor) -> int:
        """Return how many tokens all views of these states ``[N, A]`` have, at most.

        0 on a GPU, where counting waits for the device.
        """
        if unfinished.device.type != "cpu":
            return 0
        most = int(unfinished.sum(dim=1).max())
        return len(unfinished) * sum(min(k, most) for k in self.lengths)

    def undecided(self, feasible: Tensor) -> Tensor | None:
        """Return the rows with more than one feasible action, long ``[N]``; None: all ``B * S``.

        At least one row, so that the result always depends on the parameters.
        """
        if feasible.device.type != "cpu" or self.action_encoder.batchnorm:
            return None  # counting waits for the device; batch norms depend on all rows
        choice = feasible.sum(dim=2).view(-1) > 1
        if bool(choice.all()):
            return None
        choice[0] |= ~choice.any()
        return choice.nonzero().squeeze(1)

    def decide(
        self,
        *,
        prepared: Prepared,
        instance: Tensor,
        last: Tensor,
        anchor: Tensor,
        scalars: Tensor | None,
        feasible: Tensor,
        unfinished: Tensor,
    ) -> Tensor:
        """Return the log-probabilities ``[N, A]`` of rows; for shapes see `nearest`, `tokens`."""
        N, A = feasible.shape
        table = prepared.table
        lists = nearest(
            table[..., :2][instance],
            last,
            reachable=feasible,
            unfinished=unfinished,
            action_k=self.action_k,
        )
        seen = tokens(
            lists,
            table,
            instance=instance,
            last=last,
            anchor=anchor,
            scalars=scalars,
            longest=max(self.lengths),
            depots=self.depots,
        )
        features = view(
            seen,
            lengths=self.get_buffer("list_lengths"),
            action_k=self.action_k,
            clamped=not self.depots,
        )
        w = lists.width
        read = []
        for i, encoder in enumerate(self.encoders()):
            own = 1 + self.anchored[i]  # the last node and the anchor
            others = max(0, min(self.lengths[i], lists.nodes.shape[1]) - w) if i else 0
            shown = features[i, :, : w + own + others]
            read.append(encoder(shown, prepared.folded[i], w + own))
        query = torch.cat([outputs[:, w:].flatten(1) for outputs in read], dim=1)
        # The last node is never a candidate: it is always hidden. It only keeps the layout simple.
        candidates = torch.cat([outputs[:, : w + 1 + self.depots] for outputs in read], dim=2)
        may = torch.arange(w, device=last.device) < lists.candidates
        may = torch.cat((may, may.new_zeros((N, 1))), dim=1)
        if self.depots:
            may = torch.cat((may, feasible[:, :1]), dim=1)
        forbid = HIDDEN * (~may).to(candidates.dtype)
        logits: Tensor = self.decoder(query, candidates, forbid, prepared.decoder)
        log_probs = logits.masked_fill(~may, -torch.inf).log_softmax(dim=1)
        aside = lists.nodes.new_zeros((N, 1 + self.depots))  # the last node and the depot
        index = torch.cat((lists.nodes[:, :w], aside), dim=1)
        index = index.masked_fill(~may, A)  # an extra column, which is removed below
        everywhere = log_probs.new_full((N, A + 1), -torch.inf)
        return everywhere.scatter(1, index, log_probs)[:, :A]
