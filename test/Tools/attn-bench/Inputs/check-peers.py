# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the peers in the JSON of tiny.json's workloads, whose times fake-peer.sh makes up: check-peers.py RESULTS.json"""
import json
import sys


def check_workload(workload, how, is_quiet):
    peers = {peer["name"]: peer for peer in workload["peers"]}
    assert len(peers) == 7, sorted(peers)
    assert peers["torch-sdpa"] == {"name": "torch-sdpa", "problem": "unsupported: no kernel for that"}
    peer = peers["numpy-naive"]
    assert (peer["medianSeconds"], peer["bestSeconds"], peer["compileMilliseconds"]) == (250, 200, 1500), peer
    assert (peer["version"], peer["how"], peer["voided"], peer["isQuiet"]) == ("1.2.3", how, 2, is_quiet), peer
    assert abs(peer["overOurs"] * workload["medianSeconds"] / 250 - 1) < 1e-9
    work = workload["work"]["bytes" if workload["unit"] == "GB/s" else "keptOperations"]
    assert abs(peer["share"] * peer["ceiling"] * 1e9 * 250 / work - 1) < 1e-9
    # Both halves of ours count.
    assert len(workload["repetitions"]) == 3


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        causal, padded = json.load(file)["workloads"]
    check_workload(causal, "causal", True)
    check_workload(padded, "lengths 7 2", False)
    print("the peers are right")


main()
