# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention operators of onnxruntime: MultiHeadAttention, and GroupQueryAttention for what is causal, windowed or
shares kv heads. Each gets the layout that it takes without a copy."""
from common import peer


def load():
    import onnxruntime
    return onnxruntime


def make_session(ort, task, operator, arrays, outputs, **attributes):
    """A session of one operator with io binding: arrays by input name (None: left out), outputs by name and buffer."""
    import onnx
    from onnx import helper
    names = [name if array is not None else "" for name, array in arrays.items()]
    arrays = {name: array for name, array in arrays.items() if array is not None}
    node = helper.make_node(operator, names, list(outputs), domain="com.microsoft", **attributes)

    def declare(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    graph = helper.make_graph([node], "attention", [declare(*item) for item in arrays.items()],
                              [declare(*item) for item in outputs.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    options = ort.SessionOptions()
    options.intra_op_num_threads = task.threads
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in arrays.items():
        binding.bind_cpu_input(name, array)
    for name, array in outputs.items():
        binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    return lambda: session.run_with_iobinding(binding)


def side_by_side(array):
    """[batch, heads, length, dim] as [batch, length, heads * dim]."""
    return array.transpose(0, 2, 1, 3).reshape(array.shape[0], array.shape[2], -1).copy()


def apart(task, array):
    """The result as [batch, heads, queryLen, valueDim]."""
    return array.reshape(task.batch, task.query_len, task.heads, -1).transpose(0, 2, 1, 3)


def prepare_multi_head(ort, task, query, key, value):
    import numpy as np
    from common import reference
    output = np.empty((task.batch, task.query_len, task.heads * task.value_dim), query.dtype)
    bias = None
    if task.left is not None or task.right is not None:
        bias = np.where(reference.keep_mask(task), 0, -np.inf).astype(query.dtype)[None, None]
    arrays = {"query": side_by_side(query), "key": key, "value": value, "bias": None,
              "key_padding_mask": np.asarray(task.lengths, np.int32) if task.lengths else None,
              "attention_bias": bias}
    run = make_session(ort, task, "MultiHeadAttention", arrays, {"output": output},
                       num_heads=task.heads, scale=task.scale)
    return peer.Prepared(run, lambda: apart(task, output), "MultiHeadAttention")


def prepare_group_query(ort, task, query, key, value):
    """Causal by itself. All keys but the new ones lie in the cache; cache in and out are one buffer."""
    import numpy as np
    output = np.empty((task.batch, task.query_len, task.heads * task.value_dim), query.dtype)
    new = slice(task.kv_len - task.query_len, task.kv_len)
    cached_key, cached_value = key.copy(), value.copy()
    arrays = {"query": side_by_side(query), "key": side_by_side(key[:, :, new]),
              "value": side_by_side(value[:, :, new]), "past_key": cached_key, "past_value": cached_value,
              "seqlens_k": np.full(task.batch, task.kv_len - 1, np.int32),
              "total_sequence_length": np.asarray([task.kv_len], np.int32)}
    # The window counts the query's own key.
    window = {} if task.left is None else {"local_window_size": task.left + 1}
    run = make_session(ort, task, "GroupQueryAttention", arrays,
                       {"output": output, "present_key": cached_key, "present_value": cached_value},
                       num_heads=task.heads, kv_num_heads=task.kv_heads, scale=task.scale, **window)
    return peer.Prepared(run, lambda: apart(task, output), "GroupQueryAttention")


def prepare(ort, task, query, key, value):
    import numpy as np
    task.refuse(no_kernel_for_bf16=task.dtype == "bf16", no_kernel_for_f64=task.dtype == "f64")
    if task.dtype == "f16":
        query, key, value = (array.astype(np.float16) for array in (query, key, value))
    is_last = task.query_len == 1 and task.right in (None, 0)
    looks_back = task.right == 0 or is_last
    if looks_back and not task.lengths and task.head_dim == task.value_dim:
        return prepare_group_query(ort, task, query, key, value)
    task.refuse(MultiHeadAttention_shares_no_kv_heads=task.group > 1)
    return prepare_multi_head(ort, task, query, key, value)


peer.main("onnxruntime", load, prepare)
