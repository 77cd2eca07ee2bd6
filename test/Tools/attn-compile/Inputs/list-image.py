# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a line for each part of a fat image, read by the format in runtime/include/attn/Cuda.h."""

import struct
import sys

with open(sys.argv[1], "rb") as file:
    image = file.read()
magic, version, count = struct.unpack_from("<8sII", image)
assert magic == b"ATTNGPU\0" and version == 1, (magic, version)
for number in range(count):
    kind, chip, suffix, reserved, offset, size = struct.unpack_from("<IIIIQQ", image, 16 + 32 * number)
    code = image[offset : offset + size]
    assert len(code) == size and offset % 16 == 0 and reserved == 0
    if kind == 1:
        assert b".entry copy(" in code and image[offset + size] == 0
    else:
        assert kind == 2 and code.startswith(b"\x7fELF")
    print(f"sm_{chip}{chr(suffix) if suffix else ''} {'ptx' if kind == 1 else 'cubin'}")
