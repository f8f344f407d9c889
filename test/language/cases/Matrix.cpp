// SPDX-License-Identifier: Apache-2.0
// Matrix products of small whole numbers, which every order of summation gives exactly.
#include "test/language/Case.h"

namespace nereid::conformance {
namespace {

Case product(const std::string &title, std::vector<DType> types, const std::string &body,
             DType result, int64_t batch = 1) {
  Case one;
  one.builtin = "tl.dot";
  one.title = title;
  one.types = std::move(types);
  one.source =
      "@triton.jit\ndef kernel(A, B, OUT):\n    m = tl.arange(0, 16)\n    n = tl.arange(0, 32)\n"
      "    k = tl.arange(0, 64)\n" +
      body;
  one.tensors = {{"A", batch * 16 * 64, Fill::Small},
                 {"B", batch * 64 * 32, Fill::Small},
                 {"OUT", batch * 16 * 32, Fill::Poison, {result}}};
  one.reference = [batch](Run &run) {
    for (int64_t p = 0; p < batch; ++p) {
      for (int64_t i = 0; i < 16; ++i) {
        for (int64_t j = 0; j < 32; ++j) {
          Number sum = 0;
          for (int64_t k = 0; k < 64; ++k) {
            sum += run.in("A")[static_cast<size_t>((p * 16 + i) * 64 + k)] *
                   run.in("B")[static_cast<size_t>((p * 64 + k) * 32 + j)];
          }
          run.expect("OUT", (p * 16 + i) * 32 + j, sum);
        }
      }
    }
  };
  return one;
}

/// Columns that a remainder makes of numbers below zero, at it and above: neighbours in memory, but
/// for the first one of a whole multiple.
Case wrappedColumns() {
  Case one;
  one.builtin = "tl.dot";
  one.title = "columns behind a remainder, from below zero on";
  one.types = {DType::F16, DType::BF16, DType::F32};
  one.source = R"(@triton.jit
def kernel(A, B, OUT):
    m = tl.arange(0, 16)
    n = tl.arange(0, 32)
    first = tl.program_id(0) * 32 - 64
    columns = (first + n) % 64
    c = tl.zeros((16, 32), dtype=tl.float32)
    for start in range(0, 64, 16):
        k = start + tl.arange(0, 16)
        a = tl.load(A + m[:, None] * 64 + k[None, :])
        b = tl.load(B + 64 + k[:, None] * 128 + columns[None, :])
        c = tl.dot(a, b, c)
    tl.store(OUT + tl.program_id(0) * 512 + m[:, None] * 32 + n[None, :], c)
)";
  one.tensors = {{"A", 16 * 64, Fill::Small},
                 {"B", 64 * 128, Fill::Small},
                 {"OUT", 4 * 16 * 32, Fill::Poison, {DType::F32}}};
  one.grid = {4, 1, 1};
  one.reference = [](Run &run) {
    for (int64_t program = 0; program < 4; ++program) {
      for (int64_t i = 0; i < 16; ++i) {
        for (int64_t j = 0; j < 32; ++j) {
          const int64_t column = 64 + (program * 32 - 64 + j) % 64;
          Number sum = 0;
          for (int64_t k = 0; k < 64; ++k) {
            sum += run.in("A")[static_cast<size_t>(i * 64 + k)] *
                   run.in("B")[static_cast<size_t>(k * 128 + column)];
          }
          run.expect("OUT", (program * 16 + i) * 32 + j, sum);
        }
      }
    }
  };
  return one;
}

} // namespace

void addMatrix(Cases &cases) {
  const std::string a = "    a = tl.load(A + m[:, None] * 64 + k[None, :])\n";
  const std::string b = "    b = tl.load(B + k[:, None] * 32 + n[None, :])\n";
  const std::string store = "    tl.store(OUT + m[:, None] * 32 + n[None, :], c)\n";
  const std::vector<DType> real = {DType::F16, DType::BF16, DType::F32};
  cases.push_back(product("floats", real, a + b + "    c = tl.dot(a, b)\n" + store, DType::F32));
  cases.push_back(
      product("float64", {DType::F64}, a + b + "    c = tl.dot(a, b)\n" + store, DType::F64));
  cases.push_back(
      product("int8", {DType::I8}, a + b + "    c = tl.dot(a, b)\n" + store, DType::I32));
  // Of bytes the sums are int32, whatever is asked for: 64 products do not fit a byte.
  for (const char *type : {"int8", "int32", "int64", "float32"}) {
    cases.push_back(product(std::string("bytes to ") + type, {DType::I8, DType::U8},
                            a + b + "    c = tl.dot(a, b, out_dtype=tl." + type +
                                ")\n    tl.static_assert(c.dtype == tl.int32)\n" + store,
                            DType::I32));
  }
  cases.push_back(product("unsigned numbers of the whole range", {DType::U8},
                          a + b + "    c = tl.dot(a, b)\n" + store, DType::I32));
  cases.back().tensors[0].fill = cases.back().tensors[1].fill = Fill::Normal;
  for (const char *precision : {"tf32x3", "bf16x3", "bf16x6"}) {
    cases.push_back(product(
        precision, {DType::F32},
        a + b + "    c = tl.dot(a, b, input_precision='" + precision + "')\n" + store, DType::F32));
  }
  cases.push_back(product("a batch of two dimensions", real,
                          "    a = tl.load(A + tl.arange(0, 4096)).reshape(2, 2, 16, 64)\n"
                          "    b = tl.load(B + tl.arange(0, 8192)).reshape(2, 2, 64, 32)\n"
                          "    c = tl.dot(a, b, tl.full((2, 2, 16, 32), 1.0, tl.float32)) - 1\n"
                          "    tl.store(OUT + tl.arange(0, 2048), c.reshape(2048))\n",
                          DType::F32, 4));
  cases.push_back(product(
      "accumulator", real,
      a + b +
          "    c = tl.full((16, 32), 3.0, tl.float32)\n    c = tl.dot(a, b, acc=c)\n    c -= 3\n" +
          store,
      DType::F32));
  cases.push_back(product("precision", {DType::F32},
                          a + b + "    c = tl.dot(a, b, input_precision='ieee')\n" + store,
                          DType::F32));
  cases.push_back(product("transposed operands", real,
                          "    a = tl.load(A + m[None, :] * 64 + k[:, None]).T\n"
                          "    b = tl.trans(tl.load(B + k[None, :] * 32 + n[:, None]))\n"
                          "    c = tl.dot(a, b)\n" +
                              store,
                          DType::F32));
  cases.push_back(
      product("loop over K", real,
              "    c = tl.zeros((16, 32), dtype=tl.float32)\n"
              "    for start in range(0, 64, 16):\n        s = start + tl.arange(0, 16)\n"
              "        a = tl.load(A + m[:, None] * 64 + s[None, :])\n"
              "        b = tl.load(B + s[:, None] * 32 + n[None, :])\n        c += tl.dot(a, b)\n" +
                  store,
              DType::F32));
  cases.push_back(
      product("batched", real,
              "    p = tl.arange(0, 2)[:, None, None]\n"
              "    a = tl.load(A + p * 1024 + m[None, :, None] * 64 + k[None, None, :])\n"
              "    b = tl.load(B + p * 2048 + k[None, :, None] * 32 + n[None, None, :])\n"
              "    c = tl.dot(a, b)\n"
              "    tl.store(OUT + p * 512 + m[None, :, None] * 32 + n[None, None, :], c)\n",
              DType::F32, 2));
  cases.push_back(wrappedColumns());
}

} // namespace nereid::conformance
