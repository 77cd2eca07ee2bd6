# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IREE on its CPU back end: products and softmax as linalg operations, which its compiler fuses."""
from common import peer

MODULE = """
func.func @attention(%query: {query}, %key: {key}, %value: {value}{mask_argument}) -> {output} {{
  %zero = arith.constant 0.0 : f32
  %none_s = tensor.empty() : {scores}
  %zero_s = linalg.fill ins(%zero : f32) outs(%none_s : {scores}) -> {scores}
  %product = linalg.generic {{
      indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                       affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}}
      ins(%query, %key : {query}, {key}) outs(%zero_s : {scores}) {{
    ^bb0(%q: {element}, %k: {element}, %s: f32):
      {widen_q}
      {widen_k}
      %m = arith.mulf %wq, %wk : f32
      %a = arith.addf %s, %m : f32
      linalg.yield %a : f32
  }} -> {scores}
  %scores = linalg.generic {{
      indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>{mask_map}, affine_map<(b, h, i, j) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      ins(%product{mask_operand} : {scores}{mask_type}) outs(%none_s : {scores}) {{
    ^bb0(%s: f32{mask_block}, %o: f32):
      %scale = arith.constant {scale} : f32
      %scaled = arith.mulf %s, %scale : f32
      {add_mask}
      linalg.yield %masked : f32
  }} -> {scores}
  %weights = linalg.softmax dimension(3) ins(%scores : {scores}) outs(%none_s : {scores}) -> {scores}
  %none_o = tensor.empty() : {output}
  %zero_o = linalg.fill ins(%zero : f32) outs(%none_o : {output}) -> {output}
  %result = linalg.generic {{
      indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>,
                       affine_map<(b, h, i, d, j) -> (b, h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}}
      ins(%weights, %value : {scores}, {value}) outs(%zero_o : {output}) {{
    ^bb0(%p: f32, %k: {element}, %s: f32):
      {widen_k}
      %m = arith.mulf %p, %wk : f32
      %a = arith.addf %s, %m : f32
      linalg.yield %a : f32
  }} -> {output}
  return %result : {output}
}}
"""


def load():
    import iree.compiler
    import iree.runtime
    return iree


def tensor(element, *sizes):
    return "tensor<%sx%s>" % ("x".join(map(str, sizes)), element)


def make_module(task, rows, mask):
    """The text, for rows queries of each kv head. mask: added to the scores, [batch, rows, kvLen] or [rows, kvLen];
    None: none."""
    mask_type = tensor("f32", *mask.shape) if mask is not None else None
    mask_map = "affine_map<(b, h, i, j) -> (%s)>" % ("b, i, j" if mask is not None and mask.ndim == 3 else "i, j")

    def with_mask(text):
        return text if mask is not None else ""

    widen = "%w{0} = arith.addf %{0}, %zero : f32"
    if task.dtype != "f32":
        widen = "%w{0} = arith.extf %{0} : " + task.dtype + " to f32"
    heads = (task.batch, task.kv_heads)
    return MODULE.format(
        query=tensor(task.dtype, *heads, rows, task.head_dim), key=tensor(task.dtype, *task.key), element=task.dtype,
        value=tensor(task.dtype, *task.value), scores=tensor("f32", *heads, rows, task.kv_len),
        output=tensor("f32", *heads, rows, task.value_dim), scale="%.9e" % task.scale,
        widen_q=widen.format("q"), widen_k=widen.format("k"), mask_map=with_mask(", " + mask_map),
        mask_argument=with_mask(", %%mask: %s" % mask_type), mask_operand=with_mask(", %mask"),
        mask_type=with_mask(", %s" % mask_type), mask_block=with_mask(", %x: f32"),
        add_mask="%%masked = arith.addf %%scaled, %s : f32" % ("%x" if mask is not None else "%zero"))


def make_mask(np, task):
    from common import reference
    if task.is_full:
        return None
    keep = np.tile(reference.keep_mask(task), (task.group, 1))
    if task.lengths:
        keep = keep & reference.length_mask(task)[:, None]
    return np.where(keep, 0, -1e30).astype(np.float32)


def prepare(iree, task, query, key, value):
    import numpy as np
    task.refuse(no_f64=task.dtype == "f64", bf16_is_not_tried=task.dtype == "bf16")
    dtype = {"f32": np.float32, "f16": np.float16}[task.dtype]
    # The query heads of a group become the queries of one head.
    rows = task.group * task.query_len
    mask = make_mask(np, task)
    binary = iree.compiler.compile_str(make_module(task, rows, mask), target_backends=["llvm-cpu"], extra_args=[
        "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    iree.runtime.flags.parse_flags("--task_topology_group_count=%d" % task.threads)
    config = iree.runtime.Config("local-task")
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary))
    query = query.reshape(task.batch, task.kv_heads, rows, task.head_dim)
    arrays = [array.astype(dtype) for array in (query, key, value)]
    arrays += [] if mask is None else [mask]
    buffers = [iree.runtime.asdevicearray(config.device, array) for array in arrays]
    attention = context.modules.module.attention
    output = None

    def run():
        nonlocal output
        output = attention(*buffers)

    def result():
        return output.to_host().reshape(task.batch, task.heads, task.query_len, task.value_dim)

    return peer.Prepared(run, result, "linalg operations")


peer.main("iree-base-compiler", load, prepare)
