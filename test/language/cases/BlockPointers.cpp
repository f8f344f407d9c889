// SPDX-License-Identifier: Apache-2.0
// Block pointers: ragged edges, padding, orders, ranks 1 to 3, moved in loops, chosen at run time,
// handed to helpers and kept in tuples.
#include "test/language/Case.h"

#include <cmath>

namespace nereid::conformance {
namespace {

constexpr int64_t rows = 5, columns = 7, pitch = 9;

/// A of 5 x 7 elements in rows of 9; blocks of 4 x 4 by the program ids.
Case gridCase(const std::string &builtin, const std::string &title, const std::string &body,
              const std::vector<DType> &types) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = types;
  one.source = "@triton.jit\ndef kernel(A, OUT, columns, pitch, rows):\n"
               "    at = (tl.program_id(0) * 4, tl.program_id(1) * 4)\n" +
               body;
  one.integers = {{"columns", columns}, {"pitch", pitch}, {"rows", rows}};
  one.tensors = {{"A", rows * pitch, Fill::Normal}, {"OUT", 64, Fill::Poison}};
  one.grid = {2, 2, 1};
  return one;
}

const std::string source =
    "tl.make_block_ptr(A, shape=(rows, columns), strides=(pitch, 1), offsets=at, "
    "block_shape=(4, 4), order=(1, 0))";
const std::string target = "tl.make_block_ptr(OUT, (8, 8), (8, 1), at, (4, 4), (1, 0))";

Number elementOr(Run &run, int64_t i, int64_t j, Number padding) {
  bool isInside = i >= 0 && j >= 0 && i < rows && j < columns;
  return isInside ? run.in("A")[static_cast<size_t>(i * pitch + j)] : padding;
}

void addRagged(Cases &cases) {
  std::vector<DType> stored = numbers + float8s + std::vector<DType>{DType::Bool};
  for (bool isNan : {false, true}) {
    Case one =
        gridCase("tl.make_block_ptr", isNan ? "padding nan" : "padding zero",
                 "    block = tl.load(" + source + ", boundary_check=(0, 1), padding_option='" +
                     (isNan ? "nan" : "zero") + "')\n    tl.store(" + target + ", block)\n",
                 isNan ? floats + float8sWithNan : stored);
    one.reference = [isNan](Run &run) {
      for (int64_t i = 0; i < 8; ++i) {
        for (int64_t j = 0; j < 8; ++j) {
          run.expect("OUT", i * 8 + j, elementOr(run, i, j, isNan ? NAN : 0));
        }
      }
    };
    cases.push_back(one);
  }
  Case one = gridCase("tl.store", "block pointer, ragged",
                      "    out = tl.make_block_ptr(OUT, (rows, columns), (8, 1), at, (4, 4), "
                      "(1, 0))\n    block = tl.load(" +
                          source +
                          ", boundary_check=[0, 1])\n"
                          "    tl.store(out, block, boundary_check=(1, 0))\n",
                      stored);
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        run.expect("OUT", i * 8 + j, elementOr(run, i, j, 0));
      }
    }
  };
  cases.push_back(one);
  one = gridCase("tl.make_block_ptr", "transposed",
                 "    turned = tl.make_block_ptr(A, (columns, rows), (1, pitch), (at[1], at[0]), "
                 "(4, 4), (0, 1))\n    block = tl.load(turned, boundary_check=(0, 1))\n"
                 "    tl.store(" +
                     target + ", tl.trans(block))\n",
                 numbers);
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t j = 0; j < 8; ++j) {
        run.expect("OUT", i * 8 + j, elementOr(run, i, j, 0));
      }
    }
  };
  cases.push_back(one);
  one = gridCase("tl.make_block_ptr", "one checked dimension",
                 "    wide = tl.make_block_ptr(A, (rows, pitch), (pitch, 1), (2, 4), (4, 4), "
                 "(1, 0))\n    block = tl.load(wide, boundary_check=(0,))\n"
                 "    tl.store(tl.make_block_ptr(OUT, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0)), "
                 "block)\n",
                 numbers);
  one.grid = {1, 1, 1};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        run.expect("OUT", i * 4 + j,
                   i + 2 < rows ? run.in("A")[static_cast<size_t>((i + 2) * pitch + j + 4)] : 0);
      }
    }
  };
  cases.push_back(one);
  one = gridCase("tl.advance", "before the start",
                 "    p = tl.advance(" + source +
                     ", (-2, -1))\n"
                     "    tl.store(" +
                     target + ", tl.load(p, boundary_check=(0, 1)))\n",
                 numbers);
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t j = 0; j < 8; ++j) {
        run.expect("OUT", i * 8 + j, elementOr(run, i - 2, j - 1, 0));
      }
    }
  };
  cases.push_back(one);
}

/// Sums of the rows of a 4 x 10 matrix in blocks of four columns.
Case sumCase(const std::string &title, const std::string &helpers, const std::string &body) {
  Case one;
  one.builtin = "tl.advance";
  one.title = title;
  one.types = {DType::I32, DType::F32};
  one.source = helpers +
               "@triton.jit\ndef kernel(A, OUT, n):\n"
               "    p = tl.make_block_ptr(A, (4, n), (n, 1), (0, 0), (4, 4), (1, 0))\n"
               "    acc = tl.zeros((4,), A.dtype.element_ty)\n" +
               body + "    tl.store(OUT + tl.arange(0, 4), acc)\n";
  one.integers = {{"n", 10}};
  one.tensors = {{"A", 40, Fill::Small}, {"OUT", 4, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 4; ++i) {
      Number sum = 0;
      for (int64_t j = 0; j < 10; ++j) {
        sum += run.in("A")[static_cast<size_t>(i * 10 + j)];
      }
      run.expect("OUT", i, sum);
    }
  };
  return one;
}

void addMoving(Cases &cases) {
  cases.push_back(sumCase("in a for loop", "",
                          "    for k in range(0, n, 4):\n"
                          "        acc += tl.sum(tl.load(p, boundary_check=(1,)), 1)\n"
                          "        p = tl.advance(p, (0, 4))\n"));
  cases.push_back(sumCase("in a while loop", "",
                          "    k = 0\n    while k < n:\n"
                          "        acc += tl.sum(tl.load(p, boundary_check=(0, 1)), 1)\n"
                          "        p = p.advance((0, 4))\n        k += 4\n"));
  cases.push_back(sumCase("in a helper and a tuple",
                          "@triton.jit\ndef step(pair):\n"
                          "    p, acc = pair\n"
                          "    acc += tl.sum(tl.load(p, boundary_check=(1,)), 1)\n"
                          "    return tl.advance(p, [0, 4]), acc\n\n",
                          "    pair = (p, acc)\n"
                          "    for k in range(0, n, 4):\n        pair = step(pair)\n"
                          "    acc = pair[1]\n"));
  cases.push_back(sumCase("under a run-time if", "",
                          "    for k in range(0, 2 * n, 4):\n"
                          "        if k % 8 == 0:\n"
                          "            acc += tl.sum(tl.load(p, boundary_check=(1,)), 1)\n"
                          "            p = tl.advance(p, (0, 4))\n"));
  cases.push_back(sumCase("with another base in each iteration", "",
                          "    for k in range(0, n, 4):\n"
                          "        acc += tl.sum(tl.load(p, boundary_check=(1,)), 1)\n"
                          "        p = tl.make_block_ptr(A + k + 4, (4, n - k - 4), (n, 1), "
                          "(0, 0), (4, 4), (1, 0))\n"));
}

void addRanks(Cases &cases) {
  Case one;
  one.builtin = "tl.make_block_ptr";
  one.title = "rank 1";
  one.types = numbers;
  one.source = "@triton.jit\ndef kernel(A, OUT, n):\n"
               "    p = tl.make_block_ptr(A, (n,), (2,), (tl.program_id(0) * 8,), (8,), (0,))\n"
               "    q = tl.make_block_ptr(OUT, (n,), (1,), (tl.program_id(0) * 8,), (8,), (0,))\n"
               "    tl.store(q, tl.load(p, boundary_check=(0,)), boundary_check=(0,))\n";
  one.integers = {{"n", 21}};
  one.tensors = {{"A", 41, Fill::Normal}, {"OUT", 24, Fill::Poison}};
  one.grid = {3, 1, 1};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 21; ++i) {
      run.expect("OUT", i, run.in("A")[static_cast<size_t>(2 * i)]);
    }
  };
  cases.push_back(one);
  one.title = "rank 3";
  one.source = "@triton.jit\ndef kernel(A, OUT, n):\n"
               "    p = tl.make_block_ptr(A, (3, n, 5), (n * 5, 5, 1), (0, 1, 2), (4, 4, 4), "
               "(2, 1, 0))\n"
               "    q = tl.make_block_ptr(OUT, (4, 4, 4), (16, 4, 1), (0, 0, 0), (4, 4, 4), "
               "(2, 1, 0))\n"
               "    tl.store(q, tl.load(p, boundary_check=(0, 1, 2)))\n";
  one.integers = {{"n", 4}};
  one.tensors = {{"A", 60, Fill::Normal}, {"OUT", 64, Fill::Poison}};
  one.grid = {1, 1, 1};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      int64_t x = i / 16, y = i / 4 % 4 + 1, z = i % 4 + 2;
      bool isInside = x < 3 && y < 4 && z < 5;
      run.expect("OUT", i,
                 isInside ? run.in("A")[static_cast<size_t>(x * 20 + y * 5 + z)] : Number(0));
    }
  };
  cases.push_back(one);
}

} // namespace

void addBlockPointers(Cases &cases) {
  addRagged(cases);
  addMoving(cases);
  addRanks(cases);
}

} // namespace nereid::conformance
