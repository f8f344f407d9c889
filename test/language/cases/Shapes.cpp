// SPDX-License-Identifier: Apache-2.0
// Making tiles and moving their elements: each case says which element of A (and B) comes where.
#include "test/language/Case.h"

namespace nereid::conformance {
namespace {

/// A kernel on the 4x8 tiles x (of A) and y (of B) whose result `expression` is stored in row-major
/// order by a pointer tile over `rows` x `columns`, or over one dimension when `rows` is 0.
Case moving(const std::string &builtin, const std::string &title, const std::string &body,
            const std::string &expression, int64_t rows, int64_t columns,
            std::function<Number(const Run &, int64_t)> element) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = numbers + std::vector<DType>{DType::Bool};
  std::string at = rows == 0 ? "tl.arange(0, " + std::to_string(columns) + ")"
                             : "tl.arange(0, " + std::to_string(rows) + ")[:, None] * " +
                                   std::to_string(columns) + " + tl.arange(0, " +
                                   std::to_string(columns) + ")[None, :]";
  one.source = "@triton.jit\ndef kernel(A, B, OUT):\n"
               "    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
               "    x = tl.load(A + at)\n    y = tl.load(B + at)\n" +
               body + "    tl.store(OUT + " + at + ", " + expression + ")\n";
  int64_t count = std::max<int64_t>(rows, 1) * columns;
  one.tensors = {
      {"A", 32, Fill::Normal}, {"B", 32, Fill::Normal}, {"OUT", count + 5, Fill::Poison}};
  one.reference = [element, count](Run &run) {
    for (int64_t i = 0; i < count; ++i) {
      run.expect("OUT", i, element(run, i));
    }
  };
  return one;
}

Number a(const Run &run, int64_t row, int64_t column) {
  return run.in("A")[static_cast<size_t>(row * 8 + column)];
}
Number b(const Run &run, int64_t row, int64_t column) {
  return run.in("B")[static_cast<size_t>(row * 8 + column)];
}

Case creating(const std::string &builtin, const std::string &title, const std::string &expression,
              Number (*element)(DType, int64_t)) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = numbers;
  one.source = "@triton.jit\ndef kernel(OUT):\n    i = tl.arange(0, 16)\n    tl.store(OUT + i, " +
               expression + ")\n";
  one.tensors = {{"OUT", 16, Fill::Poison}};
  one.reference = [element](Run &run) {
    for (int64_t i = 0; i < 16; ++i) {
      run.expect("OUT", i, element(run.type, i));
    }
  };
  return one;
}

} // namespace

void addShapes(Cases &cases) {
  auto add = [&](Case one) { cases.push_back(std::move(one)); };
  auto transposed = [](const Run &run, int64_t i) { return a(run, i % 4, i / 4); };
  auto straight = [](const Run &run, int64_t i) { return a(run, i / 8, i % 8); };
  add(moving("tl.trans", "function", "", "tl.trans(x)", 8, 4, transposed));
  add(moving("tl.trans", "attribute", "", "x.T", 8, 4, transposed));
  add(moving("tl.trans", "dims", "", "tl.trans(x, 1, 0)", 8, 4, transposed));
  add(moving("tl.permute", "tuple", "", "tl.permute(x, (1, 0))", 8, 4, transposed));
  add(moving("tl.permute", "rank 3", "    z = tl.permute(tl.reshape(x, (2, 2, 8)), (2, 0, 1))\n",
             "tl.reshape(z, (8, 4))", 8, 4, transposed));
  add(moving("tl.reshape", "to 1-D", "", "tl.reshape(x, (32,))", 0, 32, straight));
  add(moving("tl.reshape", "to 8x4", "", "tl.reshape(x, 8, 4)", 8, 4, straight));
  add(moving(
      "tl.reshape", "to 9 dimensions",
      "    z = tl.reshape(x, (2, 1, 2, 2, 1, 2, 1, 2, 1)) + 0\n    z = tl.reshape(z, (4, 8))\n",
      "z", 4, 8, straight));
  add(moving("tl.view", "", "", "tl.view(x, (2, 16))", 2, 16, straight));
  add(moving("tl.ravel", "", "", "tl.ravel(x)", 0, 32, straight));
  add(moving("tl.unsqueeze", "", "    r = tl.load(A + tl.arange(0, 8))\n",
             "tl.broadcast_to(tl.unsqueeze(r, 0), (4, 8))", 4, 8,
             [](const Run &run, int64_t i) { return a(run, 0, i % 8); }));
  add(moving("tl.squeeze", "", "    s = tl.squeeze(x[:, None, :], 1)\n",
             "tl.squeeze(s[None, :, :], -3)", 4, 8,
             [](const Run &run, int64_t i) { return a(run, i / 8, i % 8); }));
  add(moving(".item", "", "    s = tl.load(A + tl.arange(0, 1) + 3).item()\n",
             "tl.broadcast_to(s, (4, 8))", 4, 8,
             [](const Run &run, int64_t) { return a(run, 0, 3); }));
  add(moving("tl.expand_dims", "by slices of None", "    r = tl.load(A + tl.arange(0, 8))\n",
             "tl.broadcast_to(r[None, None, None:None].reshape(1, 8)[None:, ::None], (4, 8))", 4, 8,
             [](const Run &run, int64_t i) { return a(run, 0, i % 8); }));
  add(moving("tl.expand_dims", "of a scalar", "    s = tl.load(A + 3)[None, None, :]\n",
             "tl.broadcast_to(s, (4, 8))", 4, 8,
             [](const Run &run, int64_t) { return a(run, 0, 3); }));
  add(moving("tl.expand_dims", "", "    r = tl.load(A + tl.arange(0, 8))\n",
             "tl.broadcast_to(tl.expand_dims(r, 0), (4, 8))", 4, 8,
             [](const Run &run, int64_t i) { return a(run, 0, i % 8); }));
  add(moving("tl.broadcast_to", "columns", "    r = tl.load(A + tl.arange(0, 4) * 8)\n",
             "tl.broadcast_to(r[:, None], (4, 8))", 4, 8,
             [](const Run &run, int64_t i) { return a(run, i / 8, 0); }));
  add(moving("tl.broadcast", "",
             "    r = tl.load(A + tl.arange(0, 8))\n    p, q = tl.broadcast(r[None, :], y)\n", "p",
             4, 8, [](const Run &run, int64_t i) { return a(run, 0, i % 8); }));
  add(moving("tl.join", "", "", "tl.reshape(tl.join(x, y), (4, 16))", 4, 16,
             [](const Run &run, int64_t i) {
               return i % 2 == 0 ? a(run, i / 16, i % 16 / 2) : b(run, i / 16, i % 16 / 2);
             }));
  add(moving("tl.split", "left", "    p, q = tl.split(tl.reshape(x, (4, 4, 2)))\n", "p", 4, 4,
             [](const Run &run, int64_t i) { return a(run, i / 4, i % 4 * 2); }));
  add(moving("tl.split", "right", "    p, q = tl.split(tl.reshape(x, (4, 4, 2)))\n", "q", 4, 4,
             [](const Run &run, int64_t i) { return a(run, i / 4, i % 4 * 2 + 1); }));
  add(moving("tl.interleave", "", "", "tl.interleave(x, y)", 4, 16, [](const Run &run, int64_t i) {
    return i % 2 == 0 ? a(run, i / 16, i % 16 / 2) : b(run, i / 16, i % 16 / 2);
  }));
  add(moving("tl.cat", "", "", "tl.cat(tl.ravel(x), tl.ravel(y), can_reorder=True)", 0, 64,
             [](const Run &run, int64_t i) {
               return run.in(i < 32 ? "A" : "B")[static_cast<size_t>(i % 32)];
             }));
  add(moving("tl.flip", "last", "", "tl.flip(x, 1)", 4, 8,
             [](const Run &run, int64_t i) { return a(run, i / 8, 7 - i % 8); }));
  add(moving("tl.flip", "first", "", "tl.flip(x, 0)", 4, 8,
             [](const Run &run, int64_t i) { return a(run, 3 - i / 8, i % 8); }));
  add(moving("tl.gather", "columns",
             "    at = (tl.arange(0, 4)[:, None] + 3 * tl.arange(0, 4)[None, :]) % 8\n",
             "tl.gather(x, at, 1)", 4, 4,
             [](const Run &run, int64_t i) { return a(run, i / 4, (i / 4 + 3 * (i % 4)) % 8); }));
  add(moving("tl.gather", "rows",
             "    at = (tl.arange(0, 2)[:, None] + tl.arange(0, 8)[None, :]) % 4\n",
             "tl.gather(x, at, 0)", 2, 8,
             [](const Run &run, int64_t i) { return a(run, (i / 8 + i % 8) % 4, i % 8); }));

  add(creating("tl.arange", "", "i.to($T)", [](DType, int64_t i) -> Number { return i; }));
  add(creating("tl.arange", "offset", "tl.arange(16, 32).to($T)",
               [](DType, int64_t i) -> Number { return i + 16; }));
  add(creating("tl.full", "", "tl.full((16,), 3, $T)", [](DType, int64_t) -> Number { return 3; }));
  add(creating("tl.zeros", "", "tl.zeros((16,), dtype=$T)",
               [](DType, int64_t) -> Number { return 0; }));
  add(creating("tl.zeros_like", "", "tl.zeros_like(i.to($T))",
               [](DType, int64_t) -> Number { return 0; }));
}

} // namespace nereid::conformance
