// SPDX-License-Identifier: Apache-2.0
// Device prints and assertions. The line format is the one compiled kernels print:
// pid (x, y, z) idx (i) prefix value.
#include "lib/interpreter/Instance.h"

#include <cstdio>

namespace nereid::interpreter {
namespace {

std::string numberText(const Tile &tile, size_t i, bool hex) {
  char text[64];
  if (tile.type.isFloat() && !hex) {
    std::snprintf(text, sizeof text, "%g", tile.number(i));
  } else if (hex || tile.type.kind == Kind::Pointer) {
    std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(tile.type.bytes() * 2),
                  static_cast<unsigned long long>(tile[i]));
  } else if (tile.type == boolType) {
    std::snprintf(text, sizeof text, "%d", tile[i] != 0 ? 1 : 0);
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(tile.integer(i)));
  }
  return text;
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
  const std::string head = "pid " + tuple(instance.id) + " ";
  const std::string prefix = print.getPrefix().str();
  if (print.getValues().empty()) {
    writeLine(instance, head + prefix + "\n");
  }
  for (mlir::Value value : print.getValues()) {
    const Tile &tile = instance.get(value);
    for (size_t i = 0; i < tile.size(); ++i) {
      const std::string index = tile.isTile ? std::to_string(i) : "";
      writeLine(instance, head + "idx (" + index + ") " + prefix + " " +
                              numberText(tile, i, print.getHex()) + "\n");
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

} // namespace

void addOutputHandlers(HandlerTable &table) {
  table.add<tile::PrintOp>(print);
  table.add<tile::AssertOp>(assertion);
}

} // namespace nereid::interpreter
