# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Three steps for each head, the scores in memory, products by numpy's OpenBLAS: the floor."""
from common import peer


def load():
    import numpy
    return numpy


def prepare(np, task, query, key, value):
    from common import reference
    task.refuse(numpy_has_no_bf16=task.dtype == "bf16", numpy_has_no_fast_product_of_f16=task.dtype == "f16")
    result = np.empty((task.batch, task.heads, task.query_len, task.value_dim), query.dtype)
    masks = [None] * task.batch
    if not task.is_full:
        keep = reference.keep_mask(task)
        masks = [~keep] * task.batch
        if task.lengths:
            masks = [~(keep & counts) for counts in reference.length_mask(task)]
    # The heads of a group are one product.
    sizes = (task.batch, task.kv_heads, task.group, task.query_len)
    queries, results = query.reshape(*sizes, task.head_dim), result.reshape(*sizes, task.value_dim)
    scale = query.dtype.type(task.scale)

    def run():
        for batch in range(task.batch):
            for head in range(task.kv_heads):
                scores = (queries[batch, head] * scale).reshape(-1, task.head_dim) @ key[batch, head].T
                scores = scores.reshape(task.group, task.query_len, task.kv_len)
                if masks[batch] is not None:
                    scores[:, masks[batch]] = -np.inf
                scores -= scores.max(axis=-1, keepdims=True)
                np.exp(scores, out=scores)
                total = scores.sum(axis=-1, keepdims=True)
                np.matmul(scores, value[batch, head], out=results[batch, head])
                results[batch, head] /= total

    return peer.Prepared(run, lambda: result, "matmul, softmax, matmul")


peer.main("numpy", load, prepare)
