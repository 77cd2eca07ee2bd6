# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.functional.scaled_dot_product_attention."""
from common import peer, torch_inputs


def prepare(torch, task, *arrays):
    def attention(query, key, value, mask, is_causal):
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=is_causal, scale=task.scale)

    return torch_inputs.prepare_sdpa(torch, task, arrays, attention)


peer.main("torch", torch_inputs.load, prepare)
