# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails unless two archives have the same members, byte for byte: same-members.py A.npz B.npz"""
import sys
import zipfile


def read(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


first, second = map(read, sys.argv[1:])
assert first.keys() == second.keys() and len(first) == 3, (first.keys(), second.keys())
for member in first:
    assert first[member] == second[member], member
