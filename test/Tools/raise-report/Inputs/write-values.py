# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the archive that the modules of values.test run on: in_x = (1, -3) and out_0 = 2 * in_x, in f64."""
import struct
import sys
import zipfile


def npy(descr, code, numbers):
    """An .npy file of rank 1."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(numbers))
    header = header.ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack("<%d%s" % (len(numbers), code), *numbers))


with zipfile.ZipFile(sys.argv[1], "w") as archive:
    archive.writestr("in_x.npy", npy("<f4", "f", [1, -3]))
    archive.writestr("out_0.npy", npy("<f8", "d", [2, -6]))
