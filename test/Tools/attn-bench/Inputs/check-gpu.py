# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON of attn-bench on the fake GPU against formulas."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    results = json.load(file)
assert results["gpu"].startswith("GPU Fake GPU 0"), results["gpu"]
full, causal = results["workloads"]
operations = {"F": 4 * 32 * 48 * 80 * 64, "C": 4 * 2 * 16 * (64 * 65 // 2) * 128}
for workload in (full, causal):
    assert workload["keptOperations"] == operations[workload["name"]], workload
    assert len(workload["repetitions"]) == 2
    assert abs(workload["medianSeconds"] - 0.5e-3) < 1e-9
    assert abs(workload["gflops"] - operations[workload["name"]] * 1e-9 / 0.5e-3) < 1e-6
    assert abs(workload["matmulGflops"] - 2 * 8192**3 * 1e-9 / 2e-3) < 1
