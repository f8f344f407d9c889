// SPDX-License-Identifier: Apache-2.0
// One statement of the language's conformance suite: a small kernel, the data it runs on and what
// must come out, computed here from the definition and never by the code under test. Each case runs
// for every element type it names, on the engines that the program is given.
#pragma once

#include "runtime/elements/DType.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::conformance {

/// Holds every value of every element type exactly (64 bits of significand on x86).
using Number = long double;
using Values = std::vector<Number>;

enum class Fill : uint8_t {
  Normal,   ///< floats between -4 and 4, integers over the whole range with both ends
  Special,  ///< Normal with zeros, infinities, NaN, the largest and the smallest numbers
  Positive, ///< floats between 2^-6 and 8, integers between 1 and 100
  Unit,     ///< floats between -1 and 1, integers between -1 (or 0) and 1
  Small,    ///< whole numbers between -8 (or 0) and 8: products and sums stay exact
  Shift,    ///< whole numbers between 0 and 7
  Counting, ///< 0, 1, 2, … modulo 64
  Poison,   ///< an output: NaN, or bytes 0xCD
  Zero,
};

/// A tensor argument. `type` empty = the case's element type.
struct Tensor {
  std::string name;
  int64_t count = 0;
  Fill fill = Fill::Normal;
  std::vector<DType> type = {};
  std::string block = {};          ///< "4,8": passed as a descriptor with such blocks
  std::vector<int64_t> shape = {}; ///< with block
  bool padsWithNan = false;        ///< with block
};

/// What a reference works on: the tensors by name, as the kernel found them.
struct Run {
  DType type;
  std::map<std::string, Values> tensors;
  std::map<std::string, DType> types;
  const Values &in(const std::string &name) const { return tensors.at(name); }
  /// Expected content, set by the reference; elements left out must stay as they were.
  std::map<std::string, std::map<int64_t, Number>> expected;
  void expect(const std::string &name, int64_t i, Number value) { expected[name][i] = value; }
};

struct Case {
  std::string builtin; ///< as the table of builtins names it, with its scope: "tl.exp"
  std::string title;   ///< what about it
  std::vector<DType> types;
  std::string source;    ///< of kernel(); $T is the element type: tl.float32
  std::string constants; ///< constexprs and integers of the signature: "n=i32, BLOCK=64"
  std::vector<Tensor> tensors;
  std::map<std::string, int64_t> integers; ///< run-time integer arguments
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::function<void(Run &)> reference;
  /// Allowed distance in units in the last place of the output's type. A half: correctly rounded.
  double ulps = 0.5;
  double absolute = 0; ///< allowed besides
  /// Instead of `ulps` where a processor's own approximations are used; 0: the same.
  double approximateUlps = 0;
};

using Cases = std::vector<Case>;

inline const std::vector<DType> floats = {DType::F16, DType::BF16, DType::F32, DType::F64};
inline const std::vector<DType> float8s = {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ,
                                           DType::F8E5M2FNUZ, DType::F8E4B15};
inline const std::vector<DType> float8sWithNan(float8s.begin(), float8s.end() - 1);
inline const std::vector<DType> wideFloats = {DType::F32, DType::F64};
inline const std::vector<DType> signedIntegers = {DType::I8, DType::I16, DType::I32, DType::I64};
inline const std::vector<DType> unsignedIntegers = {DType::U8, DType::U16, DType::U32, DType::U64};
std::vector<DType> operator+(std::vector<DType> a, const std::vector<DType> &b);
inline const std::vector<DType> integers = {DType::I8, DType::I16, DType::I32, DType::I64,
                                            DType::U8, DType::U16, DType::U32, DType::U64};
/// Floats and integers. Inline, as the lists above: a list of another file is made after it.
inline const std::vector<DType> numbers = floats + integers;

/// Nearest value of the type (ties to even), 8-bit floats saturate; integers wrap modulo 2^bits.
Number roundTo(DType type, Number value);
Number wrap(DType type, __int128 value);
/// Distance from |value| to the next larger magnitude of a floating-point type; 0 for integers.
Number ulpOf(DType type, Number value);
Values makeValues(const Tensor &tensor, DType type, uint64_t seed);

/// The text around an expression of a, b and c: masked tiles of 37 in 64 elements, and scalars.
Cases elementwise(const std::string &builtin, const std::string &expression,
                  const std::vector<DType> &types, std::vector<Fill> fills,
                  std::function<Number(DType, const Number *)> reference, double ulps = 0.5,
                  std::vector<DType> resultType = {}, const std::string &title = "");

void addArithmetic(Cases &cases);
void addMath(Cases &cases);
void addLibdevice(Cases &cases);
void addDirected(Cases &cases);
void addCasts(Cases &cases);
void addMemory(Cases &cases);
void addShapes(Cases &cases);
void addReductions(Cases &cases);
void addScans(Cases &cases);
void addAtomics(Cases &cases);
void addMatrix(Cases &cases);
void addControl(Cases &cases);
void addRandom(Cases &cases);
void addReinterpretation(Cases &cases);
void addCompileTime(Cases &cases);
void addFloat8(Cases &cases);
void addBlockPointers(Cases &cases);
void addDescriptors(Cases &cases);
void addDotScaled(Cases &cases);

Cases allCases();

/// What happened to a builtin, for the coverage table.
struct Outcome {
  /// Types for which an engine gave the right values, by the engine's name.
  std::map<std::string, std::vector<DType>> right;
};

class Engine;
/// Empty = as expected; else what differs, and where.
std::string runCase(const Case &one, DType type, Engine &engine);
/// A row of docs/coverage.md: a function under all its names.
struct CoverageRow {
  std::vector<std::string> names;
  std::string_view category;
  bool isParsed = false;
  Outcome outcome;
};
std::vector<CoverageRow> coverageRows(const std::map<std::string, Outcome> &outcomes);
/// docs/coverage.md: per builtin whether it is parsed, interpreted, compiled and tested.
std::string coverageTable(const std::map<std::string, Outcome> &outcomes,
                          const std::vector<std::string> &engines);

} // namespace nereid::conformance
