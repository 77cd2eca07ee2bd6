# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's array files, for scripts that must run where NumPy is not installed."""
import math
import re
import struct
import zipfile

FORMATS = {"<f2": "e", "<f4": "f", "<f8": "d", "|b1": "?", "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q"}
BFLOAT16 = "|V2"
# The element descriptor of each element type of MLIR that files hold.
DESCRIPTORS = {"f16": "<f2", "bf16": BFLOAT16, "f32": "<f4", "f64": "<f8", "i1": "|b1", "i8": "|i1", "i16": "<i2",
               "i32": "<i4", "i64": "<i8"}


class ArrayError(Exception):
    """What is wrong with an array or its file, in words."""


class Array:
    """Element descriptor as NumPy writes it, shape, and the bytes of the elements in row-major order."""

    def __init__(self, descr, shape, data):
        self.descr, self.shape, self.data = descr, list(shape), data

    @staticmethod
    def of_numbers(descr, shape, numbers):
        """From numbers in row-major order; those for bf16 must be exact in it."""
        if descr != BFLOAT16:
            return Array(descr, shape, struct.pack("<%d%s" % (len(numbers), FORMATS[descr]), *numbers))
        wide = struct.pack("<%df" % len(numbers), *numbers)
        if any(wide[i:i + 2] != b"\0\0" for i in range(0, len(wide), 4)):
            raise ArrayError("an array of type bf16 expects numbers that bf16 holds exactly")
        return Array(descr, shape, b"".join(wide[i + 2:i + 4] for i in range(0, len(wide), 4)))

    def numbers(self):
        """The elements in row-major order."""
        if self.descr == BFLOAT16:
            wide = b"".join(b"\0\0" + self.data[i:i + 2] for i in range(0, len(self.data), 2))
            return struct.unpack("<%df" % (len(wide) // 4), wide)
        if self.descr not in FORMATS:
            raise ArrayError("elements of '%s' are not supported" % self.descr)
        return struct.unpack("<%d%s" % (len(self.data) // item_size(self.descr), FORMATS[self.descr]), self.data)


def item_size(descr):
    """Bytes of an element."""
    return 2 if descr == BFLOAT16 else struct.calcsize("<" + FORMATS[descr])


def decode(data, name):
    """The array in the bytes of an .npy file; `name` is for messages."""
    if data[:6] != b"\x93NUMPY":
        raise ArrayError("%s is no .npy file" % name)
    start, length = (10, struct.unpack("<H", data[8:10])[0]) if data[6] == 1 else (
        12, struct.unpack("<I", data[8:12])[0])
    header = data[start:start + length].decode("latin-1")
    if "'fortran_order': False" not in header:
        raise ArrayError("%s is not in row-major order" % name)
    shape = re.search(r"'shape': \(([^)]*)\)", header).group(1)
    return Array(re.search(r"'descr': '([^']*)'", header).group(1),
                 [int(size) for size in shape.replace(",", " ").split()], data[start + length:])


def encode(array):
    """The bytes of an .npy file."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        array.descr, "".join("%d, " % size for size in array.shape))
    header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1") + array.data


def read_archive(path):
    """The arrays of an .npz file by name."""
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): decode(archive.read(name), "%s in %s" % (name, path))
                for name in archive.namelist()}


def write_archive(path, arrays):
    """Writes a list of arrays as arr_0, arr_1, ..."""
    with zipfile.ZipFile(path, "w") as archive:
        for index, array in enumerate(arrays):
            archive.writestr("arr_%d.npy" % index, encode(array))


def read_array(path):
    """The array of an .npy file, or of a member `x.npz:name`."""
    archive, _, member = path.partition(".npz:")
    if member:
        arrays = read_archive(archive + ".npz")
        if member not in arrays:
            raise ArrayError("%s.npz has no member '%s'" % (archive, member))
        return arrays[member]
    with open(path, "rb") as file:
        return decode(file.read(), path)


def write_array(path, array):
    with open(path, "wb") as file:
        file.write(encode(array))


def largest_error(got, want):
    """The largest difference; infinite where only one is NaN, or infinities differ."""
    if got.shape != want.shape:
        raise ArrayError("expected a result of %s, got %s" % (want.shape, got.shape))
    error = 0.0
    for left, right in zip(got.numbers(), want.numbers()):
        same = left == right or math.isnan(left) and math.isnan(right)
        difference = 0.0 if same else abs(left - right)
        error = max(error, math.inf if math.isnan(difference) else difference)
    return error
