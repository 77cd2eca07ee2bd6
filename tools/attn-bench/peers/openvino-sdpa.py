# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenVINO's ScaledDotProductAttention on its CPU device."""
from common import peer


def load():
    import openvino
    return openvino


def make_model(ov, task, element, sizes, mask_shape):
    """One operator between parameters and a result."""
    from openvino import opset13
    parameters = [opset13.parameter(shape, element) for shape in sizes]
    mask = [opset13.parameter(mask_shape, element)] if mask_shape else []
    uses_flag = task.is_causal and not mask
    node = opset13.scaled_dot_product_attention(
        *parameters, *mask, scale=opset13.constant(task.scale, element), causal=uses_flag)
    return ov.Model([node], parameters + mask, "attention")


def make_mask(np, task, rows):
    """0 and -inf; None where the operator's flag says it or all is kept."""
    from common import reference
    if task.is_full or task.is_causal and task.query_len == task.kv_len and not task.lengths:
        return None
    keep = reference.keep_mask(task)[None, None]
    if task.lengths:
        keep = keep & reference.length_mask(task)[:, None, None]
    keep = np.broadcast_to(keep, (keep.shape[0], 1, rows, task.kv_len))
    return np.where(keep, 0, -np.inf).astype(np.float32)


def prepare(ov, task, query, key, value):
    import numpy as np
    from common import reference
    element = {"f32": ov.Type.f32, "f16": ov.Type.f16, "bf16": ov.Type.bf16}.get(task.dtype)
    masked_group = task.group > 1 and not task.is_full
    task.refuse(no_f64_kernel=element is None, shared_heads_with_a_mask_are_not_tried=masked_group)
    # The query heads of a group become the queries of one head.
    rows = task.group * task.query_len
    arrays = [query.reshape(task.batch, task.kv_heads, rows, task.head_dim), key, value]
    mask = make_mask(np, task, rows)
    arrays += [] if mask is None else [mask]

    def to_tensor(array):
        tensor = ov.Tensor(element, array.shape)
        # A tensor of bf16 shows its memory as some other type of 16 bits.
        tensor.data[:] = reference.to_bf16_bits(array).view(tensor.data.dtype) if task.dtype == "bf16" else array
        return tensor

    tensors = [to_tensor(array) for array in arrays]
    model = make_model(ov, task, element, [array.shape for array in arrays[:3]], None if mask is None else mask.shape)
    compiled = ov.Core().compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": task.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": element})
    request = compiled.create_infer_request()
    for index, tensor in enumerate(tensors):
        request.set_input_tensor(index, tensor)

    def result():
        output = request.get_output_tensor(0).data
        if task.dtype == "bf16":
            output = reference.from_bf16_bits(output.view(np.uint16))
        return output.reshape(task.batch, task.heads, task.query_len, task.value_dim)

    how = "mask tensor" if mask is not None else "causal flag" if task.is_causal else "no mask"
    return peer.Prepared(request.infer, result, how)


peer.main("openvino", load, prepare)
