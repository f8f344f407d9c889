// SPDX-License-Identifier: Apache-2.0
// Entry of the oracle: finds the kernel, binds the arguments, runs the grid.
#include "lib/interpreter/Interpreter.h"

#include "lib/interpreter/Scheduler.h"
#include "lib/tile/analysis/BlockingLoops.h"
#include "lib/tile/ir/Attributes.h"
#include "runtime/tensor/Descriptor.h"

#include <cmath>

namespace nereid {

std::string interpreter::argumentName(mlir::func::FuncOp kernel, unsigned index) {
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

namespace {

using interpreter::ElementType;
using interpreter::Kind;
using interpreter::Launch;
using interpreter::Tile;

mlir::func::FuncOp findKernel(mlir::ModuleOp module, const std::string &name, Diagnostics &diags) {
  mlir::func::FuncOp found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function->hasAttr(tile::attribute::kernel) ||
        (!name.empty() && function.getName() != name)) {
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

/// Above 0 when the argument is the base of a descriptor of a tensor of so many dimensions.
int64_t descriptorRank(mlir::func::FuncOp kernel, unsigned index) {
  auto list = kernel->getAttrOfType<mlir::ArrayAttr>("nereid.arguments");
  auto entry = list && index < list.size() ? mlir::dyn_cast<mlir::DictionaryAttr>(list[index])
                                           : mlir::DictionaryAttr();
  auto rank = entry ? entry.getAs<mlir::IntegerAttr>("descriptor") : mlir::IntegerAttr();
  return rank ? rank.getInt() : 0;
}

bool refuse(Diagnostics &diags, const char *code, const std::string &name,
            const std::string &expected, const std::string &got) {
  diags.add(makeError(code, "'" + name + "' expects " + expected + ", but got " + got));
  return false;
}

Kind floatKind(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return Kind::F16;
  case DType::BF16:
    return Kind::BF16;
  case DType::F32:
    return Kind::F32;
  case DType::F8E4M3FN:
    return Kind::F8E4M3FN;
  case DType::F8E5M2:
    return Kind::F8E5M2;
  case DType::F8E4M3FNUZ:
    return Kind::F8E4M3FNUZ;
  case DType::F8E5M2FNUZ:
    return Kind::F8E5M2FNUZ;
  default:
    return Kind::F64;
  }
}

/// Bits of the element must agree; a bool tensor may stand for int8 and the other way round, and
/// bytes for 8-bit floats, which .npy files and older DLPack cannot name. F8E4B15 is bytes in tile
/// IR.
bool fitsPointee(DType dtype, ElementType pointee) {
  if (isFloat(dtype) && dtype != DType::F8E4B15) {
    return pointee.kind == floatKind(dtype);
  }
  const bool isByte = dtype == DType::U8 && pointee.isFloat();
  return sizeInBytes(dtype) == pointee.bytes() && (isByte || !pointee.isFloat());
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
    launch.arguments.push_back(Tile::scalar(element, launch.memory.add(*tensor, name)));
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
    const std::string name = interpreter::argumentName(launch.kernel, i);
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

/// The sizes and strides that the kernel takes beside the address of each descriptor's tensor.
std::optional<std::vector<runtime::ArgumentValue>>
withDescriptorParts(mlir::func::FuncOp kernel, std::span<const runtime::ArgumentValue> arguments,
                    Diagnostics &diags) {
  std::vector<runtime::ArgumentValue> all;
  for (const runtime::ArgumentValue &argument : arguments) {
    const auto index = static_cast<unsigned>(all.size());
    const int64_t rank = descriptorRank(kernel, index);
    const auto *tensor = std::get_if<const runtime::Tensor *>(&argument);
    all.push_back(argument);
    if (rank == 0 || tensor == nullptr || *tensor == nullptr) {
      all.resize(all.size() + (rank == 0 ? 0 : 2 * static_cast<size_t>(rank) - 1));
      continue; // anything but a tensor is refused when it is bound
    }
    std::vector<int64_t> parts(2 * static_cast<size_t>(rank) - 1);
    const std::string who = "'" + interpreter::argumentName(kernel, index) + "'";
    if (auto error = runtime::describeTensor(who, rank, **tensor, parts.data())) {
      diags.add(makeError(error.code, error.message));
      return std::nullopt;
    }
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
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
  if (options.monitor != nullptr) {
    launch.memory.separateAddresses();
  }
  if (!launch.kernel || !checkGrid(grid, diags)) {
    return false;
  }
  auto all = withDescriptorParts(launch.kernel, arguments, diags);
  if (!all || !bindArguments(launch, *all, diags)) {
    return false;
  }
  if (options.monitor != nullptr) {
    options.monitor->launchBegins(launch);
  }
  if (options.schedule != Schedule::InOrder || tile::mayBlock(launch.kernel)) {
    return interpreter::Scheduler(launch, diags).run();
  }
  interpreter::Instance program(launch, {0, 0, 0}, diags);
  for (int64_t z = 0; z < grid[2]; ++z) {
    for (int64_t y = 0; y < grid[1]; ++y) {
      for (int64_t x = 0; x < grid[0]; ++x) {
        program.becomeProgram({x, y, z});
        if (!program.run()) {
          return false;
        }
      }
    }
  }
  return true;
}

} // namespace nereid
