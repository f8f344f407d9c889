// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors, made in the kernel and by the host: blocks over the edges, rows picked by
// number, atomic updates.
#include "test/language/Case.h"

#include <cmath>

namespace nereid::conformance {
namespace {

constexpr int64_t rows = 5, columns = 23, pitch = 24;

const std::vector<DType> stored = numbers + float8s;

/// A of 5 x 23 elements in rows of 24, OUT the same; `a` and `out` are descriptors with blocks of
/// the text, whose rows have 16 bytes at least.
Case gridCase(const std::string &builtin, const std::string &title, const std::string &block,
              const std::string &body, const std::vector<DType> &types = stored) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = types;
  auto made = [&](const std::string &name, const std::string &base) {
    return "    " + name + " = tl.make_tensor_descriptor(" + base +
           ", shape=[rows, columns], strides=[pitch, 1], block_shape=[" + block + "])\n";
  };
  one.source = "@triton.jit\ndef kernel(A, OUT, columns, pitch, rows):\n"
               "    x = tl.program_id(0) * 4\n    y = tl.program_id(1) * 16\n" +
               made("a", "A") + made("out", "OUT") + body;
  one.integers = {{"columns", columns}, {"pitch", pitch}, {"rows", rows}};
  one.tensors = {{"A", rows * pitch, Fill::Normal}, {"OUT", rows * pitch, Fill::Poison}};
  one.grid = {2, 2, 1};
  return one;
}

Number at(Run &run, int64_t i, int64_t j, Number padding = 0) {
  bool isInside = i >= 0 && j >= 0 && i < rows && j < columns;
  return isInside ? run.in("A")[static_cast<size_t>(i * pitch + j)] : padding;
}

/// Every element of OUT inside the sizes by its row and column; the pitch's rest stays.
std::function<void(Run &)> everyElement(std::function<Number(Run &, int64_t, int64_t)> value) {
  return [value = std::move(value)](Run &run) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        run.expect("OUT", i * pitch + j, value(run, i, j));
      }
    }
  };
}

void addBlocks(Cases &cases) {
  Case one = gridCase("tl.make_tensor_descriptor", "copy", "4, 16",
                      "    out.store([x, y], a.load([x, y]))\n");
  one.reference = everyElement([](Run &run, int64_t i, int64_t j) { return at(run, i, j); });
  cases.push_back(one);
  one.builtin = "descriptor.store";
  cases.push_back(one);
  one = gridCase("tl.load_tensor_descriptor", "copy by functions", "4, 16",
                 "    block = tl.load_tensor_descriptor(a, [x, y])\n"
                 "    tl.store_tensor_descriptor(out, [x, y], block)\n");
  one.reference = everyElement([](Run &run, int64_t i, int64_t j) { return at(run, i, j); });
  cases.push_back(one);
  one.builtin = "tl.store_tensor_descriptor";
  cases.push_back(one);
  one = gridCase("descriptor.load", "outside reads zero", "4, 16",
                 "    out.store([x, y], a.load([x - 1, y + 2]))\n");
  one.reference =
      everyElement([](Run &run, int64_t i, int64_t j) { return at(run, i - 1, j + 2); });
  cases.push_back(one);
  one = gridCase("descriptor.load", "outside reads nan", "4, 16",
                 "    a = tl.make_tensor_descriptor(A, [rows, columns], [pitch, 1], [4, 16], "
                 "padding_option='nan')\n    out.store([x, y], a.load([x + 1, y - 1]))\n",
                 floats + float8sWithNan);
  one.reference =
      everyElement([](Run &run, int64_t i, int64_t j) { return at(run, i + 1, j - 1, NAN); });
  cases.push_back(one);
  one = gridCase("descriptor.load", "attributes", "4, 16",
                 "    tl.static_assert(a.dtype == $T)\n"
                 "    tl.static_assert(a.block_shape[0] == 4 and a.block_shape[1] == 16)\n"
                 "    last = (a.shape[0] - 1).to(tl.int32)\n"
                 "    if x <= last:\n        out.store([x, y], a.load([x, y]))\n");
  one.reference = everyElement([](Run &run, int64_t i, int64_t j) { return at(run, i, j); });
  cases.push_back(one);
}

void addRows(Cases &cases) {
  Case one = gridCase("descriptor.gather", "rows", "1, 32",
                      "    i = tl.arange(0, 8)\n    block = a.gather(i * 3 % 8 - 1, 2)\n"
                      "    j = tl.arange(0, 32)[None, :]\n"
                      "    inside = (i[:, None] < rows) & (j < columns)\n"
                      "    tl.store(OUT + i[:, None] * pitch + j, block, mask=inside)\n");
  one.grid = {1, 1, 1};
  one.reference =
      everyElement([](Run &run, int64_t i, int64_t j) { return at(run, i * 3 % 8 - 1, j + 2); });
  cases.push_back(one);
  one = gridCase("descriptor.scatter", "rows", "1, 16",
                 "    i = tl.arange(0, 8)\n    j = tl.arange(0, 16)[None, :]\n"
                 "    block = tl.load(A + i[:, None] % rows * pitch + j)\n"
                 "    out.scatter(block, i * 3 % 8 - 1, 21)\n");
  one.grid = {1, 1, 1};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        if (int64_t row = i * 3 % 8 - 1; row >= 0 && row < rows) {
          run.expect("OUT", row * pitch + 21 + j, at(run, i % rows, j));
        }
      }
    }
  };
  cases.push_back(one);
}

void addUpdates(Cases &cases) {
  using Update = __int128 (*)(__int128, __int128);
  const std::vector<DType> words = {DType::I32, DType::I64, DType::U32, DType::U64};
  const std::pair<std::string, Update> updates[] = {
      {"atomic_add", [](__int128 a, __int128 b) { return a + b; }},
      {"atomic_max", [](__int128 a, __int128 b) { return a > b ? a : b; }},
      {"atomic_min", [](__int128 a, __int128 b) { return a < b ? a : b; }},
      {"atomic_and", [](__int128 a, __int128 b) { return a & b; }},
      {"atomic_or", [](__int128 a, __int128 b) { return a | b; }},
      {"atomic_xor", [](__int128 a, __int128 b) { return a ^ b; }},
  };
  for (const auto &[name, apply] : updates) {
    bool isArithmetic = name == "atomic_add" || name == "atomic_max" || name == "atomic_min";
    Case one = gridCase("descriptor." + name, "over the edges", "4, 16",
                        "    out." + name + "([x, y], a.load([x, y]))\n",
                        isArithmetic ? words + floats : words);
    for (Tensor &tensor : one.tensors) {
      tensor.fill = Fill::Small;
    }
    one.reference = [apply = apply](Run &run) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          Number before = run.in("OUT")[static_cast<size_t>(i * pitch + j)];
          __int128 after =
              apply(static_cast<__int128>(before), static_cast<__int128>(at(run, i, j)));
          run.expect("OUT", i * pitch + j, static_cast<Number>(after));
        }
      }
    };
    cases.push_back(one);
  }
}

void addHostMade(Cases &cases) {
  Case one;
  one.builtin = "descriptor.load";
  one.title = "made by the host";
  one.types = stored;
  one.source = "@triton.jit\ndef kernel(a, out):\n"
               "    for x in range(0, tl.cdiv(a.shape[0], 4) * 4, 4):\n"
               "        for y in range(0, tl.cdiv(a.shape[1], 2) * 2, 2):\n"
               "            block = a.load([x.to(tl.int32), y.to(tl.int32)])\n"
               "            out.store([y.to(tl.int32), x.to(tl.int32)], tl.trans(block))\n";
  one.tensors = {{"a", 35, Fill::Normal, {}, "4,2", {5, 7}},
                 {"out", 35, Fill::Poison, {}, "2,4", {7, 5}}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        run.expect("out", j * 5 + i, run.in("a")[static_cast<size_t>(i * 7 + j)]);
      }
    }
  };
  cases.push_back(one);
  one.title = "made by the host, padded with nan";
  one.types = floats + float8sWithNan;
  one.source = "@triton.jit\ndef kernel(a, out):\n"
               "    out.store([0, 0], a.load([2, -1]))\n";
  one.tensors = {{"a", 35, Fill::Normal, {}, "4,16", {5, 7}, true},
                 {"out", 64, Fill::Poison, {}, "4,16", {4, 16}}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        bool isInside = i + 2 < 5 && j >= 1 && j - 1 < 7;
        run.expect("out", i * 16 + j,
                   isInside ? run.in("a")[static_cast<size_t>((i + 2) * 7 + j - 1)] : Number(NAN));
      }
    }
  };
  cases.push_back(one);
  one.title = "made by the host, rank 3, in a helper";
  one.types = {DType::F32, DType::I16};
  one.source = "@triton.jit\ndef move(a, out, z):\n"
               "    out.store([z, 0, 0], a.load([z, 0, 0]))\n\n"
               "@triton.jit\ndef kernel(a, out):\n"
               "    move(a, out, tl.program_id(0) * 2)\n";
  one.tensors = {{"a", 45, Fill::Normal, {}, "2,4,8", {3, 3, 5}},
                 {"out", 45, Fill::Poison, {}, "2,4,8", {3, 3, 5}}};
  one.grid = {2, 1, 1};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 45; ++i) {
      run.expect("out", i, run.in("a")[static_cast<size_t>(i)]);
    }
  };
  cases.push_back(one);
}

} // namespace

void addDescriptors(Cases &cases) {
  addBlocks(cases);
  addRows(cases);
  addUpdates(cases);
  addHostMade(cases);
}

} // namespace nereid::conformance
