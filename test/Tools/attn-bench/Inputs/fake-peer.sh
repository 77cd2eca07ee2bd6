#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Stands in for the python of the peers' environment: fake-peer.sh <peer>.py, the task on stdin. The bad ends come with
# one of the two workloads, that without lengths.
task=$(cat)
case $task in
  *lengths*) hasLengths=yes ;;
  *) hasLengths=no ;;
esac
case $1 in
  */numpy-naive.py)
    # The answer tells what came; the disturbed one is that with lengths.
    case $task in
      *'"lengths":[7,2]'*) how='lengths 7 2' quiet=false ;;
      *'"right":0'*) how='causal' quiet=true ;;
    esac
    echo 'what libraries print'
    echo '{"version": "1.2.3", "how": "'"$how"'", "medianSeconds": 250, "bestSeconds": 200, "compileSeconds": 1.5,' \
      '"voided": 2, "isQuiet": '"$quiet"'}'
    ;;
  */flex-attention.py)
    printf 'first line\nno such library\n' >&2
    exit 3
    ;;
  */iree-linalg.py)
    [ $hasLengths = yes ] || exec sleep 600
    echo '[]'
    ;;
  */onnxruntime-contrib.py) echo 'Segmentation of things' ;;
  */openvino-sdpa.py) echo '{"version": "1", "how": "x"}' ;;
  */torch-sdpa.py) echo '{"unsupported": "no kernel for that"}' ;;
  */zentorch-sdpa.py)
    [ $hasLengths = yes ] || kill -SEGV $$
    echo '{"error": "expects errors of at most 1, but got 2"}'
    ;;
esac
