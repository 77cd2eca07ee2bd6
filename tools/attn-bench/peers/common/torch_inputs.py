# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of torch for the peers that build on it."""
from common import peer


def load():
    import torch
    return torch


def dtype_of(torch, task):
    return {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[task.dtype]


def folds_group(task):
    """Whether the query heads of a group can be the queries of one head: K and V are then read once for all."""
    return task.group > 1 and task.left is None and task.right is None


def make(torch, task, *arrays):
    """Query, key and value of the task's type; where the query heads share kv heads, as folds_group says or K and V
    repeated. Also sets the number of threads."""
    torch.set_num_threads(task.threads)
    query, key, value = (torch.from_numpy(array).to(dtype_of(torch, task)) for array in arrays)
    if folds_group(task):
        query = query.reshape(task.batch, task.kv_heads, task.group * task.query_len, task.head_dim)
    elif task.group > 1:
        key, value = (tensor.repeat_interleave(task.group, 1) for tensor in (key, value))
    return query, key, value


def make_mask(torch, task):
    """0 and -inf in the task's type, in a form that broadcasts; None where there is nothing to mask, or where the
    causal flag of torch says it."""
    from common import reference
    if task.is_full or task.is_causal and task.query_len == task.kv_len and not task.lengths:
        return None
    keep = torch.from_numpy(reference.keep_mask(task))[None, None]
    if task.left is None and task.right is None:
        keep = keep[:, :, :1]
    if task.lengths:
        keep = keep & torch.from_numpy(reference.length_mask(task))[:, None, None]
    mask = torch.zeros(keep.shape, dtype=dtype_of(torch, task)).masked_fill(~keep, float("-inf"))
    rows = task.group * task.query_len if folds_group(task) else task.query_len
    return mask.expand(mask.shape[0], 1, rows, task.kv_len)


def prepare_sdpa(torch, task, arrays, attention):
    """What scaled_dot_product_attention and its like take: attention(query, key, value, mask, isCausal)."""
    query, key, value = make(torch, task, *arrays)
    mask = make_mask(torch, task)
    # Only a square causal mask has a flag.
    uses_flag = task.is_causal and mask is None and task.query_len > 1
    output = None

    def run():
        nonlocal output
        with torch.inference_mode():
            output = attention(query, key, value, mask, uses_flag)

    how = "causal flag" if uses_flag else "no mask" if mask is None else "mask tensor"
    return peer.Prepared(run, lambda: to_array(torch, task, output), how)


def to_array(torch, task, output):
    return output.reshape(task.batch, task.heads, task.query_len, task.value_dim).to(torch.float64).numpy()
