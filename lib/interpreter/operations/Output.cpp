// SPDX-License-Identifier: Apache-2.0
// Device prints and assertions.
#include "lib/interpreter/Instance.h"
#include "lib/tile/ir/PrintDescription.h"
#include "runtime/core/PrintLine.h"

#include <bit>
#include <cstdio>

namespace nereid::interpreter {
namespace {

/// The element as runtime/core/PrintLine.h takes it.
int64_t printedBits(const Tile &tile, size_t i, char form) {
  if (form == 'f') {
    return std::bit_cast<int64_t>(tile.number(i));
  }
  const bool isSigned = form == 'i' && tile.type != boolType;
  return isSigned ? static_cast<int64_t>(tile.integer(i)) : static_cast<int64_t>(tile[i]);
}

void writeLine(const Instance &instance, const std::string &line) {
  if (instance.launch.options.print) {
    instance.launch.options.print(line);
  } else {
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
}

bool print(Instance &instance, mlir::Operation *op) {
  auto print = mlir::cast<tile::PrintOp>(op);
  const int32_t id[3] = {static_cast<int32_t>(instance.id[0]), static_cast<int32_t>(instance.id[1]),
                         static_cast<int32_t>(instance.id[2])};
  auto write = [&](const std::string &description, int64_t index, int64_t bits) {
    char line[1024];
    runtime::formatPrintLine(line, sizeof line, description.c_str(), id, index, bits);
    writeLine(instance, std::string(line) + "\n");
  };
  if (print.getValues().empty()) {
    write(tile::printDescription(print, 0), 0, 0);
  }
  for (auto [number, value] : llvm::enumerate(print.getValues())) {
    const std::string description = tile::printDescription(print, static_cast<unsigned>(number));
    const Tile &tile = instance.get(value);
    for (size_t i = 0; i < tile.size(); ++i) {
      write(description, static_cast<int64_t>(i), printedBits(tile, i, description[0]));
    }
  }
  return true;
}

bool assertion(Instance &instance, mlir::Operation *op) {
  auto assertion = mlir::cast<tile::AssertOp>(op);
  const Tile &condition = instance.get(assertion.getCondition());
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] == 0) {
      std::string message = "device assertion failed: " + assertion.getMessage().str();
      Diagnostic &diagnostic = instance.report(op, "E0407", message);
      if (condition.isTile) {
        diagnostic.note("first at element " +
                        tuple(coordinates(condition.shape, static_cast<int64_t>(i)), '[', ']'));
      }
      return false;
    }
  }
  return true;
}

/// Watched by a monitor alone: nothing is computed from it.
bool assume(Instance &, mlir::Operation *) { return true; }

} // namespace

void addOutputHandlers(HandlerTable &table) {
  table.add<tile::PrintOp>(print);
  table.add<tile::AssertOp>(assertion);
  table.add<tile::AssumeOp>(assume);
}

} // namespace nereid::interpreter
