# SPDX-License-Identifier: Apache-2.0
"""Reads and writes one-dimensional .npy files with the standard library alone."""

import array
import ast
import struct

FORMATS = {"fp32": ("<f4", "f"), "fp64": ("<f8", "d"), "i8": ("|i1", "b"), "u8": ("|u1", "B"),
           "i16": ("<i2", "h"), "i32": ("<i4", "i"), "i64": ("<i8", "q"), "i1": ("|b1", "B")}


def write(path, kind, values):
    descriptor, code = FORMATS[kind]
    header = f"{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array(code, values).tobytes())


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    code = next(c for d, c in FORMATS.values() if d.lstrip("|<") == header["descr"].lstrip("|<"))
    values = array.array(code)
    values.frombytes(data[10 + size:])
    return list(values)


def rounded(kind, value):
    """The value as an element of this type holds it."""
    code = FORMATS[kind][1]
    return struct.unpack(code, struct.pack(code, value))[0]
