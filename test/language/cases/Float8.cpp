// SPDX-License-Identifier: Apache-2.0
// 8-bit floats: all 256 bit patterns by a table of their values, conversions by a search in that
// table, arithmetic through float32, loads and stores.
#include "test/language/Case.h"

#include <algorithm>
#include <cmath>

namespace nereid::conformance {
namespace {

/// The value of every bit pattern, counted up from the smallest: the exponent doubles the step
/// every 2^mantissa codes from the second binade on.
std::vector<Number> tableOf(DType type) {
  bool isBrief = type == DType::F8E4B15; // largest number below 2
  bool isFour = isBrief || type == DType::F8E4M3FN || type == DType::F8E4M3FNUZ;
  bool isFnuz = type == DType::F8E4M3FNUZ || type == DType::F8E5M2FNUZ;
  int binade = isFour ? 8 : 4;
  Number step = std::ldexp(1.0L, (isBrief ? -17 : isFour ? -9 : -16) - (isFnuz ? 1 : 0)), value = 0;
  std::vector<Number> table(256);
  for (int code = 0; code < 128; ++code) {
    table[static_cast<size_t>(code)] = value;
    table[static_cast<size_t>(code + 128)] = -value;
    value += step;
    step = (code + 1) % binade == 0 && code >= binade ? 2 * step : step;
  }
  if (isBrief) {
    return table; // numbers only
  }
  if (isFnuz) {
    table[128] = NAN;
  } else if (isFour) {
    table[127] = table[255] = NAN;
  } else {
    for (size_t code : {124, 125, 126, 127}) {
      table[code] = code == 124 ? Number(INFINITY) : Number(NAN);
      table[code + 128] = -table[code];
    }
  }
  return table;
}

/// Between the two numbers around what a float16 keeps of the value, the middle counting as the
/// larger one; of what is beyond 1.75, NaN included, 1.75.
Number nearestE4B15(Number value) {
  std::vector<Number> table = tableOf(DType::F8E4B15);
  Number magnitude = std::isnan(value) ? INFINITY : std::fabs(value);
  static const std::vector<Number> halves = [] {
    std::vector<Number> numbers;
    for (uint16_t bits = 0; bits <= 0x3F00; ++bits) {
      numbers.push_back(fromHalf(bits));
    }
    return numbers;
  }();
  Number kept = *std::prev(std::upper_bound(halves.begin(), halves.end(), magnitude));
  size_t code = 0;
  while (code < 126 && kept >= (table[code] + table[code + 1]) / 2) {
    ++code;
  }
  return std::copysign(table[code], value);
}

/// The nearest finite value, between two the one with the even code; the last one beyond them.
Number nearest(DType type, Number value) {
  if (type == DType::F8E4B15) {
    return nearestE4B15(value);
  }
  if (std::isnan(value)) {
    return value;
  }
  std::vector<Number> table = tableOf(type);
  Number magnitude = std::fabs(value), best = 0;
  for (size_t code = 1; code < 128 && std::isfinite(table[code]); ++code) {
    Number here = std::fabs(magnitude - table[code]), there = std::fabs(magnitude - best);
    bool isBeyond = magnitude >= table[code]; // differences of very large numbers are not exact
    if (isBeyond || here < there || (here == there && code % 2 == 0)) {
      best = table[code];
    }
  }
  return std::copysign(best, value);
}

/// The largest finite value that is not farther from 0; one type has its own rounding only.
Number chopped(DType type, Number value) {
  if (type == DType::F8E4B15) {
    return nearestE4B15(value);
  }
  std::vector<Number> table = tableOf(type);
  Number best = 0;
  for (size_t code = 1; code < 128 && std::isfinite(table[code]); ++code) {
    best = table[code] <= std::fabs(value) ? table[code] : best;
  }
  return std::isnan(value) ? value : std::copysign(best, value);
}

Case castCase(const std::string &title, const std::string &body, DType out) {
  Case one;
  one.builtin = "tl.cast";
  one.title = title;
  one.types = float8s;
  one.source = "@triton.jit\ndef kernel(OUT, N: tl.constexpr):\n    i = tl.arange(0, N)\n" + body;
  one.constants = "N=256";
  one.tensors = {{"OUT", 256, Fill::Poison, {out}}};
  return one;
}

/// Numbers from 2^-20 to 2^20 and everything special, as `from`; in the kernel `a`.
Case narrowCase(const std::string &title, DType from, const std::string &cast,
                std::function<Number(DType, Number)> reference) {
  Case one;
  one.builtin = "tl.cast";
  one.title = title;
  one.types = float8s;
  bool isHalf = from == DType::F16;
  std::string scale = isHalf ? "1.0" : "((i % 41 + 107) << 23).to(tl.float32, bitcast=True)";
  one.source = "@triton.jit\ndef kernel(A, OUT, N: tl.constexpr):\n    i = tl.arange(0, N)\n"
               "    a = (tl.load(A + i) * " +
               scale + ").to(A.dtype.element_ty)\n    tl.store(OUT + i, " + cast +
               ".to(tl.float32))\n";
  one.constants = "N=2048";
  one.tensors = {{"A", 2048, Fill::Special, {from}}, {"OUT", 2048, Fill::Poison, {DType::F32}}};
  one.reference = [=](Run &run) {
    for (int64_t i = 0; i < 2048; ++i) {
      Number value = run.in("A")[static_cast<size_t>(i)];
      value = roundTo(from, isHalf ? value : std::ldexp(value, static_cast<int>(i % 41) - 20));
      run.expect("OUT", i, reference(run.type, value));
    }
  };
  return one;
}

void addConversions(Cases &cases) {
  for (DType wide : floats) {
    std::string name(torchName(wide));
    Case one = castCase("every 8-bit float to " + name,
                        "    x = i.to(tl.uint8).to($T, bitcast=True)\n"
                        "    tl.store(OUT + i, x.to(tl." +
                            name + "))\n",
                        wide);
    one.reference = [](Run &run) {
      std::vector<Number> table = tableOf(run.type);
      for (int64_t i = 0; i < 256; ++i) {
        run.expect("OUT", i, table[static_cast<size_t>(i)]);
      }
    };
    cases.push_back(one);
    cases.push_back(narrowCase(name + " to 8-bit floats", wide, "a.to($T)", nearest));
    cases.push_back(narrowCase(name + " to 8-bit floats toward zero", wide,
                               "a.to($T, fp_downcast_rounding='rtz')", chopped));
  }
  Case one = castCase("8-bit floats to themselves",
                      "    x = i.to(tl.uint8).to($T, bitcast=True)\n"
                      "    tl.store(OUT + i, x.to(tl.float32).to($T).to(tl.float32))\n",
                      DType::F32);
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 256; ++i) {
      run.expect("OUT", i, nearest(run.type, tableOf(run.type)[static_cast<size_t>(i)]));
    }
  };
  cases.push_back(one);
  one = castCase("constants to 8-bit floats",
                 "    x = tl.full((N,), float('-inf'), tl.float32).to($T)\n"
                 "    y = tl.full((N,), 1e9, tl.float64).to($T)\n"
                 "    tl.store(OUT + i, tl.where(i % 2 == 0, x.to(tl.float32), "
                 "y.to(tl.float32)))\n",
                 DType::F32);
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 256; ++i) {
      run.expect("OUT", i, nearest(run.type, i % 2 == 0 ? -Number(INFINITY) : Number(1e9)));
    }
  };
  cases.push_back(one);
  one = castCase("integers to 8-bit floats",
                 "    tl.store(OUT + i, ((i - 128) * 9).to($T).to(tl.float32))\n", DType::F32);
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 256; ++i) {
      run.expect("OUT", i, nearest(run.type, static_cast<Number>((i - 128) * 9)));
    }
  };
  cases.push_back(one);
  one = castCase("between 8-bit formats",
                 "    x = i.to(tl.uint8).to(tl.float8e5, bitcast=True)\n"
                 "    tl.store(OUT + i, x.to($T).to(tl.float32))\n",
                 DType::F32);
  one.types = {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, DType::F8E4B15};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 256; ++i) {
      run.expect("OUT", i, nearest(run.type, tableOf(DType::F8E5M2)[static_cast<size_t>(i)]));
    }
  };
  cases.push_back(one);
}

/// What conversions would change: 1.875, and literals beside it that the type does not hold.
void addSigns(Cases &cases) {
  Case one = castCase("signs of fp8e4b15",
                      "    tl.static_assert($T.is_fp8e4b15() and $T.fp_mantissa_width == 3)\n"
                      "    x = i.to(tl.uint8).to($T, bitcast=True)\n"
                      "    code = tl.where(i % 2 == 0, tl.abs(x), -x).to(tl.uint8, bitcast=True)\n"
                      "    tl.store(OUT + i, code + (x == 1.8125).to(tl.uint8))\n",
                      DType::U8);
  one.builtin = "tl.abs";
  one.types = {DType::F8E4B15};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 256; ++i) {
      run.expect("OUT", i, static_cast<Number>(i % 2 == 0 ? i & 0x7F : i ^ 0x80));
    }
  };
  cases.push_back(one);
  one = castCase("products and sums of fp8e4b15 at once",
                 "    x = i.to(tl.uint8).to($T, bitcast=True)\n"
                 "    tl.store(OUT + i, tl.fma(x, x, x))\n",
                 DType::F8E4B15);
  one.builtin = "tl.fma";
  one.types = {DType::F8E4B15};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 256; ++i) {
      Number x = tableOf(DType::F8E4B15)[static_cast<size_t>(i)];
      run.expect("OUT", i, nearestE4B15(roundTo(DType::F32, x * x + x)));
    }
  };
  cases.push_back(one);
}

void addAccesses(Cases &cases) {
  Case one;
  one.builtin = "tl.load";
  one.title = "8-bit floats";
  one.types = float8s;
  one.source = "@triton.jit\ndef kernel(A, OUT, n, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n"
               "    tl.store(OUT + i, tl.load(A + i, mask=i < n, other=1.0))\n";
  one.constants = "BLOCK=64";
  one.integers = {{"n", 37}};
  one.tensors = {{"A", 37, Fill::Special}, {"OUT", 64, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, i < 37 ? run.in("A")[static_cast<size_t>(i)] : 1);
    }
  };
  cases.push_back(one);
  one.builtin = "tl.store";
  one.title = "8-bit floats, converted and masked";
  one.source = "@triton.jit\ndef kernel(A, OUT, n, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n"
               "    a = tl.load(A + i, mask=i < n, other=0.0)\n"
               "    tl.store(OUT + i, a * 3, mask=i < n)\n";
  one.tensors = {{"A", 37, Fill::Special, {DType::F32}}, {"OUT", 64, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 37; ++i) {
      Number product = roundTo(DType::F32, 3 * run.in("A")[static_cast<size_t>(i)]);
      run.expect("OUT", i, nearest(run.type, product));
    }
  };
  cases.push_back(one);
}

void addOperators(Cases &cases) {
  using Operation = Number (*)(Number, Number);
  const std::pair<std::string, Operation> operations[] = {
      {"a + b", [](Number a, Number b) { return a + b; }},
      {"a - b", [](Number a, Number b) { return a - b; }},
      {"a * b", [](Number a, Number b) { return a * b; }},
      {"a / b", [](Number a, Number b) { return a / b; }},
      {"-a", [](Number a, Number) { return -a; }},
      {"tl.maximum(a, b)", [](Number a, Number b) { return std::fmax(a, b); }},
      {"tl.fdiv(a, b)", [](Number a, Number b) { return a / b; }},
      {"tl.where(a < b, a, b)", [](Number a, Number b) { return a < b ? a : b; }},
  };
  for (const auto &[text, apply] : operations) {
    for (Case &one : elementwise(
             "operators", text, float8s, {Fill::Normal, Fill::Positive},
             [apply = apply](DType type, const Number *x) {
               return nearest(type, roundTo(DType::F32, apply(x[0], x[1])));
             },
             0.5, {}, "8-bit " + text)) {
      cases.push_back(one);
    }
  }
  Case one;
  one.builtin = "tl.dot";
  one.title = "8-bit floats";
  one.types = float8s;
  one.source = "@triton.jit\ndef kernel(A, B, OUT):\n    i = tl.arange(0, 16)[:, None]\n"
               "    j = tl.arange(0, 16)[None, :]\n    k = tl.arange(0, 32)\n"
               "    a = tl.load(A + i * 32 + k[None, :])\n"
               "    b = tl.load(B + k[:, None] * 16 + j)\n"
               "    tl.store(OUT + i * 16 + j, tl.dot(a, b))\n";
  one.tensors = {{"A", 512, Fill::Small},
                 {"B", 512, Fill::Small, {DType::F8E5M2}},
                 {"OUT", 256, Fill::Poison, {DType::F32}}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 16; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        Number sum = 0;
        for (int64_t k = 0; k < 32; ++k) {
          sum += run.in("A")[static_cast<size_t>(i * 32 + k)] *
                 run.in("B")[static_cast<size_t>(k * 16 + j)];
        }
        run.expect("OUT", i * 16 + j, sum);
      }
    }
  };
  cases.push_back(one);
}

} // namespace

void addFloat8(Cases &cases) {
  addConversions(cases);
  addSigns(cases);
  addAccesses(cases);
  addOperators(cases);
}

} // namespace nereid::conformance
