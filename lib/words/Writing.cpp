// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Writing.h"

#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/reader/sizes/ComputedDims.h"
#include "lib/words/numbers/Numbers.h"
#include "lib/words/numbers/WindowSizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace nereid::words {
namespace {

using definition::Binding;
using definition::ComputedDims;

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char letter : text) {
    switch (letter) {
    case '"':
      result += "\\\"";
      break;
    case '\\':
      result += "\\\\";
      break;
    case '\n':
      result += "\\n";
      break;
    case '\t':
      result += "\\t";
      break;
    case '\r':
      break;
    default:
      result += letter;
    }
  }
  return result + "\"";
}

/// False when the shape of the first tensor cannot have these sizes.
bool unify(const definition::SymbolicShape &shape, const std::vector<int64_t> &sizes,
           Binding &binding) {
  const bool hasRest = !shape.empty() && shape.front().isRest();
  const size_t fixed = shape.size() - (hasRest ? 1 : 0);
  if (sizes.size() < fixed || (!hasRest && sizes.size() != fixed)) {
    return false;
  }
  const size_t rest = sizes.size() - fixed;
  binding.rest.assign(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(rest));
  for (size_t i = 0; i < fixed; ++i) {
    const definition::Dim &dim = shape[i + (hasRest ? 1 : 0)];
    const int64_t size = sizes[rest + i];
    if (dim.symbol.empty() ? dim.constant != size
                           : !binding.symbols.emplace(dim.symbol, size).second &&
                                 binding.symbols[dim.symbol] != size) {
      return false;
    }
  }
  return true;
}

/// With D where a shape says "2 * D", by its dimension where that is bound; nothing where no D
/// makes the dimension what it is.
std::optional<Binding> asWritten(const ComputedDims &computed, Binding binding) {
  for (const ComputedDims::Named &size : computed.sizes) {
    const auto value = definition::evaluateSizes(size.text, binding);
    if (value) {
      binding.symbols[size.name] = value->whole;
    } else if (!binding.symbols.contains(size.name)) {
      return std::nullopt;
    }
  }
  for (const ComputedDims::Named &dim : computed.dims) {
    const auto bound = binding.symbols.find(dim.name);
    const auto value = definition::evaluateSizes(dim.text, binding);
    if (bound != binding.symbols.end() && (!value || value->whole != bound->second)) {
      return std::nullopt;
    }
  }
  return binding;
}

std::string caseText(const definition::Operator &op, const ComputedDims &computed,
                     const Binding &binding, const std::string &name) {
  std::vector<std::string> symbols = definition::symbolsOf(op);
  for (const ComputedDims::Named &dim : computed.dims) {
    std::erase(symbols, dim.name);
  }
  for (const ComputedDims::Named &size : computed.sizes) {
    symbols.push_back(size.name);
  }
  std::string text = fmt::format("  {{ name = \"{}\"", name);
  for (const std::string &symbol : symbols) {
    text += symbol == "..." ? fmt::format(", \"...\" = [{}]", fmt::join(binding.rest, ", "))
                            : fmt::format(", {} = {}", symbol, binding.symbols.at(symbol));
  }
  return text + " },\n";
}

bool hasAll(const definition::Operator &op, const Binding &binding) {
  const auto symbols = definition::symbolsOf(op);
  return std::all_of(symbols.begin(), symbols.end(), [&](const std::string &symbol) {
    return symbol == "..." || binding.symbols.contains(symbol);
  });
}

const definition::Parameter *firstTensor(const definition::Operator &op) {
  const auto tensor =
      std::find_if(op.parameters.begin(), op.parameters.end(), [](const auto &parameter) {
        return !parameter.isScalar && !parameter.shape.empty();
      });
  return tensor == op.parameters.end() ? nullptr : &*tensor;
}

/// Sizes for a case of one shape; nothing when the first tensor cannot have it. Sizes that it does
/// not have come from the text's shapes of other tensors, then from the first case of the
/// definition, which is said.
std::optional<Binding> bindFirst(const definition::Operator &op, const std::vector<int64_t> &sizes,
                                 const Facts &facts, std::string &assumed,
                                 std::set<std::vector<int64_t>> *others = nullptr) {
  const definition::Parameter *const tensor = firstTensor(op);
  Binding binding;
  if (!tensor || !unify(tensor->shape, sizes, binding)) {
    return std::nullopt;
  }
  for (const ShapeFact &shape : facts.shapes) {
    for (const definition::Parameter &parameter : op.parameters) {
      Binding more = binding;
      Binding itself;
      const bool isOther = &parameter != tensor && !parameter.isScalar && shape.sizes != sizes &&
                           (!hasAll(op, binding) || !unify(tensor->shape, shape.sizes, itself));
      if (isOther && unify(parameter.shape, shape.sizes, more)) {
        binding.symbols = more.symbols;
        if (others) {
          others->insert(shape.sizes);
        }
        break;
      }
    }
  }
  if (hasAll(op, binding) || op.performanceCases.empty()) {
    return hasAll(op, binding) ? std::optional(binding) : std::nullopt;
  }
  std::vector<std::string> added;
  for (const auto &[symbol, size] : op.performanceCases.front().binding.symbols) {
    if (binding.symbols.emplace(symbol, size).second) {
      added.push_back(fmt::format("{} = {}", symbol, size));
    }
  }
  assumed = fmt::format("{}", fmt::join(added, ", "));
  return hasAll(op, binding) && definition::checkConstraints(op, binding, std::nullopt)
             ? std::optional(binding)
             : std::nullopt;
}

/// "32 groups" where the case has 320: a size of the text that goes by the letter of its word.
std::string otherCount(const Binding &binding, const Facts &facts) {
  static const std::map<std::string, std::string> letters = {
      {"group", "G"}, {"head", "H"}, {"expert", "E"}, {"组", "G"}, {"头", "H"}, {"专", "E"}};
  for (const LooseNumber &number : facts.loose) {
    const auto letter = letters.find(number.counted);
    const auto size =
        letter == letters.end() ? binding.symbols.end() : binding.symbols.find(letter->second);
    if (size != binding.symbols.end() && static_cast<double>(size->second) != number.value) {
      return fmt::format("{} is {} in it, and {} in the text", size->first, size->second,
                         number.text);
    }
  }
  return "";
}

/// A word of the input's name or description: "w", "weights".
bool isCalled(const definition::Parameter &parameter, const std::string &word) {
  const auto tokens = tokenize("", parameter.name);
  const std::string name = stem(lowerCase(word));
  return tokens && std::any_of(tokens->begin(), tokens->end(),
                               [&](const Token &token) { return token.text == name; });
}

/// The shape is said to be of another tensor than the first.
bool isOfOther(const definition::Operator &op, const ShapeFact &fact) {
  static const std::set<std::string> others = {
      "output", "out",  "result", "y",    "weight", "weights", "filter", "filters", "bias",
      "输出",   "结果", "权重",   "偏置", "卷积核", "掩码",    "标签",   "labels",  "mask"};
  const definition::Parameter *const first = firstTensor(op);
  if (fact.of.empty() || !first || isCalled(*first, fact.of)) {
    return false;
  }
  return others.contains(lowerCase(fact.of)) ||
         std::any_of(op.parameters.begin(), op.parameters.end(), [&](const auto &parameter) {
           return &parameter != first && isCalled(parameter, fact.of);
         });
}

/// The first case with another last dimension: "hidden size 4096".
std::optional<Binding> bindLast(const definition::Operator &op, const ComputedDims &computed,
                                int64_t size) {
  const auto &shape = op.parameters.front().shape;
  if (op.parameters.front().isScalar || shape.empty() || op.performanceCases.empty()) {
    return std::nullopt;
  }
  auto written = asWritten(computed, op.performanceCases.front().binding);
  if (!written) {
    return std::nullopt;
  }
  Binding binding = std::move(*written);
  for (const ComputedDims::Named &dim : computed.dims) { // follow from the sizes
    binding.symbols.erase(dim.name);
  }
  if (shape.back().isRest()) {
    if (binding.rest.empty()) {
      return std::nullopt;
    }
    binding.rest.back() = size;
  } else if (shape.back().symbol.empty()) {
    return std::nullopt;
  } else {
    binding.symbols[shape.back().symbol] = size;
  }
  return binding;
}

std::optional<int64_t> sizeOf(const std::string &name) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), size);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(size)
                                                                  : std::nullopt;
}

/// "[batch, seq, 4096]" with sizes for its names, which are said; nothing of names alone.
std::optional<std::vector<int64_t>> withUsualSizes(const NamedShapeFact &fact,
                                                   std::vector<std::string> &assumed) {
  constexpr int64_t first = 8, other = 128;
  std::vector<int64_t> sizes;
  bool isSized = false;
  for (const std::string &name : fact.names) {
    const auto size = sizeOf(name);
    isSized = isSized || size;
    sizes.push_back(size.value_or(sizes.empty() ? first : other));
    if (!size) {
      assumed.push_back(fmt::format("{} = {}", name, sizes.back()));
    }
  }
  return isSized ? std::optional(sizes) : std::nullopt;
}

/// A row of the tensor that another shape of the text is of: a weight, a bias.
bool isRowOfAnother(const ShapeFact &fact, const Facts &facts) {
  const auto endsSo = [&](const auto &dims, const auto &last) {
    return dims.size() > 1 && dims.back() == last;
  };
  return fact.sizes.size() == 1 &&
         (std::any_of(facts.shapes.begin(), facts.shapes.end(),
                      [&](const ShapeFact &one) { return endsSo(one.sizes, fact.sizes[0]); }) ||
          std::any_of(facts.namedShapes.begin(), facts.namedShapes.end(),
                      [&](const NamedShapeFact &one) {
                        return endsSo(one.names, std::to_string(fact.sizes[0]));
                      }));
}

/// Lines of the cases that the text's shapes and sizes make; empty without any.
std::string casesOf(const Shipped &shipped, const definition::Operator &op,
                    const ComputedDims &computed, const Facts &facts, Written &written) {
  constexpr size_t mostCases = 16;
  std::string cases;
  std::vector<std::string> seen;
  const auto add = [&](const std::optional<Binding> &bound, const std::string &what,
                       const std::string &name) {
    const auto binding = bound ? asWritten(computed, *bound) : std::nullopt;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return;
    }
    const std::string other = binding ? otherCount(*binding, facts) : "";
    if (!binding) {
      written.unused.push_back(what + ": no shape of " + op.name);
    } else if (!other.empty()) {
      written.unused.push_back(what + ": " + other);
    } else if (seen.size() >= mostCases) {
      written.unused.push_back(what + fmt::format(": more than {} cases", mostCases));
    } else {
      seen.push_back(name);
      cases += caseText(op, computed, *binding, name);
      written.found.push_back(what);
    }
  };
  std::set<std::vector<int64_t>> others; // shapes of other tensors, which gave a case its sizes
  for (const ShapeFact &fact : facts.shapes) {
    const std::string name = fmt::format("{}", fmt::join(fact.sizes, "x"));
    if (others.contains(fact.sizes)) {
      written.found.push_back("shape " + name + ", of another tensor");
      continue;
    }
    if (std::find(fact.sizes.begin(), fact.sizes.end(), 0) != fact.sizes.end()) {
      written.unused.push_back("shape " + name + ": without elements there is nothing to time");
      continue;
    }
    if (isWindowShape(facts, fact) && hasWindowsOf(shipped, facts)) {
      written.found.push_back("window " + name);
      continue;
    }
    if (isRowOfAnother(fact, facts)) {
      written.unused.push_back("shape " + name + ": a row of another shape of the text");
      continue;
    }
    const bool isLeft = std::any_of(facts.shapes.begin(), facts.shapes.end(),
                                    [&](const ShapeFact &one) { return !isOfOther(op, one); });
    if (isLeft && isOfOther(op, fact)) {
      written.unused.push_back(
          fmt::format("shape {}: of '{}', cases are of the first tensor", name, fact.of));
      continue;
    }
    std::string assumed;
    add(bindFirst(op, fact.sizes, facts, assumed, &others), "shape " + name, name);
    if (!assumed.empty() && !seen.empty() && seen.back() == name) {
      written.defaults.push_back(fmt::format("{} of {}", assumed, name));
    }
  }
  for (const SizeFact &fact : facts.lengths) {
    add(bindLast(op, computed, fact.size), fmt::format("{} {}", fact.name, fact.size),
        fmt::format("last dimension {}", fact.size));
  }
  Binding named;
  std::vector<std::string> sizes;
  for (const SizeFact &fact : facts.sizes) {
    named.symbols[fact.name] = fact.size;
    sizes.push_back(fmt::format("{} = {}", fact.name, fact.size));
  }
  const auto symbols = definition::symbolsOf(op);
  const bool isClosed = std::find(symbols.begin(), symbols.end(), "...") == symbols.end();
  if (!sizes.empty() && facts.shapes.empty()) {
    add(isClosed && hasAll(op, named) ? std::optional(named) : std::nullopt,
        fmt::format("size {}", fmt::join(sizes, ", ")), "sizes of the text");
  }
  for (const NamedShapeFact &fact : facts.namedShapes) {
    const std::string name = fmt::format("[{}]", fmt::join(fact.names, ", "));
    std::vector<std::string> assumed;
    const auto usual = withUsualSizes(fact, assumed);
    std::string more;
    const auto binding = usual ? bindFirst(op, *usual, facts, more) : std::nullopt;
    if (!binding) {
      written.unused.push_back("shape " + name + ": its names have no sizes");
      continue;
    }
    add(binding, "shape " + name, fmt::format("{}", fmt::join(*usual, "x")));
    assumed.insert(assumed.end(), !more.empty(), more);
    written.defaults.push_back(fmt::format("{} in {}", fmt::join(assumed, ", "), name));
  }
  for (const std::string &text : facts.noShapes) {
    written.unused.push_back(fmt::format(
        "{}: sizes are whole numbers from 0 to {}, at most 16 of them", text, INT64_MAX));
  }
  return cases;
}

/// The line's key, "" when it has none.
std::string keyOf(const std::string &line) {
  const size_t end = line.find_first_of(" =");
  return end == std::string::npos || line.find('=') == std::string::npos ? "" : line.substr(0, end);
}

/// Lines of the value that begins in `lines[at]`: a list, a text in three quotes, or one line.
size_t valueLines(const std::vector<std::string> &lines, size_t at) {
  const std::string value = lines[at].substr(lines[at].find('=') + 1);
  const bool isText = value == " \"\"\"", isList = value == " [";
  size_t end = at + 1;
  while ((isText || isList) && end < lines.size() && lines[end] != (isText ? "\"\"\"" : "]")) {
    ++end;
  }
  return isText || isList ? std::min(end + 1, lines.size()) - at : 1;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

using Replaced = std::map<std::string, std::string>; // "section.key" → lines

/// What the text says beside cases and types, and what it leaves open.
void fillRest(const definition::Operator &op, const Facts &facts, Replaced &replaced,
              Written &written) {
  if (facts.speedups.empty()) {
    written.defaults.push_back(fmt::format("target_speedup {}", op.targetSpeedup));
  } else {
    written.found.push_back(fmt::format("target_speedup {}", facts.speedups.front().value));
    replaced["[performance].target_speedup"] =
        fmt::format("target_speedup = {}", facts.speedups.front().value);
  }
  for (const NumberFact &fact : facts.precisions) {
    written.unused.push_back(
        fmt::format("precision {}: bounds follow from type and length", fact.value));
  }
  for (const Term &target : facts.targets) {
    written.unused.push_back(
        fmt::format("target {}: a definition holds for all, --chip chooses", target.idea));
  }
  for (const NumberFact &fact : facts.peaks) {
    written.unused.push_back(
        fmt::format("{} % of the peak: 'nereid develop' goes on to 85 % of the roofline by itself",
                    fact.value));
  }
  for (const Term &type : facts.innerTypes) {
    written.unused.push_back(
        fmt::format("type {}: it is of sums, or of what is compared with", type.idea));
  }
  for (const Term &type : facts.inputTypes) {
    written.unused.push_back(fmt::format("type {}: it is of one input", type.idea));
  }
  for (const Term &type : facts.castTypes) {
    written.unused.push_back(fmt::format("type {}: it stands behind '{}'", type.idea, "to"));
  }
}

/// Of types that nobody named: beside integers a fraction would make floats.
void keepFloats(const definition::Operator &op, Replaced &replaced, Written &written) {
  std::vector<std::string> floats;
  for (const DType type : op.dtypes) {
    if (isFloat(type)) {
      floats.push_back(quoted(std::string(torchName(type))));
    }
  }
  if (!replaced.contains("[operator].dtypes") && !floats.empty() &&
      floats.size() < op.dtypes.size()) {
    replaced["[operator].dtypes"] = fmt::format("dtypes = [{}]", fmt::join(floats, ", "));
    written.defaults.push_back("types of floats alone, for the fraction");
  }
}

/// Number inputs that the text gives a value, in either form of their lines.
void fillNumbers(const Shipped &shipped, const NumbersOf &numbers, Replaced &replaced,
                 Written &written) {
  if (numbers.other) {
    written.found.push_back(numbers.other->said);
  }
  for (const auto &[input, given] : numbers.inputs) {
    written.found.push_back(fmt::format("{} {}", input, given));
    // One that is never an integer, or its argument would be one from now on.
    const auto parameter = std::find_if(shipped.op.parameters.begin(), shipped.op.parameters.end(),
                                        [&](const auto &each) { return each.name == input; });
    const bool isPoint = !parameter->isInteger && given.find_first_of(".e") == std::string::npos;
    if (parameter->isInteger && given.find_first_of(".e") != std::string::npos) {
      keepFloats(shipped.op, replaced, written);
    }
    const std::string text = given + (isPoint ? ".0" : "");
    replaced[fmt::format("[inputs.{}].value", input)] = "value = " + text;
    replaced[fmt::format("[inputs].{}", input)] = fmt::format("{} = {}", input, text);
  }
  for (const LooseNumber &number : numbers.open) {
    written.unused.push_back(
        fmt::format("number {}: '{}' has none like it", number.text, shipped.op.name));
  }
}

/// What a body that is one call gives it, and the text does not say: "stride 2, padding 1".
void fillAssumed(const Shipped &shipped, const NumbersOf &numbers, const Facts &facts,
                 const Request &request, Written &written) {
  static const std::set<std::string> views = {"dim", "dims", "dtype", "keepdim"};
  const std::string &body = numbers.other ? numbers.other->op.body : shipped.op.body;
  if (!shipped.origin.empty() || std::count(body.begin(), body.end(), '\n') != 1) {
    return;
  }
  const std::string prose = lowerCase(request.prose);
  const auto isLoose = [&](double value) {
    return std::any_of(facts.loose.begin(), facts.loose.end(),
                       [&](const LooseNumber &number) { return number.value == value; }) ||
           std::any_of(facts.shapes.begin(), facts.shapes.end(), [&](const ShapeFact &shape) {
             return std::find(shape.sizes.begin(), shape.sizes.end(),
                              static_cast<int64_t>(value)) != shape.sizes.end();
           });
  };
  std::vector<std::string> assumed;
  for (const BodyArgument &argument : argumentsOf(body)) {
    const bool isSaid = argument.isWord
                            ? prose.find(argument.text.substr(0, 5)) != std::string::npos
                            : std::all_of(argument.values.begin(), argument.values.end(), isLoose);
    if (!isSaid && !argument.name.empty() && !views.contains(argument.name)) {
      assumed.push_back(fmt::format("{} {}", argument.name, argument.text));
    }
  }
  if (!assumed.empty()) {
    written.defaults.push_back(
        fmt::format("{}, as '{}' has it", fmt::join(assumed, ", "), shipped.op.name));
  }
}

/// Which outputs are the gradients that were asked for, and which come with them.
void fillGradients(const Shipped &shipped, const Facts &facts, Written &written) {
  std::vector<std::string> more;
  for (size_t i = 0; !facts.gradients.empty() && i < shipped.gradients.size(); ++i) {
    const std::string &output = shipped.op.outputNames[i];
    const auto asked =
        std::find_if(facts.gradients.begin(), facts.gradients.end(), [&](const GradientFact &fact) {
          return shipped.gradients[i].contains(fact.idea);
        });
    if (asked == facts.gradients.end()) {
      more.push_back(output);
    } else {
      written.found.push_back(
          fmt::format("the gradient with respect to '{}': '{}'", asked->text, output));
    }
  }
  if (!more.empty()) {
    written.unused.push_back(
        fmt::format("'{}': computed as well, nobody asked for it", fmt::join(more, "', '")));
  }
}

/// Of an input whose type is always this one.
bool isTypeOfInput(const definition::Operator &op, DType type) {
  return std::any_of(op.parameters.begin(), op.parameters.end(),
                     [&](const auto &parameter) { return parameter.fixedDtype == type; });
}

/// E0624 for a type the definition does not have.
Status fillTypes(const definition::Operator &op, const Facts &facts, const Request &request,
                 Replaced &replaced, Written &written) {
  std::vector<std::string> types;
  for (const Term &type : facts.types) {
    Status known = definition::checkDtype(op, *parseDType(type.idea));
    if (!known && isTypeOfInput(op, *parseDType(type.idea))) { // "int8 linear"
      written.unused.push_back(fmt::format("type {}: it is of one input", type.idea));
      continue;
    }
    if (!known) {
      auto error = makeError("E0624", known.error().message);
      error.at(request.path, request.text, type.range);
      return error.withHelp("name another type, or none");
    }
    types.push_back(quoted(type.idea));
    written.found.push_back("type " + type.idea);
  }
  if (!types.empty()) {
    replaced["[operator].dtypes"] = fmt::format("dtypes = [{}]", fmt::join(types, ", "));
    return Done{};
  }
  std::vector<std::string_view> own;
  for (const DType type : op.dtypes) {
    own.push_back(torchName(type));
  }
  written.defaults.push_back(fmt::format("types {}", fmt::join(own, ", ")));
  return Done{};
}

std::string scenesText(const std::vector<definition::Scene> &scenes) {
  std::string text;
  for (const definition::Scene &scene : scenes) {
    text +=
        fmt::format("\n[[scene]]\nname = {}\ncode = {}\n", quoted(scene.name), quoted(scene.code));
  }
  return text;
}

std::string comments(const Written &written, const std::string &from) {
  std::string text = fmt::format("# Written by `nereid define` from {}.\n", from);
  const auto list = [&](const char *what, const std::vector<std::string> &lines) {
    for (const std::string &line : lines) {
      text += fmt::format("# {}: {}\n", what, line);
    }
  };
  list("Found", written.found);
  list("Not found, assumed", written.defaults);
  list("Not used", written.unused);
  return text;
}

/// The shipped text with other values and `head` behind its first comments.
std::string replacedText(const std::string &shipped, Replaced replaced,
                         const std::string &requirement, const std::string &head) {
  std::string text, section;
  bool isHead = true;
  const std::vector<std::string> lines = linesOf(shipped);
  for (size_t at = 0; at < lines.size();) {
    if (isHead && !lines[at].starts_with("#")) {
      text += head;
      isHead = false;
    }
    if (lines[at].starts_with("[") && lines[at].ends_with("]")) {
      section = lines[at];
    }
    const std::string key = section + "." + keyOf(lines[at]);
    const size_t count = keyOf(lines[at]).empty() ? 1 : valueLines(lines, at);
    if (auto row = replaced.find(key); row != replaced.end()) {
      text += row->second.empty() ? "" : row->second + "\n";
      replaced.erase(row);
    } else {
      for (size_t i = at; i < at + count; ++i) {
        text += lines[i] + "\n";
      }
    }
    at += count;
    if (key == "[operator].summary") {
      text += "requirement = " + quoted(requirement) + "\n";
    }
    if (lines[at - count] == "[performance]" &&
        shipped.find("\ntarget_speedup") == std::string::npos &&
        replaced.contains("[performance].target_speedup")) {
      text += replaced["[performance].target_speedup"] + "\n";
    }
  }
  return text;
}

} // namespace

Result<Written> writeDefinition(const Shipped &shipped, const Facts &facts, const Request &request,
                                const std::string &name) {
  Written written;
  Replaced replaced;
  replaced["[operator].requirement"] = "";
  if (!name.empty()) {
    replaced["[operator].name"] = "name = " + quoted(name);
  }
  if (Status done = fillTypes(shipped.op, facts, request, replaced, written); !done) {
    return done.error();
  }
  const NumbersOf numbers = numbersOf(shipped, facts);
  const definition::Operator &op = numbers.other ? numbers.other->op : shipped.op;
  const std::string cases = casesOf(
      shipped, op, definition::computedDimsOf(numbers.other ? numbers.other->text : shipped.text),
      facts, written);
  if (cases.empty()) {
    written.defaults.push_back("cases of " + shipped.op.name);
  } else {
    replaced["[performance].cases"] = "cases = [\n" + cases + "]";
  }
  fillRest(shipped.op, facts, replaced, written);
  fillNumbers(shipped, numbers, replaced, written);
  fillAssumed(shipped, numbers, facts, request, written);
  fillGradients(shipped, facts, written);
  if (request.isShortened) {
    written.unused.push_back("the end of the text, in 'requirement'");
  }
  written.text =
      replacedText(numbers.other ? numbers.other->text : shipped.text, std::move(replaced),
                   request.requirement,
                   comments(written, shipped.origin.empty()
                                         ? fmt::format("the definition '{}'", shipped.op.name)
                                         : shipped.origin)) +
      scenesText(request.scenes);
  Diagnostics diags;
  if (!definition::parseOperator("definition", written.text, diags)) {
    return makeError("E0624", "what the text says does not fit '" + shipped.op.name + "'")
        .note(diags.all().empty() ? "" : diags.all().front().message)
        .withHelp("change the shapes, types or the name that the text gives");
  }
  return written;
}

} // namespace nereid::words
