# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes three products of one left operand: write-projections.py FOLDER ROWS plain|transposed

FOLDER/constants.mlir has the right operands as constants, FOLDER/arguments.mlir as arguments, FOLDER/1.npy to 3.npy
hold the same numbers for the latter.
"""
import os
import random
import struct
import sys

DEPTH, COLUMNS = 37, (5, 24, 8)


def write_npy(path, sizes, data):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes[0]}, {sizes[1]}), }}".encode()
    header += b" " * ((64 - (len(header) + 11) % 64) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def product(number, rows, columns, is_transposed):
    left, right, out = f"tensor<{rows}x{DEPTH}xf32>", f"tensor<{DEPTH}x{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    turn = (f"%u{number} = tensor.empty() : {right}\n"
            f"%t{number} = linalg.transpose ins(%w{number} : tensor<{columns}x{DEPTH}xf32>) outs(%u{number} : {right})"
            " permutation = [1, 0]\n")
    weight = f"%t{number}" if is_transposed else f"%w{number}"
    return (turn if is_transposed else "") + f"""%e{number} = tensor.empty() : {out}
%i{number} = linalg.fill ins(%zero : f32) outs(%e{number} : {out}) -> {out}
%p{number} = linalg.matmul ins(%x, {weight} : {left}, {right}) outs(%i{number} : {out}) -> {out}
%r{number} = linalg.tanh ins(%p{number} : {out}) outs(%e{number} : {out}) -> {out}
"""


def main():
    folder, rows, is_transposed = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "transposed"
    os.makedirs(folder, exist_ok=True)
    generator = random.Random(7)
    constants = arguments = body = ""
    results = ", ".join(f"tensor<{rows}x{columns}xf32>" for columns in COLUMNS)
    for number, columns in enumerate(COLUMNS, 1):
        sizes = (columns, DEPTH) if is_transposed else (DEPTH, columns)
        data = struct.pack(f"<{DEPTH * columns}f", *(generator.uniform(-1, 1) for _ in range(DEPTH * columns)))
        kind = f"tensor<{sizes[0]}x{sizes[1]}xf32>"
        write_npy(f"{folder}/{number}.npy", sizes, data)
        constants += f'%w{number} = arith.constant dense<"0x{data.hex().upper()}"> : {kind}\n'
        arguments += f", %w{number}: {kind}"
        body += product(number, rows, columns, is_transposed)
    zero = "%zero = arith.constant 0.0 : f32\n"
    end = f"return %r1, %r2, %r3 : {results}\n}}\n"
    for name, extra, first in (("constants", "", constants), ("arguments", arguments, "")):
        with open(f"{folder}/{name}.mlir", "w", encoding="utf-8") as file:
            file.write(f"func.func @f(%x: tensor<{rows}x{DEPTH}xf32>{extra}) -> ({results}) {{\n{zero}{first}{body}{end}")


main()
