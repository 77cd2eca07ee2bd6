# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention operator that zentorch's compiler puts in place of torch's."""
from common import peer, torch_inputs


def load():
    torch = torch_inputs.load()
    import zentorch  # pylint: disable=unused-import  # Registers its operators.
    return torch


def prepare(torch, task, *arrays):
    task.refuse(no_f64=task.dtype == "f64")

    def attention(query, key, value, mask, is_causal):
        return torch.ops.zentorch.zentorch_sdpa(
            query, key, value, dropout_p=0.0, is_causal=is_causal, attn_mask=mask, scale=task.scale)[0]

    return torch_inputs.prepare_sdpa(torch, task, arrays, attention)


peer.main("zentorch", load, prepare)
