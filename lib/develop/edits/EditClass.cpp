// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/edits/EditClass.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace nereid::develop {
namespace {

using definition::Operator;
using definition::Parameter;

class Comparison {
public:
  Comparison(const Operator &before, const Operator &after) : before(before), after(after) {}

  DefinitionChange run() {
    interface();
    if (logic()) {
      found(EditClass::Logic, "the body computes something else");
    }
    parameters();
    words();
    return std::move(change);
  }

private:
  void found(EditClass editClass, std::string reason) {
    change.editClass = std::max(change.editClass, editClass);
    change.reasons.push_back(fmt::format("{}: {}", editClassName(editClass), std::move(reason)));
  }

  template <class T>
  void compare(EditClass editClass, const std::string &what, const T &a, const T &b) {
    if (a != b) {
      found(editClass, fmt::format("{} was {}, now {}", what, a, b));
    }
  }

  static std::string typeText(const std::optional<DType> &dtype) {
    return dtype ? std::string(torchName(*dtype)) : "the operator's type";
  }
  static std::string describe(const Parameter &one) {
    return one.isScalar ? fmt::format("a number, default {}{}", one.value,
                                      one.isInteger ? " (an integer)" : "")
                        : definition::text(one.shape) + " of " + typeText(one.fixedDtype);
  }
  static std::string typesOf(const Operator &op) {
    std::vector<std::string_view> names;
    for (DType dtype : op.dtypes) {
      names.push_back(torchName(dtype));
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }
  static std::string namesOf(const Operator &op) {
    std::vector<std::string> names;
    for (const Parameter &one : op.parameters) {
      names.push_back(one.name);
    }
    return fmt::format("({}) -> ({})", fmt::join(names, ", "), fmt::join(op.outputNames, ", "));
  }
  static std::string constraintsOf(const Operator &op) {
    std::vector<std::string> texts;
    for (const auto &one : op.constraints) {
      texts.push_back(one.text);
    }
    std::sort(texts.begin(), texts.end());
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }

  void interface() {
    compare(EditClass::Interface, "the name", before.name, after.name);
    compare(EditClass::Interface, "the signature", namesOf(before), namesOf(after));
    for (const Parameter &old : before.parameters) {
      for (const Parameter &one : after.parameters) {
        if (one.name == old.name) {
          compare(EditClass::Interface, fmt::format("input '{}'", one.name), describe(old),
                  describe(one));
        }
      }
    }
    for (size_t i = 0; i < before.outputs.size() && i < after.outputs.size(); ++i) {
      auto describeOutput = [&](const Operator &op) {
        return definition::text(op.nodes[static_cast<size_t>(op.outputs[i])].shape) + " of " +
               typeText(op.outputDtypes[i]);
      };
      compare(EditClass::Interface, fmt::format("output {}", i + 1), describeOutput(before),
              describeOutput(after));
    }
    compare(EditClass::Interface, "the list of types", typesOf(before), typesOf(after));
    compare(EditClass::Interface, "the constraints", constraintsOf(before), constraintsOf(after));
  }

  static std::string shown(const std::vector<int64_t> &list) {
    return fmt::format("[{}]", fmt::join(list, ","));
  }
  template <class T> static std::string shown(const T &value) { return fmt::format("{}", value); }

  /// All values in the order of the body, each by its operation and its parts' numbers, whatever it
  /// is called.
  static std::vector<std::string> formulas(const Operator &op) {
    std::vector<std::string> list;
    for (const auto &node : op.nodes) {
      std::string text = node.op + " " + fmt::format("{}", fmt::join(node.inputs, " "));
      for (const auto &[name, value] : node.attributes) {
        text += " " + name + "=" + std::visit([](const auto &one) { return shown(one); }, value);
      }
      list.push_back(std::move(text));
    }
    list.push_back(fmt::format("outputs {}", fmt::join(op.outputs, " ")));
    return list;
  }

  bool logic() const {
    // Inputs that came or went change the numbers; then the body must differ to count.
    return namesOf(before) == namesOf(after) ? formulas(before) != formulas(after)
                                             : before.body != after.body;
  }

  static std::string casesOf(const std::vector<definition::Case> &cases) {
    std::string text;
    for (const auto &one : cases) {
      text += fmt::format("{}{}(", text.empty() ? "" : ", ", one.name);
      text += fmt::format("{}", fmt::join(one.binding.rest, "x"));
      for (const auto &[name, size] : one.binding.symbols) {
        text += fmt::format(" {}={}", name, size);
      }
      text += ")";
    }
    return text.empty() ? "none" : text;
  }

  void parameters() {
    compare(EditClass::Parameter, "the accuracy cases", casesOf(before.accuracyCases),
            casesOf(after.accuracyCases));
    compare(EditClass::Parameter, "the performance cases", casesOf(before.performanceCases),
            casesOf(after.performanceCases));
    compare(EditClass::Parameter, "the target", before.targetSpeedup, after.targetSpeedup);
    compare(EditClass::Parameter, "the number of rounds", before.maxRounds, after.maxRounds);
  }

  void words() {
    auto describe = [](const Operator &op) {
      std::string text = op.summary + "\n" + op.requirement + "\n" + op.body;
      for (const Parameter &one : op.parameters) {
        text += "\n" + one.description;
      }
      for (const std::string &one : op.outputDescriptions) {
        text += "\n" + one;
      }
      for (const auto &scene : op.scenes) {
        text += "\n" + scene.name + "\n" + scene.description + "\n" + scene.code;
      }
      return text;
    };
    if (change.editClass == EditClass::None && describe(before) != describe(after)) {
      found(EditClass::Text, "words or names that nothing is computed from");
    }
  }

  const Operator &before, &after;
  DefinitionChange change;
};

/// Without comments and spaces; strings stay as they are.
std::string codeOf(const std::string &line, std::string_view comment) {
  std::string code;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char one = line[i];
    if (quote == 0 && line.compare(i, comment.size(), comment) == 0) {
      break;
    }
    if (quote != 0 && one == '\\') {
      code += one;
      code += i + 1 < line.size() ? line[++i] : ' ';
      continue;
    }
    quote = quote == 0 && (one == '"' || one == '\'') ? one : one == quote ? 0 : quote;
    if (quote != 0 || (one != ' ' && one != '\t' && one != '\r')) {
      code += one;
    }
  }
  return code;
}

/// Indentation is code in Python.
bool isSameCode(const Hunk &hunk, std::string_view comment, bool keepsIndent) {
  auto codes = [&](const std::vector<std::string> &lines) {
    std::vector<std::string> list;
    for (const std::string &line : lines) {
      std::string code = codeOf(line, comment);
      if (!code.empty()) {
        const size_t indent = keepsIndent ? line.find_first_not_of(" \t") : 0;
        list.push_back(fmt::format("{} {}", indent, code));
      }
    }
    return list;
  };
  return codes(hunk.before) == codes(hunk.after);
}

/// Lines of the tables that `nereid optimize` and modes rewrite, and of the wrapper's statements
/// that compute blocks.
std::vector<bool> parameterLines(const std::string &text) {
  static const std::regex begins(R"(\s+(?:block_\w+|num_warps\w*|num_stages\w*|tuned\w*) = )");
  std::vector<bool> ofParameters;
  bool isTable = false, isStatement = false;
  int64_t depth = 0;
  for (const std::string &line : linesOf(text)) {
    isTable = isTable || line.starts_with("SCHEDULES = {") || line.starts_with("FORMS = {");
    isStatement = isStatement || std::regex_search(line.substr(0, 100), begins,
                                                   std::regex_constants::match_continuous);
    ofParameters.push_back(isTable || isStatement);
    isTable = isTable && !line.starts_with("}") && !line.ends_with("= {}");
    depth += isStatement ? std::count(line.begin(), line.end(), '(') -
                               std::count(line.begin(), line.end(), ')')
                         : 0;
    isStatement = isStatement && depth > 0;
    depth = isStatement ? depth : 0;
  }
  return ofParameters;
}

bool allInside(const std::vector<bool> &inside, size_t line, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (line + i - 1 >= inside.size() || !inside[line + i - 1]) {
      return false;
    }
  }
  return true;
}

/// Numbers that are given to constants of schedules are all that differs.
bool isConstantChange(const Hunk &hunk) {
  static const std::regex given(
      R"re((["']?\b(?:BLOCK_[A-Z]|GROUP_M|num_warps|num_stages)\b["']?\s*[=:]\s*)(?:\d+|block_\w+))re");
  auto open = [&](const std::vector<std::string> &lines) {
    std::vector<std::string> list;
    for (const std::string &line : lines) {
      list.push_back(std::regex_replace(line.substr(0, 2000), given, "$1_"));
    }
    return list;
  };
  return hunk.before.size() == hunk.after.size() && open(hunk.before) == open(hunk.after);
}

} // namespace

std::string_view editClassName(EditClass editClass) {
  constexpr std::string_view names[] = {"none", "text", "parameter", "interface", "logic"};
  return names[static_cast<size_t>(editClass)];
}

DefinitionChange classify(const definition::Operator &before, const definition::Operator &after) {
  return Comparison(before, after).run();
}

EditClass classifyKernel(const std::string &before, const std::string &after,
                         const std::vector<Hunk> &hunks) {
  const std::vector<bool> linesBefore = parameterLines(before), linesAfter = parameterLines(after);
  EditClass most = EditClass::None;
  for (const Hunk &hunk : hunks) {
    const bool isParameter = allInside(linesBefore, hunk.lineBefore, hunk.before.size()) &&
                             allInside(linesAfter, hunk.lineAfter, hunk.after.size());
    most = std::max(most, isSameCode(hunk, "#", true)             ? EditClass::Text
                          : isParameter || isConstantChange(hunk) ? EditClass::Parameter
                                                                  : EditClass::Logic);
  }
  return most;
}

EditClass classifyCpp(const std::vector<Hunk> &hunks) {
  EditClass most = EditClass::None;
  for (const Hunk &hunk : hunks) {
    most = std::max(most, isSameCode(hunk, "//", false) ? EditClass::Text : EditClass::Logic);
  }
  return most;
}

} // namespace nereid::develop
