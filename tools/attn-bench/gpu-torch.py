# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times torch's scaled_dot_product_attention on the workloads of gpu.json, backend by backend, beside our times.

usage: gpu-torch.py gpu.json OURS.json, where OURS.json is what attn-bench --target=cuda --json wrote."""

import json
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def seconds_of(run):
    """The median of five repetitions of at least 20 ms each, by the GPU's clock."""
    def time(count):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / count

    run()
    count = max(1, round(0.02 / max(time(1), 1e-6)))
    return statistics.median(time(count) for _ in range(5))


def measure(workload, backend):
    """Seconds, or why there are none."""
    batch, heads, length, dim = (int(size) for size in workload["shape"]["0"].split("x"))
    query, key, value = (torch.randn(batch, heads, length, dim, dtype=torch.bfloat16, device="cuda") for _ in range(3))
    is_causal = workload["function"].startswith("causal")
    try:
        with sdpa_kernel(backend), torch.inference_mode():
            return seconds_of(lambda: torch.nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=is_causal)), ""
    except RuntimeError as error:
        return None, str(error).splitlines()[0]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        workloads = {workload["name"]: workload for workload in json.load(file)["workloads"]}
    with open(sys.argv[2], encoding="utf-8") as file:
        ours = json.load(file)["workloads"]
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    for result in ours:
        operations = result["keptOperations"]
        line = f"{result['name']:10} ours {result['gflops'] * 1e-3:6.1f} TFLOP/s"
        for name, backend in BACKENDS.items():
            seconds, problem = measure(workloads[result["name"]], backend)
            line += f"  {name} {operations * 1e-12 / seconds:6.1f}" if seconds else f"  {name}: {problem}"
        print(line, flush=True)


main()
