// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/programs/ProgramOperator.h"

#include "lib/generator/kernel/Printer.h"
#include "lib/generator/lower/InPlace.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/programs/DeepStack.h"
#include "lib/generator/programs/RowStrides.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// What the program of one type becomes.
struct OfType {
  DType dtype{};
  MadeKernels made;

  std::string text() const {
    std::string all;
    for (const StageKernel &kernel : made.kernels) {
      all += kernel::text(kernel.tree);
    }
    return all;
  }
};

/// Types that share a text, the first one's.
struct Shared {
  std::string text;
  std::vector<OfType *> types;
};

/// Kernels of all types. Those with the same text, their names apart, are one: stages of integers
/// that count or number are often the same whatever the operator's type is, and each kernel of a
/// file is compiled for its every signature.
class Kernels {
public:
  void add(const kernel::Kernel &tree) {
    const std::string text = kernel::text(tree);
    auto [at, isNew] = nameOf.emplace(without(text, tree.name), tree.name);
    if (isNew) {
      texts.push_back(text);
    } else {
      replaced[tree.name] = at->second;
    }
  }
  /// What the table's launches are called once all of its kernels are added.
  void rename(LaunchTable &table) const {
    for (LaunchEntry &entry : table.kernels) {
      if (auto other = replaced.find(entry.function); other != replaced.end()) {
        entry.function = other->second;
      }
    }
  }

  std::vector<std::string> texts;

private:
  /// What it calls is named after it.
  static std::string without(std::string text, const std::string &name) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
      text.erase(at, name.size());
    }
    return text;
  }

  std::map<std::string, std::string> nameOf;   ///< by the text without a name
  std::map<std::string, std::string> replaced; ///< names by those that are not written
};

/// Outputs have the types that the definition declares: programs know their values' types alone.
Status checkOutputs(const definition::Operator &op, const Program &program, DType dtype) {
  for (size_t i = 0; i < op.outputNames.size(); ++i) {
    const std::optional<DType> declared = i < op.outputDtypes.size() ? op.outputDtypes[i] : dtype;
    const std::optional<BufferId> buffer = program.find(op.outputNames[i]);
    const DType wanted = declared.value_or(dtype);
    if (buffer && program.buffers[*buffer].dtype != wanted) {
      return makeError("E0607",
                       fmt::format("output '{}' of type {} is computed in {}", op.outputNames[i],
                                   torchName(wanted), torchName(program.buffers[*buffer].dtype)));
    }
  }
  return Done{};
}

Result<OfType> made(const definition::Operator &op, DType dtype, const std::string &name) {
  OfType result;
  result.dtype = dtype;
  auto program = lower(op, dtype);
  if (!program) {
    return program.error();
  }
  if (Status fits = checkOutputs(op, *program, dtype); !fits) {
    return fits.error();
  }
  writeInPlace(*program, op);
  normalise(*program);
  freeRowStrides(*program);
  auto kernels = makeKernels(*program, name);
  if (!kernels) {
    return kernels.error();
  }
  result.made = std::move(*kernels);
  result.made.table.dtype = dtype;
  return result;
}

/// float32 last: the texts of shorter floats serve it as well.
std::vector<Shared> sharedTexts(std::vector<OfType> &types) {
  std::vector<Shared> shared;
  auto place = [&](OfType &one, bool isFloat32) {
    const std::string text = one.text();
    auto found = std::find_if(shared.begin(), shared.end(), [&](const Shared &each) {
      return each.text == text || (isFloat32 && isServedBy(text, each.text));
    });
    found = found == shared.end() ? shared.insert(found, {text, {}}) : found;
    found->types.push_back(&one);
  };
  for (const bool isFloat32 : {false, true}) {
    for (OfType &one : types) {
      if ((one.dtype == DType::F32) == isFloat32) {
        place(one, isFloat32);
      }
    }
  }
  return shared;
}

/// Length of the conversion to float32, or to the type of a tensor, that begins there; 0 = none
/// does.
size_t conversionAt(const std::string &text, size_t at) {
  constexpr std::string_view begin = ".to(", toFloat32 = "tl.float32)",
                             toElement = ".dtype.element_ty)";
  if (text.compare(at, begin.size(), begin) != 0) {
    return 0;
  }
  const size_t type = at + begin.size();
  if (text.compare(type, toFloat32.size(), toFloat32) == 0) {
    return begin.size() + toFloat32.size();
  }
  const size_t member = text.find_first_of(".)", type);
  return member != std::string::npos && text.compare(member, toElement.size(), toElement) == 0
             ? member + toElement.size() - at
             : 0;
}

/// The table without what may differ between types that share their launches' code.
LaunchTable withoutTypes(LaunchTable table) {
  table.dtype = DType::F32;
  for (LaunchEntry &kernel : table.kernels) {
    for (LaunchArgument &argument : kernel.arguments) {
      argument.dtype = DType::F32;
    }
    kernel.accesses.clear(); // of their sizes nothing depends in a launch
  }
  return table;
}

} // namespace

/// The text with each statement in one line: how it is broken depends on what it converts.
static std::string joinedLines(const std::string &text) {
  std::string result;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
    const bool isSpace = text[i] == ' ' || text[i] == '\n';
    const bool isLastComma = text[i] == ',' && i + 1 < text.size() && text[i + 1] == '\n' &&
                             text[text.find_first_not_of(" \n", i + 1)] == ')';
    if (depth == 0 || (!isSpace && !isLastComma)) {
      result += text[i];
    }
  }
  return result;
}

bool isServedBy(const std::string &own, const std::string &other) {
  const std::string text = joinedLines(own), general = joinedLines(other);
  size_t at = 0;
  for (size_t i = 0; i < general.size();) {
    const size_t conversion = conversionAt(general, i);
    const bool isHereToo =
        at < text.size() && text.compare(at, conversion, general, i, conversion) == 0;
    if (conversion > 0 && !isHereToo) {
      i += conversion;
    } else if (at < text.size() && text[at] == general[i]) {
      ++at;
      ++i;
    } else {
      return false;
    }
  }
  return at == text.size();
}

/// One for each of the definition's types, under the operator's name.
static Result<std::vector<OfType>> madeOfTypes(const definition::Operator &op) {
  const std::vector<std::string> symbols = definition::symbolsOf(op);
  auto has = [&](const char *name) {
    return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
  };
  for (const std::string &symbol : symbols) {
    if (symbol.starts_with(choicePrefix)) {
      return makeError("E0607", fmt::format("the size '{}' has the name of a choice", symbol));
    }
  }
  std::map<std::string, int64_t> ofLaunches = LaunchSite{}.values();
  ofLaunches[elementBytesName] = 0;
  for (const auto &[name, value] : ofLaunches) {
    if (has(name.c_str())) {
      return makeError("E0607", fmt::format("the size '{}' has a name of launches", name));
    }
  }
  std::vector<OfType> types;
  for (DType dtype : op.dtypes) {
    auto one = made(op, dtype, op.name);
    if (!one) {
      return one.error();
    }
    for (const LaunchEntry &entry : one->made.table.kernels) {
      for (const NamedExpression &constant : entry.constexprs) {
        if (has(constant.name.c_str())) { // a grid would be made of the one for the other
          return makeError("E0607",
                           fmt::format("the size '{}' has a name of launches", constant.name));
        }
      }
    }
    types.push_back(std::move(*one));
  }
  return types;
}

static Result<ProgramOperator> madeProgram(const definition::Operator &op) {
  auto types = madeOfTypes(op);
  if (!types) {
    return types.error();
  }
  const std::vector<Shared> shared = sharedTexts(*types);
  ProgramOperator result;
  Kernels kernels;
  for (const Shared &one : shared) {
    if (shared.size() > 1) {
      const auto name = fmt::format("{}_{}", op.name, torchName(one.types[0]->dtype));
      for (OfType *each : one.types) {
        *each = *made(op, each->dtype, name);
      }
    }
    for (const StageKernel &kernel : one.types[0]->made.kernels) {
      kernels.add(kernel.tree);
      result.usesLibdevice |= kernel.usesLibdevice;
    }
    for (OfType *each : one.types) {
      kernels.rename(each->made.table);
      result.tables[each->dtype] = std::move(each->made.table);
    }
  }
  result.kernels = std::move(kernels.texts);
  return result;
}

// Values are made of those they need, one call in another.
Status checkProgramOperator(const definition::Operator &op) {
  Status result = Done{};
  onDeepStack([&] {
    auto types = madeOfTypes(op);
    result = types ? Status(Done{}) : Status(types.error());
  });
  return result;
}

Result<ProgramOperator> makeProgramOperator(const definition::Operator &op) {
  Result<ProgramOperator> result = ProgramOperator{};
  onDeepStack([&] { result = madeProgram(op); });
  return result;
}

std::vector<std::vector<DType>> launchGroups(const ProgramOperator &program,
                                             const definition::Operator &op) {
  std::vector<std::vector<DType>> groups;
  for (DType dtype : op.dtypes) {
    const LaunchTable table = withoutTypes(program.tables.at(dtype));
    auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<DType> &group) {
      return withoutTypes(program.tables.at(group[0])) == table;
    });
    same = same == groups.end() ? groups.insert(same, std::vector<DType>()) : same;
    same->push_back(dtype);
  }
  return groups;
}

} // namespace nereid::generator
