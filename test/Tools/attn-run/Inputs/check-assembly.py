# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the hot loops of a kernel's x86-64 assembly, as `attn-run --emit=asm` prints it:

  check-assembly.py KERNEL.s --register=ymm --rows=6 --vectors=2

A product loop is an innermost loop that multiplies a vector in memory by numbers that it broadcasts from memory. In one
that computes a block of rows x vectors there are

- rows x vectors multiply-adds, all on the target's widest register, each adding to a register of its own;
- no store at all and no vector of the stack: nothing is spilled;
- in whole blocks at most as many loads as multiply-adds, so that two load ports keep up with two multiply-add ports.
  Addresses that are read again from the stack count; prefetches do not.

The keys of a tile and the value columns may leave a rest: its loop has fewer rows. No function but the runtime's is
called: none of libm, no memcpy. --rare names functions that serve arguments which hardly occur; they are called in loops
of their own, one element a time, so that a branch can pass them by.

Prints a line for each product loop, then `the assembly is right`, or the first rule that is broken (exit code 1).
"""
import argparse
import re
import sys


class Loop:
    def __init__(self, lines):
        instructions = [line.strip().replace("\t", " ") for line in lines if re.match(r"\t[a-z]", line)]
        self.count = len(instructions)
        self.calls = [i for i in instructions if i.startswith("call")]
        self.products = [i for i in instructions if re.match(r"vfn?m(add|sub)\d+p[sd] ", i)]
        self.broadcasts = [i for i in instructions if re.match(r"vbroadcasts[sd] [^%]*\((?!%rip)", i)]
        self.stores = [i for i in instructions if re.search(r"[ ,][-\w]*\([^)]*\)$", i)
                       and not re.match(r"(cmp|test|prefetch|j|nop)", i)]
        self.loads = [i for i in instructions if "(" in i and not re.match(r"(lea|prefetch|nop)", i)
                      and i not in self.stores]
        self.reloads = [i for i in self.loads if re.search(r"\(%rsp\b", i)]

    def is_product(self):
        return bool(self.products and self.broadcasts)

    def accumulators(self):
        return {i.rsplit("%", 1)[1] for i in self.products}


def innermost_loops(lines):
    """The ranges between a label and the last jump back to it that hold no other such range."""
    labels = {line.split(":")[0]: number for number, line in enumerate(lines) if line.startswith(".LBB")}
    ends = {}
    for number, line in enumerate(lines):
        jump = re.match(r"\tj\w+\t(\.LBB\w+)", line)
        if jump and labels[jump[1]] <= number:
            ends[labels[jump[1]]] = number
    loops = list(ends.items())
    return [Loop(lines[begin:end + 1]) for begin, end in sorted(loops)
            if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in loops)]


def require(rule, holds, found):
    if not holds:
        print(f"expected {rule}, but got {found}")
        sys.exit(1)


def check_loop(loop, options):
    vectors, found = options.vectors, len(loop.products)
    rows = found // vectors
    require(f"at most {options.rows} x {vectors} multiply-adds", rows <= options.rows and found % vectors == 0, found)
    # What is left of a tile may repeat its last row.
    isWhole = rows == options.rows
    require(f"{rows} numbers", len(loop.broadcasts) == rows or not isWhole, len(loop.broadcasts))
    require("as many accumulators", len(loop.accumulators()) == rows * vectors, sorted(loop.accumulators()))
    narrow = [i for i in loop.products if i.count("%" + options.register) < 2]
    require(f"multiply-adds on {options.register}", not narrow, narrow)
    require("no store", not loop.stores, loop.stores)
    spilled = [i for i in loop.reloads if i.startswith("v")]
    require("no vector of the stack", not spilled, spilled)
    if isWhole:
        require("at most as many loads as multiply-adds", len(loop.loads) <= len(loop.products), loop.loads)
    print(f"product loop: {rows} x {vectors}, {loop.count} instructions, {len(loop.reloads)} addresses reloaded")


def check_calls(lines, loops, rare):
    """The entry runs the loop by the runtime, and the loop's body may be a function of its own."""
    called = {match[1] for match in (re.match(r"\tcallq?\t\*?([^@\s]+)", line) for line in lines) if match}
    others = sorted(name for name in called - rare if not re.match(r"attn_rt_|\w+_parallel_\d+$", name))
    require("calls of the runtime alone", not others, others)
    mixed = [loop.calls for loop in loops if loop.calls and (loop.products or len(loop.calls) > 1)]
    require("rare functions in loops of their own", not mixed, mixed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assembly")
    parser.add_argument("--register")
    for option in ("--rows", "--vectors"):
        parser.add_argument(option, type=int, default=0)
    parser.add_argument("--rare", default="")
    options = parser.parse_args()
    with open(options.assembly, encoding="utf-8") as file:
        lines = [line.split("#")[0].rstrip() for line in file]
    loops = innermost_loops(lines)
    check_calls(lines, loops, set(options.rare.split(",")))
    if options.register:
        loops = [loop for loop in loops if loop.is_product()]
        for loop in loops:
            check_loop(loop, options)
        whole = sum(len(loop.products) == options.rows * options.vectors for loop in loops)
        require("a loop of whole blocks for the scores and one for the values", whole >= 2, whole)
        require("at most one loop of the keys that are left and one of the columns", len(loops) - whole <= 2,
                len(loops) - whole)
    print("the assembly is right")


main()
