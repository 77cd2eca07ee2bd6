# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's FlexAttention with a block mask, compiled."""
import os

from common import peer, torch_inputs


def load():
    # Compile times are those of a first use; and no processes that wait for more to compile.
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    return torch_inputs.load()


def make_block_mask(torch, task, rows):
    """The mask with its empty blocks known; None where it keeps everything. rows: queries of a head."""
    from torch.nn.attention.flex_attention import create_block_mask
    if task.is_full:
        return None
    offset = task.kv_len - task.query_len
    left = task.kv_len if task.left is None else task.left
    right = task.kv_len if task.right is None else task.right
    lengths = torch.tensor(task.lengths) if task.lengths else None

    def keeps(batch, head, i, j):
        kept = (j >= i + offset - left) & (j <= i + offset + right)
        return kept if lengths is None else kept & (j < lengths[batch])

    def counts(batch, head, i, j):
        return j < lengths[batch]

    bounded = task.left is not None or task.right is not None
    return create_block_mask(keeps if bounded else counts, task.batch if task.lengths else None, None, rows,
                             task.kv_len, device="cpu")


def prepare(torch, task, query, key, value):
    from torch.nn.attention.flex_attention import flex_attention
    task.refuse(no_f64_on_the_CPU=task.dtype == "f64")
    query, key, value = torch_inputs.make(torch, task, query, key, value)
    attention = torch.compile(flex_attention, dynamic=False)
    mask = make_block_mask(torch, task, query.shape[2])
    output = None

    def run():
        nonlocal output
        with torch.inference_mode():
            output = attention(query, key, value, block_mask=mask, scale=task.scale)

    return peer.Prepared(run, lambda: torch_inputs.to_array(torch, task, output),
                         "compiled" if mask is None else "compiled, block mask")


peer.main("torch", load, prepare)
