// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Writing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace nereid::words {
namespace {

using definition::Binding;

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

std::string caseText(const definition::Operator &op, const Binding &binding,
                     const std::string &name) {
  std::string text = fmt::format("  {{ name = \"{}\"", name);
  for (const std::string &symbol : definition::symbolsOf(op)) {
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

/// Lines of the cases that the text's shapes and sizes make; empty without any.
std::string casesOf(const definition::Operator &op, const Facts &facts, Written &written) {
  const auto tensor = std::find_if(op.parameters.begin(), op.parameters.end(),
                                   [](const auto &parameter) { return !parameter.isScalar; });
  std::string cases;
  std::vector<std::vector<int64_t>> seen;
  for (const ShapeFact &fact : facts.shapes) {
    Binding binding;
    const std::string name = fmt::format("{}", fmt::join(fact.sizes, "x"));
    const bool fits = tensor != op.parameters.end() && unify(tensor->shape, fact.sizes, binding) &&
                      hasAll(op, binding);
    if (!fits) {
      written.unused.push_back("shape " + name);
    } else if (std::find(seen.begin(), seen.end(), fact.sizes) == seen.end()) {
      cases += caseText(op, binding, name);
      seen.push_back(fact.sizes);
    }
  }
  Binding named;
  for (const SizeFact &fact : facts.sizes) {
    named.symbols[fact.name] = fact.size;
  }
  const auto symbols = definition::symbolsOf(op);
  const bool isClosed = std::find(symbols.begin(), symbols.end(), "...") == symbols.end();
  if (!facts.sizes.empty() && isClosed && hasAll(op, named)) {
    return cases + caseText(op, named, "sizes of the text");
  }
  for (const SizeFact &fact : facts.sizes) {
    written.unused.push_back(fmt::format("size {} = {}", fact.name, fact.size));
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

} // namespace

Result<Written> writeDefinition(const Shipped &shipped, const Facts &facts,
                                const std::string &requirement, const std::string &name) {
  Written written;
  std::map<std::string, std::string> replaced; // "section.key" → line
  replaced["[operator].requirement"] = "";
  if (!name.empty()) {
    replaced["[operator].name"] = "name = " + quoted(name);
  }
  std::vector<std::string> types;
  for (const Term &type : facts.types) {
    auto dtype = parseDType(type.idea);
    Status known = definition::checkDtype(shipped.op, *dtype);
    if (!known) {
      return makeError("E0624", known.error().message).withHelp("name another type, or none");
    }
    types.push_back(quoted(type.idea));
  }
  types.empty()
      ? written.defaults.push_back("types: those of " + shipped.op.name)
      : (replaced["[operator].dtypes"] = fmt::format("dtypes = [{}]", fmt::join(types, ", ")),
         void());
  const std::string cases = casesOf(shipped.op, facts, written);
  cases.empty() ? written.defaults.push_back("cases: those of " + shipped.op.name)
                : (replaced["[performance].cases"] = "cases = [\n" + cases + "]", void());
  facts.speedups.empty()
      ? written.defaults.push_back(fmt::format("target_speedup: {}", shipped.op.targetSpeedup))
      : (replaced["[performance].target_speedup"] =
             fmt::format("target_speedup = {}", facts.speedups.front().value),
         void());
  for (const NumberFact &fact : facts.precisions) {
    written.unused.push_back(
        fmt::format("precision {}: bounds follow from type and length", fact.value));
  }
  std::string section;
  const std::vector<std::string> lines = linesOf(shipped.text);
  for (size_t at = 0; at < lines.size();) {
    if (lines[at].starts_with("[") && lines[at].ends_with("]")) {
      section = lines[at];
    }
    const std::string key = section + "." + keyOf(lines[at]);
    const size_t count = keyOf(lines[at]).empty() ? 1 : valueLines(lines, at);
    if (auto row = replaced.find(key); row != replaced.end()) {
      written.text += row->second.empty() ? "" : row->second + "\n";
      replaced.erase(row);
    } else {
      for (size_t i = at; i < at + count; ++i) {
        written.text += lines[i] + "\n";
      }
    }
    at += count;
    if (key == "[operator].summary") {
      written.text += "requirement = " + quoted(requirement) + "\n";
    }
    if (lines[at - count] == "[performance]" && !facts.speedups.empty() &&
        shipped.text.find("\ntarget_speedup") == std::string::npos) {
      written.text += replaced["[performance].target_speedup"] + "\n";
    }
  }
  Diagnostics diags;
  if (!definition::parseOperator("definition", written.text, diags)) {
    return makeError("E0624", "what the text says does not fit '" + shipped.op.name + "'")
        .note(diags.all().empty() ? "" : diags.all().front().message)
        .withHelp("change the shapes, types or the name that the text gives");
  }
  return written;
}

} // namespace nereid::words
