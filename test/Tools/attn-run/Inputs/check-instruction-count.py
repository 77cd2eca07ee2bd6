# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the instructions that callgrind counted with those that an attention cannot do without:

  check-instruction-count.py CALLGRIND_STDERR --heads=2 --queries=256 --keys=256 --dim=64 --lanes=8 --factor=2.75

Ideal are multiply-adds alone: 2 * heads * queries * keys * dim / lanes of them. With them come, at best,

- for a block of 6 x 2 of them 6 broadcasts and 2 loads, and the loop's counters and jump: 25 / 12 each;
- for each vector of scores about 50 of the softmax: maximum, exponential, sum. That is 50 / (2 * dim) each, 0.4;
- what stands around the loops: packing queries, rescaling, bounds, 5 % of all.

2.6 in all. The factor leaves another twentieth.
"""
import argparse
import re
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    for option in ("--heads", "--queries", "--keys", "--dim", "--lanes"):
        parser.add_argument(option, type=int, required=True)
    parser.add_argument("--factor", type=float, required=True)
    options = parser.parse_args()
    with open(options.log, encoding="utf-8") as file:
        match = re.search(r"Collected : (\d+)", file.read())
    if not match:
        sys.exit("expected a line of callgrind with what it collected")
    count = int(match[1])
    ideal = 2 * options.heads * options.queries * options.keys * options.dim // options.lanes
    # Fewer would mean that the kernel was not seen.
    isRight = ideal <= count <= options.factor * ideal
    print(f"{'right' if isRight else 'wrong'}: {count} instructions for {ideal} multiply-adds, {count / ideal:.3f} each; "
          f"expected 1 to {options.factor}")
    sys.exit(0 if isRight else 1)


main()
