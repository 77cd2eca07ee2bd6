# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the errors in the JSON of tiny.json's workloads: check-errors.py RESULTS.json ELEMENTS ELEMENTS"""
import json
import sys

# Values are below 1 in magnitude, and so are results. A result in f32 is wrong by half an ulp at most for each of a
# dozen roundings, and by something: exact results by chance in every element would mean that nothing was compared.
UPPER = 12 * 2.0**-25


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        workloads = json.load(file)["workloads"]
    for workload, elements in zip(workloads, map(int, sys.argv[2:]), strict=True):
        (error,) = workload["errors"]
        assert error["type"] == {"causal": "2x3x5x4xf32", "padded": "2x4x1x8xf32"}[workload["name"]], error
        assert error["elements"] == elements and error["wrong"] == 0, error
        assert 0 < error["mean"] <= error["largest"] <= UPPER, error
        # The floor of the rule, and twice the error of the unfused formula, which is bounded in the same way.
        assert 2e-6 <= error["allowed"] <= 2e-6 + 2 * UPPER, error
    print("the errors are right")


main()
