# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON and the picture of tiny-blocks.json's workloads: check-blocks.py RESULTS.json ROOFLINE.svg"""
import json
import sys
import xml.etree.ElementTree


def check_pair(workload, repeat):
    fused = sorted(sample["seconds"] for sample in workload["repetitions"])
    unfused = sorted(sample["unfusedSeconds"] for sample in workload["repetitions"])
    assert len(fused) == repeat and unfused[0] > 0, workload
    pair = workload["unfused"]
    assert pair["medianSeconds"] == unfused[repeat // 2] and pair["bestSeconds"] == unfused[0], pair
    assert abs(pair["overFused"] * workload["medianSeconds"] / pair["medianSeconds"] - 1) < 1e-9, pair
    assert not {"ceiling", "share", "reach"} & workload.keys(), workload.keys()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        layer, op = json.load(file)["workloads"]
    check_pair(layer, 3)
    check_pair(op, 3)
    for workload in layer, op:
        assert not {"speed", "unit", "work"} & workload.keys(), workload.keys()
    # Neither has a ceiling, so neither has a point.
    circles = [node for node in xml.etree.ElementTree.parse(sys.argv[2]).iter() if node.tag.endswith("circle")]
    assert not circles, circles
    print("the pairs are right")


main()
