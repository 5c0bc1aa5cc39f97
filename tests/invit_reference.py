"""INViT in plain code, one state at a time and without padding, from its description.

Slow and simple, to hold the fast one against. Parameters are under the official names.
"""

import math
from typing import Any

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


@attrs.frozen(eq=False)
class Reference:
    """The network; options as in the official code."""

    weights: dict[str, Tensor]
    options: dict[str, Any]

    def linear(self, name: str, x: Tensor) -> Tensor:
        """Apply a linear map, with its bias if there is one."""
        return F.linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def norm(self, name: str, x: Tensor, eps: float = 1e-5) -> Tensor:
        """Normalise over channels."""
        weight = self.weights[f"{name}.weight"]
        return F.layer_norm(x, weight.shape, weight, self.weights[f"{name}.bias"], eps)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, width: int) -> Tensor:
        """Return multi-head attention of ``[Q, d]`` over ``[T, d]``, scores over root ``width``."""
        heads = []
        for q, k, v in zip(
            *(x.chunk(self.options["nb_heads"], dim=1) for x in (query, key, value)), strict=True
        ):
            heads.append((q @ k.T / math.sqrt(width)).softmax(dim=1) @ v)
        return torch.cat(heads, dim=1)

    def encode(self, name: str, tokens: Tensor, layers: int) -> Tensor:
        """Apply the layers of an encoder to ``[T, d]``."""
        h = tokens
        for i in range(layers):
            mha = f"{name}.encoder.MHA_layers.{i}"
            q, k, v = (self.linear(f"{mha}.{part}", h) for part in ("w_qs", "w_ks", "w_vs"))
            a = self.linear(f"{mha}.fc", self.attend(q, k, v, h.shape[1]))
            u = self.norm(f"{mha}.layer_norm", a + h, 1e-6)
            v = self.norm(f"{name}.encoder.norm1_layers.{i}", h + u)
            hidden = self.linear(f"{name}.encoder.linear1_layers.{i}", v).relu()
            changed = self.linear(f"{name}.encoder.linear2_layers.{i}", hidden)
            h = self.norm(f"{name}.encoder.norm2_layers.{i}", v + changed)
        return h

    def view(self, name: str, nodes: Tensor, last: Tensor, first: Tensor | None, *,
             extra: Tensor, clamp: bool, layers: int) -> Tensor:  # fmt: skip
        """Encode a list ``[k, 2 + s]``, the last node and the first or depot, in one frame."""
        framing = torch.cat((nodes[:, :2], last[None, :2], extra))
        low, high = framing.amin(dim=0), framing.amax(dim=0)
        size = float((high - low).max())

        def framed(x: Tensor) -> Tensor:
            points = (x[..., :2] - low) / (size if size > 0 else 1.0)
            points = points.clamp(0, 1) if clamp else points
            return torch.cat((points, x[..., 2:]), dim=-1)

        tokens = [
            self.linear(f"{name}.input_emb", framed(nodes)),
            self.linear(f"{name}.input_emb_for_last", framed(last))[None],
        ]
        if first is not None:
            tokens.append(self.linear(f"{name}.input_emb_for_first", framed(first[:2]))[None])
        return self.encode(name, torch.cat(tokens), layers)

    def probs(self, *, table: Tensor, last: int, anchor: int, scalars: Tensor, depot: bool,
              reachable: list[int], unfinished: list[int], depot_open: bool) -> Tensor:  # fmt: skip
        """Return the probabilities ``[A]`` in one state.

        ``table`` is ``[A, 2 + s]``, ``scalars`` ``[s]`` of the state.
        """
        K = self.options["action_k"]
        far = (table[:, :2] - table[last, :2]).square().sum(dim=1)
        near = sorted(unfinished, key=lambda node: (float(far[node]), node))
        action = [node for node in near if node in reachable][:K]
        others = [node for node in near if node not in action]
        here = torch.cat((table[last, :2], scalars))
        gap = len(table) - 1 if depot and last == 0 else last
        outputs, query = [], []
        for i in range(-1, self.options["num_state_encoder"]):
            length = K if i < 0 else self.options["state_k"][i]
            nodes = action + others[: length - K]
            name = "action_encoder" if i < 0 else f"state_encoders.{i}"
            kind = "action" if i < 0 else "state"
            anchored = depot or i >= 0
            h = self.view(
                name,
                table[nodes],
                here,
                table[anchor] if anchored else None,
                extra=table[[gap] if len(nodes) < length else [], :2],
                clamp=not depot,
                layers=self.options[f"nb_layers_{kind}_encoder"],
            )
            query += [h[len(nodes) + j] for j in range(1 + anchored)]
            chosen = [*range(len(action)), *([len(nodes) + 1] if depot_open else [])]
            outputs.append(h[chosen])
        candidates = torch.cat(outputs, dim=1)
        layers = self.options["nb_layers_decoder"]
        keys = self.linear("WK_att_decoder", candidates).chunk(layers, dim=1)
        values = self.linear("WV_att_decoder", candidates).chunk(layers, dim=1)
        h = self.linear("query_mlp", torch.cat(query))[None]
        for i in range(layers - 1):
            name = f"decoder.decoder_layers.{i}"
            q = self.linear(f"{name}.Wq_att", h)
            a = self.attend(q, keys[i], values[i], h.shape[1] // self.options["nb_heads"])
            h = self.norm(f"{name}.BN_att", h + self.linear(f"{name}.W0_att", a))
            changed = self.linear(f"{name}.W2_MLP", self.linear(f"{name}.W1_MLP", h).relu())
            h = self.norm(f"{name}.BN_MLP", h + changed)
        scores = self.linear("decoder.Wq_final", h) @ keys[-1].T / math.sqrt(h.shape[1])
        probs = table.new_zeros(len(table))
        probs[action + ([0] if depot_open else [])] = (10 * scores.tanh()).softmax(dim=1)[0]
        return probs


def reference_probs(solver: Any, reference: Reference, instances: Any, state: Any) -> Tensor:
    """Return the behavior ``[B, S, A]`` of the reference in every state."""
    problem = solver.problem
    features = list(problem.features(instances).values())
    width = features[-1].shape[2]
    tables = torch.cat([F.pad(x, (0, width - x.shape[2])) for x in features], dim=1)
    depot = problem.name == "cvrp"
    rule = problem.strictly_feasible if solver.strict_capacity else problem.feasible
    feasible, unfinished = rule(instances, state), problem.unfinished(state)
    B, S, _ = feasible.shape
    rows = []
    for b in range(B):
        for s in range(S):
            rows.append(
                reference.probs(
                    table=tables[b],
                    last=int(state.current[b, s]),
                    anchor=0 if depot else int(state.first[b, s]),
                    scalars=state.load[b, s, None] if depot else tables.new_zeros(0),
                    depot=depot,
                    reachable=feasible[b, s].nonzero()[:, 0].tolist(),
                    unfinished=unfinished[b, s].nonzero()[:, 0].tolist(),
                    depot_open=depot and bool(feasible[b, s, 0]),
                )
            )
    return torch.stack(rows).view(feasible.shape)
