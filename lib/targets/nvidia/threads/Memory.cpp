// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory: neighbouring elements of a thread in one instruction, masked
// ones by its predicate, which costs no branch. Where masks may tell neighbours apart, threads
// without an excluded element branch to the wide instructions.
#include "lib/targets/nvidia/threads/Accesses.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

#include <numeric>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

Access accessFor(const LinearLayout &layout, Type element, const tile::AxisInfo &pointer,
                 const std::optional<tile::AxisInfo> &mask) {
  const int64_t bits = memoryBits(element);
  int64_t longest = 1;
  int64_t inner = 1; // the step of a dimension in an element's number
  for (size_t dim = layout.shape().size(); dim-- > 0; inner *= layout.shape()[dim]) {
    const auto axis = static_cast<unsigned>(dim);
    int64_t run = std::min({pointer.contiguity(axis), pointer.divisibility(axis) * 8 / bits,
                            128 / bits, mask ? mask->constancy(axis) : int64_t{128}});
    int64_t neighbours = 1;
    for (int64_t basis : layout.bases(Holder::Register)) {
      if (basis != neighbours * inner || neighbours * 2 > run) {
        break;
      }
      neighbours *= 2;
    }
    longest = std::max(longest, neighbours);
  }
  Access access{longest};
  const auto all = static_cast<unsigned>(longest * bits);
  access.wordBits = bits == 64 ? 64 : std::min(all, 32U);
  access.words = all / access.wordBits;
  return access;
}

namespace {

std::string_view cacheText(tile::CacheModifier cache) {
  switch (cache) {
  case tile::CacheModifier::CA:
    return ".ca";
  case tile::CacheModifier::CG:
    return ".cg";
  case tile::CacheModifier::CS:
    return ".cs";
  case tile::CacheModifier::WB:
    return ".wb";
  case tile::CacheModifier::WT:
    return ".wt";
  case tile::CacheModifier::CV:
    return ".cv";
  case tile::CacheModifier::None:
    break;
  }
  return "";
}

/// How an access is cached: the words of it, and where these need one an operand behind it. PTX has
/// place for either a modifier or a policy: `.ca` and `.wb` are what an access does anyway, so that
/// an eviction policy says more; the others leave nothing in the first cache that a policy could be
/// about.
struct Caching {
  std::string_view words;
  Value policy; ///< of the second cache; null: none

  Caching(ThreadCode &code, tile::CacheModifier cache, tile::EvictionPolicy evict) {
    const bool isDefault = cache == tile::CacheModifier::None || cache == tile::CacheModifier::CA ||
                           cache == tile::CacheModifier::WB;
    if (!isDefault || evict == tile::EvictionPolicy::Normal) {
      words = cacheText(cache);
      return;
    }
    const bool isFirst = evict == tile::EvictionPolicy::First;
    words = isFirst ? ".L1::evict_first.L2::cache_hint" : ".L1::evict_last.L2::cache_hint";
    policy = policyOf(code, isFirst ? "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;"
                                    : "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;");
  }

  /// The end of an instruction's places: ", $4" where it needs the operand, which comes behind
  /// these and `results` results.
  std::string placeOfPolicy(unsigned results, SmallVector<Value> &operands,
                            std::string &constraints) const {
    if (!policy) {
      return "";
    }
    operands.push_back(policy);
    constraints += ",l";
    return fmt::format(", ${}", results + operands.size() - 1);
  }

private:
  /// Made where the kernel begins: in a loop ptxas would make it again in each turn.
  static Value policyOf(ThreadCode &code, StringRef text) {
    Block *entry = code.laneNumber().getParentBlock();
    for (Operation &op : *entry) {
      auto known = dyn_cast<LLVM::InlineAsmOp>(op);
      if (!known) {
        break;
      }
      if (known.getAsmString() == text) {
        return known.getRes();
      }
    }
    OpBuilder::InsertionGuard guard(code.builder);
    code.builder.setInsertionPointToStart(entry);
    return code.builder
        .create<LLVM::InlineAsmOp>(code.loc, code.builder.getI64Type(), ValueRange(), text, "=l",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::AsmDialectAttr(), ArrayAttr())
        .getRes();
  }
};

/// "{$0, $1}", or "$0" alone.
std::string listOf(unsigned first, unsigned count) {
  std::string text = count == 1 ? "" : "{";
  for (unsigned i = 0; i < count; ++i) {
    text += fmt::format("{}${}", i == 0 ? "" : ", ", first + i);
  }
  return text + (count == 1 ? "" : "}");
}

std::string typeText(const Access &access) {
  return fmt::format("{}.b{}", access.words == 1 ? "" : fmt::format(".v{}", access.words),
                     access.wordBits);
}

} // namespace

SmallVector<Value> loadWords(ThreadCode &code, const LoadHints &hints, const Access &access,
                             Value address, Value condition, ArrayRef<Value> others) {
  OpBuilder &b = code.builder;
  const unsigned n = access.words;
  Type word = b.getIntegerType(std::max(16U, access.wordBits));
  const char letter = registerLetter(access.wordBits);
  std::string text, constraints;
  for (unsigned i = 0; i < n; ++i) {
    constraints += fmt::format("{}=&{}", i == 0 ? "" : ",", letter);
  }
  SmallVector<Value> operands{address};
  constraints += ",l";
  if (condition) {
    operands.push_back(condition);
    constraints += ",b";
    for (unsigned i = 0; i < n; ++i) {
      // A byte has a register of 16 bits.
      const unsigned bits = std::max(16U, access.wordBits);
      if (others.empty()) {
        text += fmt::format("mov.b{} ${}, 0; ", bits, i);
      } else {
        operands.push_back(others[i]);
        constraints += fmt::format(",{}", letter);
        text += fmt::format("mov.b{} ${}, ${}; ", bits, i, n + 2 + i);
      }
    }
    text += fmt::format("@${} ", n + 1);
  }
  std::string kind = ".volatile.global", policy;
  if (!hints.isVolatile) {
    const Caching caching(code, hints.cache, hints.evict);
    kind = fmt::format(".global{}", caching.words);
    policy = caching.placeOfPolicy(n, operands, constraints);
  }
  text += fmt::format("ld{}{} {}, [${}]{};", kind, typeText(access), listOf(0, n), n, policy);
  constraints += ",~{memory}";
  if (n == 1) {
    return {code.assembly(text, constraints, word, operands)};
  }
  Type structure = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(n, word));
  Value all = code.assembly(text, constraints, structure, operands);
  SmallVector<Value> words;
  for (unsigned i = 0; i < n; ++i) {
    words.push_back(b.create<LLVM::ExtractValueOp>(code.loc, all, ArrayRef<int64_t>{i}));
  }
  return words;
}

Value allOf(ThreadCode &code, Value mask) {
  Value all;
  for (auto [reg, own] : llvm::enumerate(code.held(mask))) {
    if (!all) {
      all = own;
    } else if (own != code.held(mask)[reg - 1]) {
      all = code.builder.create<arith::AndIOp>(code.loc, all, own);
    }
  }
  return all;
}

namespace {

/// How an operation accesses memory: by `masked`, or, where no mask of a thread excludes anything
/// and that is wider, by `whole`.
struct Plan {
  Access masked, whole;

  Plan(Value pointer, Value mask, Type element, const tile::AxisInfos &axes) {
    if (!isTile(pointer)) {
      masked.wordBits = std::min(64U, memoryBits(element));
      whole = masked;
      return;
    }
    const LinearLayout layout = *layoutOf(pointer);
    auto ofMask = mask ? std::optional(axes.of(mask)) : std::nullopt;
    masked = accessFor(layout, element, axes.of(pointer), ofMask);
    whole = accessFor(layout, element, axes.of(pointer), std::nullopt);
  }
  bool hasBoth() const { return whole.registers > masked.registers; }
};

/// What the thread loads; `mask` may be null.
ThreadCode::Held loadAll(ThreadCode &code, tile::LoadOp op, const Access &access, Value mask) {
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  const auto &pointers = code.held(op.getPointer());
  const auto n = static_cast<size_t>(access.registers);
  const LoadHints hints{op.getIsVolatile(), op.getCache(), op.getEvict()};
  ThreadCode::Held held;
  for (size_t reg = 0; reg < pointers.size(); reg += n) {
    Value condition = mask ? code.held(mask)[reg] : Value();
    SmallVector<Value> others;
    if (mask && op.getOther()) {
      others =
          packWords(code, ArrayRef<Value>(code.held(op.getOther())).slice(reg, n), access.wordBits);
    }
    for (Value word : loadWords(code, hints, access, pointers[reg], condition, others)) {
      const auto elements = unpackWord(code, word, n / access.words, type);
      held.append(elements.begin(), elements.end());
    }
  }
  return held;
}

void storeAll(ThreadCode &code, tile::StoreOp op, const Access &access, Value isMine, Value mask) {
  OpBuilder &b = code.builder;
  const bool isSpread = isTile(op.getPointer());
  const LinearLayout layout = isSpread ? *layoutOf(op.getPointer()) : LinearLayout();
  const auto &pointers = code.held(op.getPointer()), &values = code.held(op.getValue());
  const auto n = static_cast<size_t>(access.registers);
  for (size_t reg = 0; reg < pointers.size(); reg += n) {
    if (isSpread && ThreadCode::isRepeatedRegister(layout, static_cast<int64_t>(reg))) {
      continue;
    }
    Value condition = isMine;
    if (mask) {
      Value own = code.held(mask)[reg];
      condition = condition ? b.create<arith::AndIOp>(code.loc, condition, own).getResult() : own;
    }
    SmallVector<Value> operands{pointers[reg]};
    std::string constraints = "l";
    for (Value word : packWords(code, ArrayRef<Value>(values).slice(reg, n), access.wordBits)) {
      operands.push_back(word);
      constraints += fmt::format(",{}", registerLetter(access.wordBits));
    }
    std::string text;
    if (condition) {
      text = fmt::format("@${} ", operands.size());
      operands.push_back(condition);
      constraints += ",b";
    }
    const Caching caching(code, op.getCache(), op.getEvict());
    const std::string policy = caching.placeOfPolicy(0, operands, constraints);
    text += fmt::format("st.global{}{} [$0], {}{};", caching.words, typeText(access),
                        listOf(1, access.words), policy);
    code.assembly(text, constraints + ",~{memory}", nullptr, operands);
  }
}

} // namespace

void lowerLoad(ThreadCode &code, tile::LoadOp op, const tile::AxisInfos &axes) {
  OpBuilder &b = code.builder;
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  const Plan plan(op.getPointer(), op.getMask(), type, axes);
  if (!plan.hasBoth()) {
    code.hold(op.getResult(), loadAll(code, op, plan.masked, op.getMask()));
    return;
  }
  const SmallVector<Type> types(code.held(op.getPointer()).size(), type);
  auto branch = b.create<scf::IfOp>(code.loc, types, allOf(code, op.getMask()),
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  b.create<scf::YieldOp>(code.loc, loadAll(code, op, plan.whole, {}));
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  b.create<scf::YieldOp>(code.loc, loadAll(code, op, plan.masked, op.getMask()));
  code.hold(op.getResult(), ThreadCode::Held(branch.getResults()));
}

void lowerStore(ThreadCode &code, tile::StoreOp op, const tile::AxisInfos &axes) {
  OpBuilder &b = code.builder;
  const Type type = threadType(tile::elementTypeOf(op.getValue().getType()));
  const Plan plan(op.getPointer(), op.getMask(), type, axes);
  Value isMine = isTile(op.getPointer()) ? code.isFirstReplica(*layoutOf(op.getPointer()))
                                         : code.isFirstThread();
  if (!plan.hasBoth()) {
    storeAll(code, op, plan.masked, isMine, op.getMask());
    return;
  }
  auto branch = b.create<scf::IfOp>(code.loc, allOf(code, op.getMask()), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  storeAll(code, op, plan.whole, isMine, {});
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  storeAll(code, op, plan.masked, isMine, op.getMask());
}

} // namespace nereid::nvidia
