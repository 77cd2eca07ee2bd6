# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what the peers of attn-bench share, as far as it needs no package: check-peer-module.py PEERS_FOLDER"""
import json
import sys

sys.path.insert(0, sys.argv[1])
from common import peer  # pylint: disable=wrong-import-position

TASK = {"dtype": "f32", "query": [2, 6, 5, 16], "key": [2, 3, 7, 16], "value": [2, 3, 7, 4], "threads": 2, "repeat": 4,
        "leastSeconds": 0, "quiet": 0.05}


def check_task():
    causal, window = peer.Task(**TASK, right=0), peer.Task(**TASK, left=3, right=0)
    assert (causal.group, causal.kv_len, causal.value_dim, causal.scale) == (2, 7, 4, 0.25)
    assert causal.is_causal and not causal.is_window and not causal.is_full
    assert window.is_window and not window.is_causal
    assert peer.Task(**TASK).is_full and not peer.Task(**TASK, lengths=[7, 2]).is_full


def check_samples():
    task = peer.Task(**TASK)
    quiet = [(1, 0), (9, 0.06), (2, 0.05), (3, 0.01), (4, 0), (5, 0)]
    assert peer.choose_samples(quiet, task) == ([1, 2, 3, 4], 1, True)
    loud = [(1, 0.9), (2, 0.3), (3, 0.4), (4, 0), (5, 0.2)]
    assert peer.choose_samples(loud, task) == ([4, 5, 2], 4, False)
    calls = []
    seconds, voided, is_quiet = peer.take_samples(lambda: calls.append(0), peer.Task(**dict(TASK, quiet=1e9)))
    assert len(seconds) == 4 and len(calls) == 5 and voided == 0 and is_quiet


def check_answers():
    def load():
        raise ModuleNotFoundError("", name="somewhere")

    def prepare(module, task, *arrays):
        raise AssertionError
    answer = peer.answer_task(json.dumps(dict(TASK, surprise=1)), "pip", load, prepare)
    assert "surprise" in answer["error"], answer
    answer = peer.answer_task(json.dumps(TASK), "pip", load, prepare)
    # numpy where that is missing, too.
    assert answer["unsupported"].endswith(" is not installed"), answer
    try:
        peer.Task(**TASK).refuse(no_masks=False, no_f32=True)
        raise AssertionError
    except peer.Unsupported as error:
        assert str(error) == "no f32"


check_task()
check_samples()
check_answers()
print("the module is right")
