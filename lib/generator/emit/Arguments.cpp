// SPDX-License-Identifier: Apache-2.0
// What a kernel is passed, see Arguments.h.
#include "lib/generator/emit/Arguments.h"

namespace nereid::generator {
namespace {

constexpr size_t nameAtMost = 16;

/// "N_M" of N*M, "N_minus_1" of N - 1.
std::string spoken(const std::string &text) {
  std::string result;
  for (char c : text) {
    result += c == '+' ? "plus" : c == '-' ? "minus_" : c == '/' ? "_by_" : std::string(1, c);
  }
  return result;
}

std::set<std::string> namesOf(const Program &program) {
  std::set<std::string> result;
  for (const Symbol &symbol : program.space.symbols.all()) {
    result.insert(symbol.name);
  }
  for (const Buffer &buffer : program.buffers) {
    if (buffer.role == BufferRole::Input || buffer.role == BufferRole::InOut) {
      result.insert(buffer.name);
    }
  }
  for (const Node *node : program.values()) {
    if (node->kind == NodeKind::Param) {
      result.insert(node->name);
    }
  }
  return result;
}

} // namespace

Arguments::Arguments(const Program &program, std::string kernelName)
    : kernelName(std::move(kernelName)), program(program) {
  for (size_t id = 0; id < program.buffers.size(); ++id) { // first, so that they keep their names
    if (!program.buffers[id].base) {
      pointers[static_cast<BufferId>(id)] = names.fresh(program.buffers[id].name + "_ptr");
    }
  }
  names.fresh("WIDE");
}

kernel::Expr Arguments::memory(BufferId buffer) {
  const BufferId base = program.baseOf(buffer);
  const StageArgument made{
      StageArgument::Kind::Memory, pointers.at(base), base, "", program.buffers[base].dtype, {}};
  return kernel::name(buffers.try_emplace(base, made).first->second.name);
}

kernel::Expr Arguments::number(const Node &parameter) {
  for (const StageArgument &known : numbers) {
    if (known.parameter == parameter.name && known.dtype == parameter.dtype) {
      return kernel::name(known.name);
    }
  }
  numbers.push_back({StageArgument::Kind::Number,
                     names.fresh(parameter.name),
                     0,
                     parameter.name,
                     parameter.dtype,
                     {}});
  return kernel::name(numbers.back().name);
}

kernel::Expr Arguments::size(const Polynomial &value, const std::string &hint) {
  if (std::optional<int64_t> number = value.constant()) {
    return *number;
  }
  for (const StageArgument &known : sizes) {
    if (known.value == value) {
      return kernel::name(known.name);
    }
  }
  const std::string text = program.space.symbols.text(value);
  sizes.push_back({StageArgument::Kind::Size,
                   names.fresh(text.size() > nameAtMost ? hint : spoken(text)), 0, "", DType::I64,
                   value});
  return kernel::name(sizes.back().name);
}

std::string Arguments::freshFor(const std::string &written, const std::string &otherwise) {
  const std::string word = written.substr(0, written.find_last_not_of('_') + 1); // as Names has it
  if (word.empty() || word.starts_with(kernelName)) {
    return names.fresh(otherwise);
  }
  if (!kept) {
    kept = namesOf(program);
  }
  return names.fresh(word != otherwise && kept->contains(word) ? word + "_1" : word);
}

std::vector<StageArgument> Arguments::take() {
  std::vector<StageArgument> result;
  result.reserve(buffers.size() + numbers.size() + sizes.size());
  for (const auto &[id, buffer] : buffers) {
    result.push_back(buffer);
  }
  result.insert(result.end(), numbers.begin(), numbers.end());
  result.insert(result.end(), sizes.begin(), sizes.end());
  return result;
}

} // namespace nereid::generator
