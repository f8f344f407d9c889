// SPDX-License-Identifier: Apache-2.0
// Finding address arithmetic and redoing it in 128 bits.
#include "lib/check/AddressArithmetic.h"

#include "llvm/ADT/DenseSet.h"

#include <algorithm>

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace nereid::check {

using interpreter::asSigned;
using interpreter::Tile;

void AddressArithmetic::find(mlir::Operation *module) {
  module->walk([&](tile::AddPtrOp op) { visit(op.getOffset(), true); });
}

llvm::SmallVector<mlir::Value, 4> sourcesOf(mlir::Value value) {
  llvm::SmallVector<mlir::Value, 4> sources;
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    mlir::Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = mlir::dyn_cast<scf::ForOp>(parent); loop && argument.getArgNumber() > 0) {
      sources.push_back(loop.getInitArgs()[argument.getArgNumber() - 1]);
      sources.push_back(loop.getYieldedValues()[argument.getArgNumber() - 1]);
    } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(parent)) {
      const unsigned i = argument.getArgNumber();
      if (argument.getOwner() == loop.getBeforeBody()) {
        sources = {loop.getInits()[i], loop.getYieldOp().getOperand(i)};
      } else {
        sources.push_back(loop.getConditionOp().getArgs()[i]);
      }
    }
    return sources;
  }
  auto result = mlir::cast<mlir::OpResult>(value);
  if (auto loop = mlir::dyn_cast<scf::ForOp>(result.getOwner())) {
    sources.push_back(loop.getInitArgs()[result.getResultNumber()]);
    sources.push_back(loop.getYieldedValues()[result.getResultNumber()]);
  } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(result.getOwner())) {
    sources.push_back(loop.getConditionOp().getArgs()[result.getResultNumber()]);
  } else if (auto branch = mlir::dyn_cast<scf::IfOp>(result.getOwner())) {
    sources.push_back(branch.thenYield().getOperand(result.getResultNumber()));
    sources.push_back(branch.elseYield().getOperand(result.getResultNumber()));
  }
  return sources;
}

void AddressArithmetic::visit(mlir::Value value, bool isSigned) {
  llvm::SmallVector<std::pair<mlir::Value, bool>, 8> left{{value, isSigned}};
  while (!left.empty()) {
    auto [current, signedness] = left.pop_back_val();
    if (!visited[signedness ? 1 : 0].insert(current).second) {
      continue;
    }
    mlir::Operation *op = current.getDefiningOp();
    for (mlir::Value source : sourcesOf(current)) {
      left.push_back({source, signedness});
    }
    if (op == nullptr) {
      continue;
    }
    if (mlir::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op)) {
      isSignedOf[op] = isSignedOf.lookup(op) || signedness;
      left.push_back({op->getOperand(0), signedness});
      if (!mlir::isa<arith::ShLIOp>(op)) {
        left.push_back({op->getOperand(1), signedness});
      }
    } else if (mlir::isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
      left.push_back({op->getOperand(0), mlir::isa<arith::ExtSIOp>(op)});
    } else if (mlir::isa<arith::SelectOp>(op)) {
      left.push_back({op->getOperand(1), signedness});
      left.push_back({op->getOperand(2), signedness});
    } else if (mlir::isa<tile::SplatOp, tile::UnsplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
                         tile::ReshapeOp, tile::TransOp, tile::JoinOp, tile::SplitOp>(op)) {
      for (mlir::Value operand : op->getOperands()) {
        left.push_back({operand, signedness});
      }
    }
  }
}

/// Calls `use` with what the operation is without a limit, chosen once for all elements. A shift's
/// second number is at most its width.
template <class Use> static auto withExact(mlir::Operation *op, const Use &use) {
  if (mlir::isa<arith::AddIOp>(op)) {
    return use([](__int128 x, __int128 y) { return x + y; });
  }
  if (mlir::isa<arith::SubIOp>(op)) {
    return use([](__int128 x, __int128 y) { return x - y; });
  }
  if (mlir::isa<arith::MulIOp>(op)) {
    return use([](__int128 x, __int128 y) { return x * y; });
  }
  return use([](__int128 x, __int128 y) { return x * (__int128(1) << y); });
}

void AddressArithmetic::markOverflows(interpreter::Instance &instance, mlir::Operation *op,
                                      Marks &marks) const {
  auto found = isSignedOf.find(op);
  if (found == isSignedOf.end()) {
    return;
  }
  const bool isSigned = found->second, isShift = mlir::isa<arith::ShLIOp>(op);
  // Unsigned sums wrap wherever something negative is added, which is no mistake.
  if (!isSigned && !isShift && !mlir::isa<arith::MulIOp>(op)) {
    return;
  }
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  const Tile &result = instance.get(op->getResult(0));
  const unsigned bits = result.type.bits;
  std::vector<uint32_t> wrapped;
  const auto number = [&](uint64_t word) {
    return isSigned ? __int128(asSigned(word, bits)) : __int128(word);
  };
  withExact(op, [&](const auto &exact) {
    for (size_t i = 0, n = result.size(); i < n; ++i) {
      const uint64_t x = a.element(i), y = b.element(i);
      const __int128 second = isShift ? __int128(std::min<uint64_t>(y, bits)) : number(y);
      if (exact(number(x), second) != number(result[i]) && markAt(a, i) == 0 && markAt(b, i) == 0) {
        wrapped.resize(n, 0);
        wrapped[i] = marks.add({Cause::Kind::Overflow, op, x, y, bits});
      }
    }
  });
  if (!wrapped.empty()) {
    Tile marked = result;
    for (size_t i = 0; marked.marks && i < wrapped.size(); ++i) {
      wrapped[i] = wrapped[i] != 0 ? wrapped[i] : markAt(marked, i);
    }
    marked.marks = std::make_shared<std::vector<uint32_t>>(std::move(wrapped));
    instance.set(op->getResult(0), std::move(marked));
  }
}

static std::string decimal(__int128 value) {
  if (value < 0) {
    return "-" + decimal(-value);
  }
  const auto digit = static_cast<char>('0' + static_cast<int>(value % 10));
  return (value >= 10 ? decimal(value / 10) : "") + digit;
}

std::string exactText(const Cause &cause) {
  const char *sign = mlir::isa<arith::AddIOp>(cause.op)   ? " + "
                     : mlir::isa<arith::SubIOp>(cause.op) ? " - "
                     : mlir::isa<arith::MulIOp>(cause.op) ? " * "
                                                          : " << ";
  const int64_t x = asSigned(cause.left, cause.bits), y = asSigned(cause.right, cause.bits);
  const __int128 exact = withExact(cause.op, [&](const auto &of) { return of(x, y); });
  return std::to_string(x) + sign + std::to_string(y) + " is " + decimal(exact);
}

} // namespace nereid::check
