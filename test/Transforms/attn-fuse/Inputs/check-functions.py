#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles, runs and checks every function of an .mlir file with `attn-run --check`.

usage: check-functions.py ATTN_RUN TARGET FILE.mlir [OPTIONS of attn-run for all functions...]

Each fusion is verified before it is made (--attn-verify-fusion), and the compiled function is compared with the f64
reference of the file as it is written, so what was fused must compute what the graph did. A comment
`// OPTIONS @name: --scalar=3:0.25` adds options to the run of that function, `// OPTIONS: ...` to all; several such lines
for one function are several runs. Prints what failed; exit code 1 if anything did."""

import re
import shlex
import subprocess
import sys


def run(tool, target, path, function, options):
    """Returns what attn-run said if it failed or did not compare anything, else None."""
    command = [tool, path, f"--target={target}", "--attn-verify-fusion", "--check", f"--function={function}"] + options
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode == 0 and "check: PASS" in result.stdout:
        return None
    return f"{shlex.join(command)}\nexit code {result.returncode}\n{result.stdout}"


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    tool, target, path, *common = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    functions = re.findall(r"^\s*func\.func @([\w.$-]+)", text, re.MULTILINE)
    options = {}
    for name, line in re.findall(r"^\s*// OPTIONS(?: @([\w.$-]+))?: (.*)$", text, re.MULTILINE):
        options.setdefault(name, []).append(shlex.split(line))
    unknown = sorted(set(options) - set(functions) - {""})
    if not functions or unknown:
        sys.exit(f"{path}: no function" if not functions else f"{path}: OPTIONS of no function: {', '.join(unknown)}")
    common += [option for line in options.get("", []) for option in line]
    runs = [(name, common + line) for name in functions for line in options.get(name, [[]])]
    failures = [failure for name, line in runs for failure in [run(tool, target, path, name, line)] if failure]
    for failure in failures:
        print(failure)
    print(f"{path}: {len(functions)} functions, {len(runs)} runs, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
