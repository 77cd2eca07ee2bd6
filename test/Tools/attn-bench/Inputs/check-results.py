# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON and the picture of tiny.json's workloads: check-results.py RESULTS.json ROOFLINE.svg"""
import json
import sys
import xml.etree.ElementTree


def check_workload(workload, repeat, operations, bytes_moved, unit):
    assert workload["work"] == {"keptOperations": operations[0], "totalOperations": operations[1],
                                "bytes": bytes_moved}, workload["work"]
    seconds = sorted(sample["seconds"] for sample in workload["repetitions"])
    assert len(seconds) == repeat and workload["bestSeconds"] == seconds[0] > 0, seconds
    assert workload["medianSeconds"] == seconds[repeat // 2], seconds
    assert workload["unit"] == unit, workload["unit"]
    amount = bytes_moved if unit == "GB/s" else operations[0]
    assert abs(workload["speed"] * workload["medianSeconds"] * 1e9 / amount - 1) < 1e-9
    assert abs(workload["share"] * workload["ceiling"]["median"] / workload["speed"] - 1) < 1e-9
    profile = workload["profile"]
    assert profile["kvTilesVisited"] == sum(thread["kvTiles"] for thread in profile["loops"][-1]["threads"]) > 0
    assert 0 <= profile["serialSeconds"] <= profile["seconds"]
    # A process starts and parses, too.
    assert workload["coldCompileMilliseconds"] > workload["compileMilliseconds"] > 0
    assert workload["voided"] >= 0


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    assert results["machine"]["threads"] == 2
    peaks = {peak["name"]: peak for peak in results["machine"]["peaks"]}
    assert peaks["f32 FMA"]["unit"] == "GFLOP/s" and peaks["read"]["value"] > 0
    causal, padded = results["workloads"]
    # 2 x 3 heads; rows see 1 to 5 of 7 keys: 15 of 35 pairs of 2 * (8 + 4) operations. Keys 0 to 4 are seen, of 12
    # elements each; so are the 5 queries and outputs.
    check_workload(causal, 3, (6 * 15 * 24, 6 * 35 * 24), 6 * (5 + 5) * 12 * 4, "GFLOP/s")
    assert causal["ceiling"]["name"] == "f32 FMA" and causal["reach"] == 0.5
    # One query of 4 heads sees 7 keys and 2 keys; 2 kv heads; 16 elements a key and a query.
    check_workload(padded, 3, (4 * 9 * 32, 4 * 14 * 32), (2 * 9 + 2 * 4) * 16 * 4, "GB/s")
    assert padded["ceiling"]["name"] == "read" and "reach" not in padded

    svg = xml.etree.ElementTree.parse(sys.argv[2]).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(space + "circle")) == 2
    assert "padded: a & b < c" in [text.text for text in svg.findall(space + "text")]
    left, top, right, bottom = 80, 60, 640, 520
    for circle in svg.findall(space + "circle"):
        assert left <= float(circle.get("cx")) <= right and top <= float(circle.get("cy")) <= bottom
    print("the results are right")


main()
