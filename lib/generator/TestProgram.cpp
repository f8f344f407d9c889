// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/TestProgram.h"

#include "lib/definition/cases/ComputedData.h"
#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/generator/TypeLists.h"
#include "lib/generator/cpp/EagerCalls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace nereid::generator {
namespace {

using definition::Case;

/// In programs whose inputs have a range.
const std::string indexFilling =
    R"(/// Integers in [low, high), the last of them in front; `distinct`: the dimension, from the end,
/// along which none repeats, or 0.
void fillIndices(const nereid::Tensor &tensor, uint64_t seed, int64_t low, int64_t high,
                 int64_t distinct) {
  const int64_t count = tensor.elementCount();
  if (count == 0) {
    return;
  }
  if (distinct == 0) {
    tensor.fillIntegers(seed, low, high);
    tensor.set(0, static_cast<double>(high - 1));
    return;
  }
  const Sizes shape = tensor.shape();
  int64_t inner = 1;
  for (size_t d = shape.size() - static_cast<size_t>(-distinct) + 1; d < shape.size(); ++d) {
    inner *= shape[d];
  }
  const int64_t first = low > 0 ? low : 0, size = high - first;
  const int64_t length = shape[shape.size() - static_cast<size_t>(-distinct)];
  int64_t step = size * 5 / 8 + 1;
  const auto shift = static_cast<int64_t>(seed % static_cast<uint64_t>(size));
  const auto divisor = [&] {
    int64_t a = step;
    for (int64_t b = size; b != 0;) {
      const int64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  while (divisor() != 1) { // until it meets all of them
    ++step;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t along = i / inner % length;
    tensor.set(i, static_cast<double>(first + (along * step + i % inner + shift) % size));
  }
}

)";

/// Parameters whose square root, logarithm or the like is taken get positive data.
std::set<int> positiveParameters(const Generation &generation) {
  static const std::set<std::string> positiveOnly = {"sqrt", "rsqrt", "log",
                                                     "log2", "pow",   "log1p"};
  const std::vector<PrimitiveOperation> nodes = generation.primitives();
  std::vector<bool> needsPositive(nodes.size(), false);
  for (size_t i = nodes.size(); i-- > 0;) {
    const PrimitiveOperation &node = nodes[i];
    bool passesOn = needsPositive[i] && (node.op == "add" || node.op == "mul" || node.op == "div");
    for (int input : node.inputs) {
      if (positiveOnly.contains(node.op) || passesOn) {
        needsPositive[static_cast<size_t>(input)] = true;
      }
    }
  }
  std::set<int> result;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op == "input" && needsPositive[i]) {
      result.insert(nodes[i].parameter);
    }
  }
  return result;
}

/// Odd sizes, one element, none: what every operator is checked on besides its own cases. Nothing
/// is reduced over no elements.
std::vector<Case> standardCases(const Generation &generation) {
  const CalledOperator &called = generation.called();
  std::vector<std::string> symbols;
  bool hasRest = false;
  for (const Operand &operand : called.operands) {
    for (const definition::Dim &dim : operand.shape) {
      hasRest |= dim.isRest();
      bool isSymbol = definition::isSizeName(dim.symbol);
      if (isSymbol && std::find(symbols.begin(), symbols.end(), dim.symbol) == symbols.end()) {
        symbols.push_back(dim.symbol);
      }
    }
  }
  struct Sizes {
    const char *name;
    std::vector<int64_t> rest;
    int64_t others, last;
  };
  std::vector<Sizes> list = {{"one element", {}, 1, 1},       {"no rows", {0}, hasRest ? 1 : 0, 7},
                             {"3 columns", {5}, 3, 3},        {"17 columns", {3, 7}, 2, 17},
                             {"127 columns", {129}, 5, 127},  {"129 columns", {2, 3}, 3, 129},
                             {"1000 columns", {33}, 2, 1000}, {"5000 columns", {3}, 1, 5000}};
  if (!generation.hasReduction()) {
    list.push_back({"no columns", {3}, 2, 0});
  }
  std::vector<Case> cases;
  for (const Sizes &sizes : list) {
    Case made;
    made.name = sizes.name;
    made.binding.rest = sizes.rest;
    for (const std::string &symbol : symbols) {
      made.binding.symbols[symbol] = symbol == symbols.back() ? sizes.last : sizes.others;
    }
    for (const definition::Parameter &parameter : called.op.parameters) {
      if (parameter.isSize()) { // in no shape: it is what it is by default
        made.binding.symbols.emplace(parameter.name, static_cast<int64_t>(parameter.value));
      }
    }
    if (auto fit = definition::fulfilled(called.op, made.binding)) {
      bool isMoved = fit->symbols != made.binding.symbols || fit->rest != made.binding.rest;
      made.name += isMoved ? ", moved to what the constraints allow" : "";
      made.binding = std::move(*fit);
      cases.push_back(std::move(made));
    }
  }
  return cases;
}

/// The definition, loaded once, and of the program that tells nothing else of results what is
/// printed when it finds one wrong.
std::string judgeFunctions(const std::string &name, bool isAccuracy) {
  std::string text = R"(
/// The definition, whose reference and bounds judge results as `nereid verify` does.
const nereid::Operator &definition() {
)";
  text += packed("  static const nereid::Operator loaded = nereid::Operator::load(",
                 {"OPERATOR_FOLDER \"/" + name + ".toml\""}, ");\n");
  text += "  return loaded;\n}\n";
  return isAccuracy ? text : text + R"(
bool agrees(const std::string &title, const nereid::Verdict &verdict) {
  if (!verdict.agrees) {
    std::printf("FAILED  %s: %s\n", title.c_str(), verdict.text.c_str());
  }
  return verdict.agrees;
}
)";
}

} // namespace

static std::vector<DType> typesOf(const Generation &generation, const Operand &operand) {
  return operand.fixedDtype ? std::vector<DType>{*operand.fixedDtype} : generation.op().dtypes;
}

bool mayBeFloat(const Generation &generation, const Operand &operand) {
  const std::vector<DType> types = typesOf(generation, operand);
  return std::any_of(types.begin(), types.end(), isFloat);
}

bool hasFloatsAndOthers(const Generation &generation, const Operand &operand) {
  return mayBeFloat(generation, operand) && !areAllFloat(typesOf(generation, operand));
}

Filling fillingOf(const Generation &generation, const Operand &operand, bool ofFloats) {
  if (!ofFloats) {
    const std::vector<DType> types = typesOf(generation, operand);
    auto has = [&](auto holds) { return std::any_of(types.begin(), types.end(), holds); };
    bool isBool = has([](DType type) { return type == DType::Bool; });
    bool isUnsigned = isBool || has([](DType type) { return isUnsignedInteger(type); });
    return {Filling::Kind::Integers, isUnsigned ? 0.0 : -100.0, isBool ? 2.0 : 100.0};
  }
  auto range = definition::valueRange(generation.op(), static_cast<size_t>(operand.index));
  if (!range.isEverything()) {
    const double low = std::isfinite(range.low)    ? range.low
                       : std::isfinite(range.high) ? range.high - 3
                                                   : 0;
    const double high = std::isfinite(range.high) ? range.high : low + 3;
    return {Filling::Kind::Uniform, low + (high - low) / 64, high - (high - low) / 64, true};
  }
  return positiveParameters(generation).contains(operand.index)
             ? Filling{Filling::Kind::Uniform, 0.1, 3.0}
             : Filling{};
}

const definition::IndexRange *rangeOf(const Generation &generation, const Operand &operand) {
  const bool isTensor = !operand.isOutput && operand.index >= 0;
  const auto &parameters = generation.op().parameters;
  const auto number = static_cast<size_t>(operand.index);
  return isTensor && parameters[number].range ? &*parameters[number].range : nullptr;
}

std::string endText(const std::string &end, const SizeNames &names, const std::string &prefix) {
  std::string text;
  for (size_t at = 0; at < end.size();) {
    size_t behind = at;
    while (behind < end.size() &&
           (std::isalnum(static_cast<unsigned char>(end[behind])) || end[behind] == '_')) {
      ++behind;
    }
    const std::string word = end.substr(at, std::max<size_t>(behind - at, 1));
    const bool isName = behind > at && !std::isdigit(static_cast<unsigned char>(word[0]));
    definition::Dim dim;
    dim.symbol = word;
    text += isName ? prefix + names.variable(dim) : word;
    at += word.size();
  }
  return text;
}

TestProgram::TestProgram(const Generation &generation, bool isAccuracy)
    : called(generation.called()), names(generation.called()), generation(generation),
      isAccuracy(isAccuracy) {}

std::string TestProgram::beginning() const {
  std::string text =
      cppHead(called, isAccuracy ? "checks kernel and baseline against the definition."
                                 : "times the kernel against the baseline.");
  text += fmt::format("\n#include \"{}_kernel.hpp\"\n\n", called.op.name);
  text += isAccuracy ? "#include <nereid/accuracy.hpp>\n\n" : "";
  text += "#include <cmath>\n";
  text += isAccuracy ? "#include <cstdint>\n" : "#include <cstdio>\n";
  text += definition::writesInputs(called.op) ? "#include <cstring>\n" : "";
  text += isAccuracy ? "" : "#include <exception>\n";
  text += "#include <string>\n";
  text += isAccuracy ? "#include <utility>\n" : "";
  text += "#include <vector>\n\nnamespace baseline {\n";
  text += packed(fmt::format("{} {}(", cppResult(called), called.op.name),
                 cppParameters(called, false), ");\n");
  text += "}\n\nnamespace {\n\n";
  return text + caseTable() + tensors() + judgeFunctions(called.op.name, isAccuracy) + "\n";
}

std::vector<Case> TestProgram::cases() const {
  std::vector<Case> list = isAccuracy ? called.op.accuracyCases : called.op.performanceCases;
  if (isAccuracy) {
    std::vector<Case> standard = standardCases(generation);
    list.insert(list.begin(), standard.begin(), standard.end());
  }
  return list;
}

std::string TestProgram::caseTable() const {
  std::string text = "struct Case {\n  const char *name;\n";
  for (const std::string &size : names.given) {
    text += fmt::format("  int64_t {};\n", size);
  }
  for (const SizeNames::Step &step : names.steps) {
    text += fmt::format("  {} {};\n", step.isRest ? "Sizes" : "int64_t", step.variable);
  }
  if (!isAccuracy) {
    text += "  std::vector<double> bytes; // read and written at least, in the order of `types`\n";
  }
  text += "};\n\n";
  std::vector<std::string> types;
  for (DType type : called.op.dtypes) {
    types.push_back(cppType(type));
  }
  text += packed("const std::vector<nereid::DType> types = {", types, "};\n\n");
  std::vector<Case> list = cases();
  text += "// clang-format off\nconst std::vector<Case> cases = {\n";
  for (const Case &one : list) {
    text += caseRow(one);
  }
  return text + "};\n// clang-format on\n\n";
}

std::string TestProgram::caseRow(const Case &one) const {
  std::vector<std::string> sizes, bytes;
  for (const std::string &size : names.given) {
    sizes.push_back(std::to_string(one.binding.symbols.at(size)));
  }
  for (const SizeNames::Step &step : names.steps) {
    std::string value = "0";
    if (step.isRest) {
      value = fmt::format("{{{}}}", fmt::join(one.binding.rest, ", "));
    }
    for (const auto &[symbol, size] : one.binding.symbols) {
      definition::Dim dim;
      dim.symbol = symbol;
      if (!step.isRest && names.variable(dim) == step.variable) {
        value = std::to_string(size);
      }
    }
    sizes.push_back(value);
  }
  for (DType type : called.op.dtypes) {
    bytes.push_back(cppNumber(definition::countWork(called.op, one.binding, type).bytes()));
  }
  std::string row =
      fmt::format("    {{\"{}\"{}{}", one.name, sizes.empty() ? "" : ", ", fmt::join(sizes, ", "));
  return isAccuracy ? row + "},\n" : row + ",\n" + packed("     {", bytes, "}},\n");
}

std::string TestProgram::fill(const Operand &operand, int seed) const {
  const std::string name = "in." + operand.name;
  if (const auto data = definition::dataOperator(called.op, static_cast<size_t>(operand.index))) {
    std::vector<std::string> given;
    for (const definition::Parameter &parameter : data->parameters) {
      given.push_back("in." + parameter.name);
    }
    return fmt::format("  {} = {}({});\n", name, data->name, fmt::join(given, ", "));
  }
  if (const definition::IndexRange *range = rangeOf(generation, operand)) {
    return packed(fmt::format("  fillIndices({}, seed + {}, ", name, seed),
                  {endText(range->low, names, "one."), endText(range->high, names, "one."),
                   std::to_string(range->distinct)},
                  ");\n");
  }
  const auto call = [&](const Filling &filling) {
    switch (filling.kind) {
    case Filling::Kind::Integers:
      return fmt::format("{}.fillIntegers(seed + {}, {}, {});", name, seed, filling.low,
                         filling.high);
    case Filling::Kind::Uniform:
      return fmt::format("{}.fillUniform(seed + {}, {}, {});", name, seed, cppNumber(filling.low),
                         cppNumber(filling.high));
    case Filling::Kind::Normal:
      break;
    }
    return fmt::format("{}.fillNormal(seed + {});", name, seed);
  };
  const bool ofFloats = mayBeFloat(generation, operand);
  const std::string own = call(fillingOf(generation, operand, ofFloats));
  return hasFloatsAndOthers(generation, operand)
             ? fmt::format("  if (nereid::isFloat({}.dtype())) {{\n    {}\n  }} else {{\n    {}\n  "
                           "}}\n",
                           name, own, call(fillingOf(generation, operand, false)))
             : "  " + own + "\n";
}

/// Structures with one tensor per input and output, and functions that make them for a case.
std::string TestProgram::tensors() const {
  std::string inputs, outputs, makeInputs, fills, makeOutputs, poisons, constants;
  int seed = 0;
  for (const Operand &operand : called.operands) {
    std::string member = fmt::format("  nereid::Tensor {};\n", operand.name);
    std::string type = operand.fixedDtype ? cppType(*operand.fixedDtype) : "dtype";
    std::string shape = caseShape(operand.shape);
    if (operand.isOutput && !operand.memory.empty()) {
      // What the input holds before a launch is there again before the next one.
      const std::string input = "in." + operand.memory;
      const std::string before = operand.name + "_before";
      outputs += member + fmt::format("  nereid::Tensor {};\n", before);
      for (int i = 0; i < 2; ++i) {
        makeOutputs += fmt::format("      {0}.to({0}.dtype()),\n", input);
      }
      const std::string restore = packed(
          "std::memcpy(",
          {operand.name + ".data()", before + ".data()", operand.name + ".byteCount()"}, ");");
      poisons += (poisons.empty() ? "" : "\n    ") + restore;
      constants += (constants.empty() ? "" : "\n    ") + restore;
    } else if (operand.isOutput) {
      outputs += member;
      makeOutputs += packed("      nereid::Tensor::empty(", {shape, type}, "),\n");
      poisons += (poisons.empty() ? "" : "\n    ") + operand.name + ".poison();";
      constants += (constants.empty() ? "" : "\n    ") + operand.name + ".fill(value);";
    } else {
      inputs += member;
      const bool isWhole =
          definition::mustBeContiguous(called.op, static_cast<size_t>(operand.index));
      makeInputs += packed("      made(", {shape, type, isWhole ? "false" : "isStrided"}, "),\n");
      fills += fill(operand, ++seed);
    }
  }
  const auto &parameters = called.op.parameters;
  bool hasRange = false; // of an input that is drawn
  for (size_t i = 0; i < parameters.size(); ++i) {
    hasRange |= parameters[i].range && !definition::dataOperator(called.op, i);
  }
  const bool isWriting = definition::writesInputs(called.op);
  bool hasOneOutput = called.op.outputs.size() == 1;
  for (std::string *body : {&poisons, &constants}) {
    *body = hasOneOutput ? "{ " + *body + " }" : "{\n    " + *body + "\n  }";
  }
  return (hasRange ? indexFilling : "") + computedData() +
         fmt::format(
             R"(struct Inputs {{
{inputs}}};

/// Rows of a wider tensor when `isStrided`, so that they do not lie side by side.
nereid::Tensor made(const Sizes &shape, nereid::DType dtype, bool isStrided) {{
  if (!isStrided || shape.size() < 2) {{
    return nereid::Tensor::empty(shape, dtype);
  }}
  Sizes wider = shape;
  wider.back() += 3;
  const nereid::Tensor whole = nereid::Tensor::empty(wider, dtype);
  return whole.view(0, shape, whole.strides());
}}

Inputs makeInputs(const Case &one, nereid::DType dtype, [[maybe_unused]] bool isStrided,
                  [[maybe_unused]] uint64_t seed) {{
  Inputs in = {{
{makeInputs}  }};
{fills}  return in;
}}

struct Outputs {{
{outputs}
  /// What a launch does not write reads as wrong.
  void poison() const {poisons}
  void fill({isUnused}double value) const {constants}
}};

Outputs makeOutputs({outputParameters}) {{
  return {{
{makeOutputs}  }};
}}
)",
             fmt::arg("inputs", inputs), fmt::arg("makeInputs", makeInputs),
             fmt::arg("fills", fills), fmt::arg("outputs", outputs), fmt::arg("poisons", poisons),
             fmt::arg("constants", constants), fmt::arg("makeOutputs", makeOutputs),
             fmt::arg("isUnused", isWriting ? "[[maybe_unused]] " : ""),
             fmt::arg("outputParameters",
                      isWriting ? "[[maybe_unused]] const Case &one, [[maybe_unused]] "
                                  "nereid::DType dtype,\n                    const Inputs &in"
                                : "const Case &one, nereid::DType dtype"));
}

/// Functions of inputs whose test data are computed of others.
std::string TestProgram::computedData() const {
  std::string text;
  for (size_t i = 0; i < called.op.parameters.size(); ++i) {
    const auto data = definition::dataOperator(called.op, i);
    if (!data) {
      continue;
    }
    const CalledOperator made = calledOperator(*data);
    const SizeNames sizes(made);
    std::vector<std::string> parameters;
    for (const definition::Parameter &parameter : data->parameters) {
      parameters.push_back("const nereid::Tensor &" + parameter.name);
    }
    text += fmt::format("/// {}\nnereid::Tensor {}({}) {{\n", data->summary, data->name,
                        fmt::join(parameters, ", "));
    for (const SizeNames::Step &step : sizes.steps) {
      const std::string from = made.operands[static_cast<size_t>(step.operand)].name + ".shape()";
      text +=
          step.isRest
              ? fmt::format("  [[maybe_unused]] const Sizes {0}({1}.begin(), {1}.end() - {2});\n",
                            step.variable, from, step.fromEnd)
              : fmt::format("  [[maybe_unused]] const int64_t {0} = {1}[{1}.size() - {2}];\n",
                            step.variable, from, step.fromEnd);
    }
    text += eagerCalls(made, sizes) + "}\n\n";
  }
  return text;
}

std::string TestProgram::caseShape(const definition::SymbolicShape &shape) const {
  std::string fixed, rest = "{}";
  for (const definition::Dim &dim : shape) {
    const bool isComputed =
        !dim.symbol.empty() && !dim.isRest() && !definition::isSizeName(dim.symbol);
    std::string name = dim.symbol.empty() ? names.variable(dim)
                       : isComputed       ? cppDivisions(names.computed(dim.symbol, "one."))
                                          : "one." + names.variable(dim);
    if (dim.isRest()) {
      rest = name;
    } else {
      fixed += (fixed.empty() ? "" : ", ") + name;
    }
  }
  return fmt::format("joined({}, {{{}}})", rest, fixed);
}

std::string TestProgram::madeOutputs() const {
  return fmt::format("makeOutputs(one, dtype{})",
                     definition::writesInputs(called.op) ? ", in" : "");
}

/// Launches get the copies of inputs that they write.
std::string TestProgram::tensorOf(const CallParameter &parameter, bool isLaunch) const {
  const Operand *written = isLaunch ? called.writtenTo(parameter.name) : nullptr;
  return written ? "results." + written->name : "in." + parameter.name;
}

std::string TestProgram::call(const std::string &head, const std::string &tail,
                              bool withOutputs) const {
  std::vector<std::string> list;
  for (const CallParameter &parameter : callParameters(called)) {
    list.push_back(parameter.isSize        ? "one." + names.variable({parameter.name, 0})
                   : parameter.operand < 0 ? cppNumber(parameter.value)
                                           : tensorOf(parameter, withOutputs));
  }
  for (const Operand &operand : called.operands) {
    if (operand.isOutput && operand.memory.empty() && withOutputs) {
      list.push_back("results." + operand.name);
    }
  }
  return packed(head, list, tail);
}

std::string TestProgram::inputs() const {
  std::vector<std::string> list;
  for (const Operand &operand : called.operands) {
    if (!operand.isOutput) {
      list.push_back("in." + operand.name);
    }
  }
  return fmt::format("{{{}}}", fmt::join(list, ", "));
}

std::vector<std::string> TestProgram::shapes() const {
  std::vector<std::string> list;
  for (const Operand &operand : called.operands) {
    if (!operand.isOutput) {
      list.push_back(fmt::format("{{\"{0}\", in.{0}.shape()}}", operand.name));
    }
  }
  return list;
}

std::string TestProgram::outputs() const {
  std::vector<std::string> list;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      list.push_back("results." + operand.name);
    }
  }
  return fmt::format("{{{}}}", fmt::join(list, ", "));
}

std::string TestProgram::widestInput() const { return generation.widestInput().name; }

} // namespace nereid::generator
