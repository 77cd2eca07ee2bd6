# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs for the peers of attn-bench, and attention by plain numpy in f64 to compare their results with."""
import numpy as np

# Largest error over the largest value of its row. A wrong mask or scale is off by far more.
TOLERANCE = {"f64": 1e-10, "f32": 1e-4, "f16": 1e-2, "bf16": 4e-2}
# Of each head: those at the ends and some between.
CHECKED_ROWS = 24


def to_bf16_bits(array):
    """Rounds f32 to the nearest bf16, ties to even; returns the bits as uint16. No NaN."""
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16_bits(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def make_inputs(task):
    """Normal numbers that the task's type holds, as f32 (f64 for f64): query, key, value."""
    generator = np.random.default_rng(1)
    arrays = []
    for sizes in (task.query, task.key, task.value):
        array = generator.standard_normal(sizes, dtype=np.float64 if task.dtype == "f64" else np.float32)
        if task.dtype == "f16":
            array = array.astype(np.float16).astype(np.float32)
        if task.dtype == "bf16":
            array = from_bf16_bits(to_bf16_bits(array))
        arrays.append(array)
    return arrays


def kept_range(task, rows):
    """The first key that each of these queries sees, and the one behind the last; lengths not regarded."""
    own = rows + task.kv_len - task.query_len
    first = np.zeros_like(own) if task.left is None else np.maximum(0, own - task.left)
    end = np.full_like(own, task.kv_len) if task.right is None else np.minimum(task.kv_len, own + task.right + 1)
    return first, np.maximum(first, end)


def keep_mask(task):
    """Which keys each query sees: bool [queryLen, kvLen]; lengths not regarded."""
    first, end = kept_range(task, np.arange(task.query_len))
    keys = np.arange(task.kv_len)
    return (keys >= first[:, None]) & (keys < end[:, None])


def length_mask(task):
    """Which keys of each batch count: bool [batch, kvLen]."""
    return np.arange(task.kv_len) < np.asarray(task.lengths)[:, None]


def check_task(task):
    """Raises where the task does not keep as many operations as it says: it then is not what was measured."""
    first, end = kept_range(task, np.arange(task.query_len))
    lengths = task.lengths or [task.kv_len] * task.batch
    pairs = sum(int(np.maximum(0, np.minimum(end, length) - first).sum()) for length in lengths)
    kept = 2 * (task.head_dim + task.value_dim) * task.heads * pairs
    if task.keptOperations and kept != task.keptOperations:
        raise ValueError("expects a description that keeps %.0f operations as the function does, but it keeps %.0f"
                         % (task.keptOperations, kept))


def expected_rows(task, inputs, batch, head, rows):
    """Attention of some queries of a head in f64: [rows, valueDim]."""
    query, key, value = inputs
    keys = key[batch, head // task.group].astype(np.float64)
    scores = task.scale * (query[batch, head, rows].astype(np.float64) @ keys.T)
    first, end = kept_range(task, rows)
    if task.lengths:
        end = np.minimum(end, task.lengths[batch])
    columns = np.arange(task.kv_len)
    scores[(columns < first[:, None]) | (columns >= end[:, None])] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ value[batch, head // task.group].astype(np.float64)


def check_result(result, task, inputs):
    """Raises where some rows of a peer's result are wrong: a wrong configuration must not be timed."""
    result = np.asarray(result, dtype=np.float64)
    sizes = (task.batch, task.heads, task.query_len, task.value_dim)
    if result.shape != sizes:
        raise ValueError("expects a result of sizes %s, but got %s" % (sizes, result.shape))
    rows = np.unique(np.linspace(0, task.query_len - 1, CHECKED_ROWS).astype(int))
    for batch in range(task.batch):
        for head in range(task.heads):
            expected = expected_rows(task, inputs, batch, head, rows)
            error = np.abs(result[batch, head, rows] - expected).max(axis=1) / np.abs(expected).max(axis=1)
            # Written so that NaN fails.
            if not error.max() <= TOLERANCE[task.dtype]:
                raise ValueError("expects errors of at most %g of a row's largest value, but got %g in row %d of batch "
                                 "%d, head %d" % (TOLERANCE[task.dtype], error.max(), rows[error.argmax()], batch, head))
