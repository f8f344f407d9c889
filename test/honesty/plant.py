#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one fault in a file of kernels: test/honesty/plant.py "no mask" FILE.py"""
import pathlib
import sys

from plants import LARGE_PLANTS, PLANTS
from syntax import edited


def main():
    path = pathlib.Path(sys.argv[2])
    text = edited(path.read_text(), (PLANTS | LARGE_PLANTS)[sys.argv[1]])
    if text is None:
        sys.exit(f"'{sys.argv[1]}' does not apply to {path}")
    path.write_text(text)


if __name__ == "__main__":
    main()
