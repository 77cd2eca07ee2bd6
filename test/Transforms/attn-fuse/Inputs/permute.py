#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints one function for each of the 24 orders of an operand's four axes.

usage: permute.py query|key|value|out permuted.mlir
       permute.py transpose permuted-key.mlir

In the first form the named operand's axes are permuted in the indexing map, the others stand as usual; in the second
the key goes through a transpose of that permutation. Function names say the order: @key_d_j_h_b, @transpose_3_2_1_0."""

import itertools
import re
import sys

AXES = {"query": "bhid", "key": "bhjd", "value": "bhje", "out": "bhie"}


def number_aliases(text, number):
    """Attribute aliases are the file's: each function gets its own #qk3, #pv3; the aliases of types are shared."""
    return re.sub(r"#(\w+)", rf"#\g<1>{number}", text)


def expand(template, operand):
    """Returns the template's text, which follows its type aliases, once for each permutation."""
    functions = []
    for number, order in enumerate(itertools.permutations(range(4))):
        if operand == "transpose":
            names = [str(axis) for axis in order]
            text = template.replace("PERMUTATION", ", ".join(names))
        else:
            names = [AXES[operand][axis] for axis in order]
            text = template
            for other, axes in AXES.items():
                text = text.replace(other.upper(), ", ".join(names if other == operand else axes))
        functions.append(number_aliases(text.replace("NAME", operand + "_" + "_".join(names)), number))
    return functions


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in [*AXES, "transpose"]:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("//"))
    types = re.findall(r"^!.*\n", text, re.MULTILINE)
    template = re.sub(r"^!.*\n", "", text, flags=re.MULTILINE)
    sys.stdout.write("".join(types) + "\n" + "\n".join(expand(template.strip() + "\n", sys.argv[1])))


if __name__ == "__main__":
    main()
