#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints an .mlir file with all sizes made equal, so that an axis can only be told by the indexing maps.

usage: square.py [--grouped] FILE.mlir

A size is 2, 3, 5, 7 or 8 (batch, heads, queryLen, kvLen, valueDim; headDim is 4) and becomes 4; a product of two of them
becomes 16, of three 64. 1 stays. With --grouped, 2 stays, too: the number of kv heads, and of the query heads of each.
Sizes are looked for in tensor types, output_shape lists and --shape options only."""

import re
import sys

SIZE = {"1": "1", "?": "?"}
SIZE.update((size, "4") for size in ("2", "3", "4", "5", "7", "8"))
SIZE.update((size, "16") for size in ("6", "10", "12", "14", "15", "24", "35"))
SIZE.update((size, "64") for size in ("30",))


# There, batch is 3, heads 4, headDim 8, valueDim 9.
GROUPED = dict(SIZE, **{"2": "2", "9": "4", "12": "16"})


def make_square(text, sizes):
    """Returns the text with each size replaced; KeyError names one that `sizes` does not have."""

    def replace(match):
        return match.group(1) + re.sub(r"\?|\d+", lambda size: sizes[size.group(0)], match.group(2))

    for pattern in (r"(tensor<)((?:(?:\d+|\?)x)+)", r"(output_shape \[)([\d, ]+)", r"(--shape=\d+:)([\dx]+)"):
        text = re.sub(pattern, replace, text)
    return text


def main():
    arguments = sys.argv[1:]
    sizes = SIZE
    if arguments[:1] == ["--grouped"]:
        sizes = GROUPED
        arguments = arguments[1:]
    if len(arguments) != 1:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        text = file.read()
    try:
        sys.stdout.write(make_square(text, sizes))
    except KeyError as size:
        sys.exit(f"square.py: {arguments[0]}: size {size.args[0]} is not one of " + ", ".join(sizes))


if __name__ == "__main__":
    main()
