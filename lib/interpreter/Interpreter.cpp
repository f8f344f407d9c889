// SPDX-License-Identifier: Apache-2.0
// Entry of the oracle: finds the kernel, binds the arguments, runs the grid.
#include "lib/interpreter/Interpreter.h"

#include "lib/interpreter/Instance.h"

#include <cmath>

namespace nereid {
namespace {

using interpreter::ElementType;
using interpreter::Kind;
using interpreter::Launch;
using interpreter::Tile;

mlir::func::FuncOp findKernel(mlir::ModuleOp module, const std::string &name, Diagnostics &diags) {
  mlir::func::FuncOp found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function->hasAttr("tile.kernel") || (!name.empty() && function.getName() != name)) {
      continue;
    }
    if (found) {
      diags.add(makeError("E0408", "the module has several kernels, '" + found.getName().str() +
                                       "' and '" + function.getName().str() + "'")
                    .withHelp("name the one to run"));
      return {};
    }
    found = function;
  }
  if (!found || found.isExternal() || !found.getBody().hasOneBlock()) {
    diags.add(makeError("E0408", "the module has no function of one block with the attribute "
                                 "'tile.kernel'" +
                                     (name.empty() ? "" : " named '" + name + "'")));
    return {};
  }
  return found;
}

/// Name of the parameter in the kernel's source when the front end recorded it.
std::string argumentName(mlir::func::FuncOp kernel, unsigned index) {
  if (auto list = kernel->getAttrOfType<mlir::ArrayAttr>("nereid.arguments")) {
    if (index < list.size()) {
      if (auto entry = mlir::dyn_cast<mlir::DictionaryAttr>(list[index])) {
        if (auto name = entry.getAs<mlir::StringAttr>("name")) {
          return name.str();
        }
      }
    }
  }
  return "argument " + std::to_string(index);
}

bool refuse(Diagnostics &diags, const char *code, const std::string &name,
            const std::string &expected, const std::string &got) {
  diags.add(makeError(code, "'" + name + "' expects " + expected + ", but got " + got));
  return false;
}

/// Bits of the element must agree; a bool tensor may stand for int8 and the other way round.
bool fitsPointee(DType dtype, ElementType pointee) {
  if (isFloat(dtype) != pointee.isFloat() || sizeInBytes(dtype) != pointee.bytes()) {
    return false;
  }
  return dtype == DType::BF16 ? pointee.kind == Kind::BF16
                              : dtype != DType::F16 || pointee.kind == Kind::F16;
}

struct Binder {
  Launch &launch;
  Diagnostics &diags;
  const std::string name;
  mlir::Type type;
  ElementType element;

  bool bind(const runtime::Tensor *tensor) {
    auto pointer = mlir::dyn_cast<tile::PtrType>(type);
    if (!pointer || tensor == nullptr) {
      return refuse(diags, "E0409", name, pointer ? "a tensor" : "a number",
                    pointer ? "none" : "a tensor");
    }
    std::optional<ElementType> pointee = interpreter::elementTypeFor(pointer.getPointee());
    if (!pointee || !fitsPointee(tensor->dtype(), *pointee)) {
      std::string text;
      llvm::raw_string_ostream(text) << pointer.getPointee();
      return refuse(diags, "E0410", name, "a tensor of " + text,
                    "one of " + std::string(torchName(tensor->dtype())));
    }
    launch.memory.add(*tensor, name);
    launch.arguments.push_back(Tile::scalar(element, reinterpret_cast<uint64_t>(tensor->data())));
    return true;
  }

  bool bind(int64_t value) {
    if (element.kind == Kind::Pointer) {
      return refuse(diags, "E0409", name, "a tensor", std::to_string(value));
    }
    if (element.isFloat()) {
      return bindFloat(static_cast<double>(value));
    }
    const auto word = static_cast<uint64_t>(value) & element.mask();
    if (static_cast<int64_t>(word) != value && interpreter::asSigned(word, element.bits) != value) {
      return refuse(diags, "E0406", name, "an integer of " + std::to_string(element.bits) + " bits",
                    std::to_string(value));
    }
    launch.arguments.push_back(Tile::scalar(element, word));
    return true;
  }

  bool bind(double value) {
    if (element.kind == Kind::Pointer) {
      return refuse(diags, "E0409", name, "a tensor", std::to_string(value));
    }
    if (element.isFloat()) {
      return bindFloat(value);
    }
    if (value != std::trunc(value) || std::fabs(value) > 9007199254740992.0) {
      return refuse(diags, "E0409", name, "an integer", std::to_string(value));
    }
    return bind(static_cast<int64_t>(value));
  }

  bool bindFloat(double value) {
    launch.arguments.push_back(Tile::scalar(element, interpreter::encodeFloat(value, element)));
    return true;
  }
};

bool bindArguments(Launch &launch, std::span<const runtime::ArgumentValue> arguments,
                   Diagnostics &diags) {
  llvm::ArrayRef<mlir::Type> types = launch.kernel.getArgumentTypes();
  if (types.size() != arguments.size()) {
    diags.add(makeError("E0401", "'" + launch.kernel.getName().str() + "' expects " +
                                     std::to_string(types.size()) + " arguments, but got " +
                                     std::to_string(arguments.size())));
    return false;
  }
  bool allFit = true;
  for (unsigned i = 0; i < types.size(); ++i) {
    const std::string name = argumentName(launch.kernel, i);
    std::optional<ElementType> element = interpreter::elementTypeFor(types[i]);
    if (!element || mlir::isa<mlir::ShapedType>(types[i])) {
      allFit = refuse(diags, "E0302", name, "a scalar or pointer parameter", "another type");
      continue;
    }
    Binder binder{launch, diags, name, types[i], *element};
    allFit = std::visit([&](auto value) { return binder.bind(value); }, arguments[i]) && allFit;
  }
  return allFit;
}

bool checkGrid(runtime::Grid grid, Diagnostics &diags) {
  for (int64_t size : grid) {
    if (size < 0 || size > INT32_MAX) {
      diags.add(makeError("E0405", "expects grid sizes from 0 to 2147483647, but got " +
                                       interpreter::tuple(grid)));
      return false;
    }
  }
  return true;
}

} // namespace

bool interpret(mlir::ModuleOp module, runtime::Grid grid,
               std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags) {
  return interpret(module, grid, arguments, diags, InterpretOptions{});
}

bool interpret(mlir::ModuleOp module, runtime::Grid grid,
               std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags,
               const InterpretOptions &options) {
  Launch launch{findKernel(module, options.kernel, diags), grid, {}, {}, options};
  if (!launch.kernel || !checkGrid(grid, diags) || !bindArguments(launch, arguments, diags)) {
    return false;
  }
  for (int64_t z = 0; z < grid[2]; ++z) {
    for (int64_t y = 0; y < grid[1]; ++y) {
      for (int64_t x = 0; x < grid[0]; ++x) {
        if (!interpreter::Instance(launch, {x, y, z}, diags).run()) {
          return false;
        }
      }
    }
  }
  return true;
}

} // namespace nereid
