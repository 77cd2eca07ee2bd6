#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the `attn-run` lines of tests again, with --check-bounds in the place of --check.

usage: run-with-checks.py ATTN_RUN TARGET FILE.mlir...

The tests compare results; this tells whether any access of the code leaves its operands. Prints what failed; exit code 1
if anything did."""

import re
import shlex
import subprocess
import sys


def commands(path, tool, target):
    """The runs of a test that compare results, as argument lists."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\\\n\s*// RUN:", " ", file.read())
    for line in re.findall(r"^\s*// RUN: attn-run (%s [^|\n]*)", text, re.MULTILINE):
        arguments = shlex.split(line.replace("%s", path))
        if "--check" in arguments and not any(argument.startswith("--target") for argument in arguments):
            yield [tool, f"--target={target}"] + ["--check-bounds" if argument == "--check" else argument for argument in arguments]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    tool, target, *paths = sys.argv[1:]
    failed = 0
    for path in paths:
        runs = list(commands(path, tool, target))
        if not runs:
            sys.exit(f"{path}: no run to repeat")
        for command in runs:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if result.returncode != 0:
                failed += 1
                print(f"{shlex.join(command)}\nexit code {result.returncode}\n{result.stdout}")
        print(f"{path}: {len(runs)} runs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
