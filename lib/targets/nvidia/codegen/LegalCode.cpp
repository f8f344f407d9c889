// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/LegalCode.h"

#include "lib/targets/nvidia/codegen/AssemblyText.h"
#include "lib/targets/nvidia/driver/Clusters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace nereid::nvidia {
namespace {

using llvm::StringRef;

enum AddressSpace : unsigned { Generic = 0, Shared = 3, Parameters = 101 };

constexpr const char *asAssembly = "write the instruction of PTX as inline assembly";
constexpr const char *noCode = "there is no code for it; compute it from operations that there are";

// Intrinsics by the beginning of their names. LLVM selects instructions for these, with the types
// that our phases give them, on every architecture that there is code for.
const StringRef known[] = {
    "llvm.abs.", "llvm.assume", "llvm.bitreverse.", "llvm.bswap.", "llvm.ceil.", "llvm.copysign.",
    "llvm.ctlz.", "llvm.ctpop.", "llvm.cttz.", "llvm.dbg.", "llvm.expect.",
    "llvm.experimental.noalias.scope.decl", "llvm.fabs.", "llvm.floor.", "llvm.fma.",
    "llvm.fmuladd.", "llvm.fptosi.sat.", "llvm.fptoui.sat.", "llvm.fshl.", "llvm.fshr.",
    "llvm.is.fpclass.", "llvm.lifetime.", "llvm.masked.", "llvm.maximum.", "llvm.maxnum.",
    "llvm.memcpy.", "llvm.memmove.", "llvm.memset.", "llvm.minimum.", "llvm.minnum.",
    "llvm.nearbyint.", "llvm.rint.", "llvm.round.", "llvm.roundeven.", "llvm.sadd.", "llvm.smax.",
    "llvm.smin.", "llvm.smul.", "llvm.sqrt.", "llvm.sshl.", "llvm.ssub.", "llvm.trap",
    "llvm.trunc.", "llvm.uadd.", "llvm.umax.", "llvm.umin.", "llvm.umul.", "llvm.ushl.",
    "llvm.usub.", "llvm.vector.reduce.",
    // Those of the chip. "llvm.nvvm." alone would let in what an architecture lacks.
    "llvm.nvvm.activemask", "llvm.nvvm.add.", "llvm.nvvm.bar.warp.sync", "llvm.nvvm.barrier",
    "llvm.nvvm.bitcast.", "llvm.nvvm.ceil.", "llvm.nvvm.cos.approx.", "llvm.nvvm.cp.async.",
    "llvm.nvvm.d2", "llvm.nvvm.div.", "llvm.nvvm.ex2.approx.", "llvm.nvvm.exit", "llvm.nvvm.f2",
    "llvm.nvvm.fabs.", "llvm.nvvm.ff2", "llvm.nvvm.floor.", "llvm.nvvm.fma.", "llvm.nvvm.fmax.",
    "llvm.nvvm.fmin.", "llvm.nvvm.i2", "llvm.nvvm.ldmatrix.", "llvm.nvvm.lg2.approx.",
    "llvm.nvvm.ll2", "llvm.nvvm.match.", "llvm.nvvm.mbarrier.", "llvm.nvvm.membar.",
    "llvm.nvvm.mma.", "llvm.nvvm.mul", "llvm.nvvm.nanosleep", "llvm.nvvm.prmt", "llvm.nvvm.rcp.",
    "llvm.nvvm.read.ptx.sreg.", "llvm.nvvm.redux.sync.", "llvm.nvvm.round.",
    "llvm.nvvm.rsqrt.approx.", "llvm.nvvm.saturate.", "llvm.nvvm.shfl.sync.",
    "llvm.nvvm.sin.approx.", "llvm.nvvm.sqrt.", "llvm.nvvm.trunc.", "llvm.nvvm.ui2",
    "llvm.nvvm.ull2", "llvm.nvvm.vote."};

// Of these beginnings, what the first Hoppers have and older architectures do not.
const StringRef ofHopper[] = {"llvm.nvvm.barrier.cluster.",
                              "llvm.nvvm.cp.async.bulk.",
                              "llvm.nvvm.fence.sc.cluster",
                              "llvm.nvvm.getctarank",
                              "llvm.nvvm.is_explicit_cluster",
                              "llvm.nvvm.isspacep.shared.cluster",
                              "llvm.nvvm.mapa",
                              "llvm.nvvm.read.ptx.sreg.cluster",
                              "llvm.nvvm.read.ptx.sreg.is_explicit.cluster",
                              "llvm.nvvm.read.ptx.sreg.nclusterid",
                              "llvm.nvvm.setmaxnreg."};

// Beginnings of `known` which the code generator has for floats of 32 and 64 bits alone.
const StringRef ofWideFloats[] = {"llvm.round.", "llvm.copysign.", "llvm.fptosi.sat.",
                                  "llvm.fptoui.sat."};

bool begins(StringRef name, llvm::ArrayRef<StringRef> beginnings) {
  return llvm::any_of(beginnings, [&](StringRef one) { return name.starts_with(one); });
}

/// The compute capability from which on the instruction of an intrinsic is there; 0: everywhere.
int firstCapability(StringRef name) {
  const bool isExtremum =
      name.starts_with("llvm.nvvm.fmax.") || name.starts_with("llvm.nvvm.fmin.");
  if (isExtremum && name.contains(".xorsign.abs")) {
    return 86;
  }
  return begins(name, ofHopper) ? 90 : 0;
}

/// Functions that the driver has.
const StringRef ofDriver[] = {"vprintf", "__assertfail", "malloc", "free"};

bool hasFloatOf(const llvm::Instruction &one, llvm::function_ref<bool(const llvm::Type &)> is) {
  const auto holds = [&](const llvm::Type *type) {
    return type->isFPOrFPVectorTy() && is(*type->getScalarType());
  };
  return holds(one.getType()) ||
         llvm::any_of(one.operands(), [&](const llvm::Use &use) { return holds(use->getType()); });
}

bool isNoNumberOfPtx(const llvm::Type &type) {
  return type.isFP128Ty() || type.isX86_FP80Ty() || type.isPPC_FP128Ty();
}

bool isWideInteger(const llvm::Type *type) {
  return type->isIntOrIntVectorTy() && type->getScalarSizeInBits() > 64;
}

/// Why a call cannot be compiled; empty when it can.
std::string refusalOfCall(const llvm::CallBase &call, int capability) {
  if (const auto *text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    const auto isOperand = [](const llvm::InlineAsm::ConstraintInfo &one) {
      return one.Type != llvm::InlineAsm::isClobber;
    };
    return problemOfAssembly(text->getAsmString(),
                             llvm::count_if(text->ParseConstraints(), isOperand));
  }
  const llvm::Function *callee = call.getCalledFunction();
  if (!callee) {
    return {}; // through a pointer, which works
  }
  const StringRef name = callee->getName();
  if (!callee->isIntrinsic()) {
    return callee->isDeclaration() && !llvm::is_contained(ofDriver, name)
               ? "no function of that name is there, and none is linked to a kernel"
               : "";
  }
  if (const int first = firstCapability(name); capability < first) {
    return "the architecture has no such instruction; it begins with sm_" + std::to_string(first);
  } else if (first == 0 && !begins(name, known)) {
    return noCode;
  }
  const bool isNarrow =
      hasFloatOf(call, [](const llvm::Type &type) { return type.isHalfTy() || type.isBFloatTy(); });
  return isNarrow && begins(name, ofWideFloats) ? "it has no code on floats of 16 bits; widen them"
                                                : "";
}

/// LLVM writes "relaxed.gpu" whatever order and scope stand here. Shared memory is reached by one
/// program alone, which every scope has.
std::string refusalOfAtomic(llvm::AtomicOrdering order, llvm::SyncScope::ID scope,
                            unsigned addressSpace, const llvm::LLVMContext &context) {
  llvm::SmallVector<StringRef> names;
  context.getSyncScopeNames(names);
  const bool isOfDevice = scope < names.size() && names[scope] == "device";
  if (order == llvm::AtomicOrdering::Monotonic && (isOfDevice || addressSpace == Shared)) {
    return {};
  }
  return std::string("its order and scope would be lost, all but 'monotonic' of "
                     "syncscope(\"device\"); ") +
         asAssembly;
}

/// Of what an atomic instruction accesses; 0 for others.
uint64_t atomicBits(const llvm::Instruction &one) {
  llvm::Type *type = nullptr;
  if (const auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&one)) {
    type = exchange->getCompareOperand()->getType();
  } else if (const auto *change = llvm::dyn_cast<llvm::AtomicRMWInst>(&one)) {
    type = change->getValOperand()->getType();
  } else if (one.isAtomic() && llvm::isa<llvm::LoadInst, llvm::StoreInst>(one)) {
    type = llvm::getLoadStoreType(const_cast<llvm::Instruction *>(&one));
  }
  return type ? one.getModule()->getDataLayout().getTypeSizeInBits(type).getFixedValue() : 0;
}

/// Of a cast between address spaces: PTX has them from and to the generic one.
std::string refusalOfSpaces(const llvm::Type *from, const llvm::Type *to) {
  const unsigned before = from->getScalarType()->getPointerAddressSpace();
  const unsigned behind = to->getScalarType()->getPointerAddressSpace();
  if (behind == Parameters) {
    return noCode;
  }
  return before != Generic && behind != Generic && before != behind
             ? "PTX casts from and to the generic address space alone; cast twice"
             : "";
}

std::string refusalOf(const llvm::Instruction &one, int capability) {
  const llvm::LLVMContext &context = one.getContext();
  if (hasFloatOf(one, isNoNumberOfPtx)) {
    return "there are no floats of that many bits";
  }
  if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&one)) {
    return refusalOfCall(*call, capability);
  }
  if (atomicBits(one) > 64) {
    return "there are no atomic accesses of more than 64 bits";
  }
  if (const auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&one)) {
    return refusalOfAtomic(atomic->getOrdering(), atomic->getSyncScopeID(),
                           atomic->getPointerAddressSpace(), context);
  }
  if (const auto *atomic = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&one)) {
    const auto refusal = [&](llvm::AtomicOrdering order) {
      return refusalOfAtomic(order, atomic->getSyncScopeID(), atomic->getPointerAddressSpace(),
                             context);
    };
    std::string why = refusal(atomic->getSuccessOrdering());
    return why.empty() ? refusal(atomic->getFailureOrdering()) : why;
  }
  if (one.isAtomic() && !llvm::isa<llvm::FenceInst>(one)) { // loads and stores
    const auto order = llvm::isa<llvm::LoadInst>(one)
                           ? llvm::cast<llvm::LoadInst>(one).getOrdering()
                           : llvm::cast<llvm::StoreInst>(one).getOrdering();
    return llvm::isStrongerThanMonotonic(order)
               ? std::string("LLVM has no code for the order; ") + asAssembly
               : "";
  }
  switch (one.getOpcode()) {
  case llvm::Instruction::Fence:
    return std::string("LLVM has no code for it; ") + asAssembly;
  case llvm::Instruction::FRem:
    return "its result would be wrong for all but small quotients; compute the remainder exactly";
  case llvm::Instruction::SIToFP:
  case llvm::Instruction::UIToFP:
    return isWideInteger(one.getOperand(0)->getType()) ? noCode : "";
  case llvm::Instruction::FPToSI:
  case llvm::Instruction::FPToUI:
    return isWideInteger(one.getType()) ? noCode : "";
  case llvm::Instruction::AddrSpaceCast:
    return refusalOfSpaces(one.getOperand(0)->getType(), one.getType());
  case llvm::Instruction::Alloca:
    return llvm::cast<llvm::AllocaInst>(one).isStaticAlloca()
               ? ""
               : "memory of a thread has a size that is known when it is compiled";
  default:
    return {};
  }
}

/// How the instruction is called in a message.
std::string nameOf(const llvm::Instruction &one) {
  if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&one)) {
    if (const llvm::Function *callee = call->getCalledFunction()) {
      return callee->getName().str();
    }
  }
  return one.getOpcodeName();
}

/// The numbers of the kernel's parameters, from 1, which lie in constant memory as they are.
llvm::SmallVector<uint64_t> gridConstants(const llvm::Function &function) {
  llvm::SmallVector<uint64_t> numbers;
  const llvm::NamedMDNode *all = function.getParent()->getNamedMetadata("nvvm.annotations");
  for (const llvm::MDNode *node :
       all ? all->operands() : llvm::iterator_range<llvm::NamedMDNode::const_op_iterator>({}, {})) {
    const auto *of = node->getNumOperands() == 0
                         ? nullptr
                         : llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node->getOperand(0).get());
    if (!of || of->getValue() != &function) {
      continue;
    }
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
      const auto *key = llvm::dyn_cast<llvm::MDString>(node->getOperand(i));
      const auto *list = llvm::dyn_cast<llvm::MDNode>(node->getOperand(i + 1));
      for (const llvm::MDOperand &number :
           key &&list && key->getString() == "grid_constant"
               ? list->operands()
               : llvm::iterator_range<llvm::MDNode::op_iterator>(nullptr, nullptr)) {
        if (const auto *value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(number)) {
          numbers.push_back(value->getZExtValue());
        }
      }
    }
  }
  return numbers;
}

/// Of the casts that constants are made of; of those that have a name, their own contents say it.
std::string refusalOfConstant(const llvm::Value *value) {
  const auto *constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant || llvm::isa<llvm::GlobalValue>(constant)) {
    return "";
  }
  const auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
  if (expression && expression->getOpcode() == llvm::Instruction::AddrSpaceCast) {
    std::string why = refusalOfSpaces(expression->getOperand(0)->getType(), expression->getType());
    if (!why.empty()) {
      return why;
    }
  }
  for (const llvm::Use &part : constant->operands()) {
    if (std::string why = refusalOfConstant(part.get()); !why.empty()) {
      return why;
    }
  }
  return "";
}

/// Whether a constant is made of `wanted`, whatever is between them; constants that other globals
/// begin with count, too.
bool isMadeOf(const llvm::Constant *constant, const llvm::GlobalVariable *wanted,
              llvm::SmallPtrSetImpl<const llvm::Constant *> &seen) {
  if (!seen.insert(constant).second) {
    return false;
  }
  const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(constant);
  if (global && global != wanted) {
    return global->hasInitializer() && isMadeOf(global->getInitializer(), wanted, seen);
  }
  return global == wanted || (!llvm::isa<llvm::GlobalValue>(constant) &&
                              llvm::any_of(constant->operands(), [&](const llvm::Use &use) {
                                const auto *part = llvm::dyn_cast<llvm::Constant>(use.get());
                                return part && isMadeOf(part, wanted, seen);
                              }));
}

/// Why PTX cannot have the global; empty when it can.
std::string refusalOfGlobal(const llvm::GlobalVariable &global) {
  if (global.isThreadLocal()) {
    return "threads have no variables of a module: use 'alloca'";
  }
  if (global.getName() == "llvm.global_ctors" || global.getName() == "llvm.global_dtors") {
    return "nothing runs when a module is loaded or goes: do it in a kernel";
  }
  llvm::SmallPtrSet<const llvm::Constant *, 8> seen;
  if (global.hasInitializer() && isMadeOf(global.getInitializer(), &global, seen)) {
    return "its contents name itself, and PTX declares what it names before: store the address";
  }
  return global.hasInitializer() ? refusalOfConstant(global.getInitializer()) : "";
}

/// The size of the clusters that a kernel says; what no kernel is has none in PTX.
std::string refusalOfCluster(const llvm::Function &function, int capability) {
  constexpr uint64_t most = 16;
  llvm::SmallVector<StringRef> sizes;
  function.getFnAttribute(clusterAttribute).getValueAsString().split(sizes, ',');
  uint64_t blocks = 1;
  for (StringRef text : sizes) {
    uint64_t size = 0;
    blocks *= text.getAsInteger(10, size) || size > most ? 0 : size;
  }
  if (sizes.size() != 3 || blocks == 0 || blocks > most) {
    return "it is three sizes, such as \"2,1,1\", of at most 16 blocks in all";
  }
  return capability < firstWithClusters ? "clusters exist from sm_90 on" : "";
}

std::optional<IllegalCode> illegalIn(const llvm::Function &function, int capability) {
  const std::string name = function.getName().str(), where = " of function '" + name + "'";
  const auto isPlain = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  if (!llvm::all_of(name, isPlain)) {
    return IllegalCode{"the name of function '" + name + "'",
                       "it would be another one in PTX: use letters, digits, '_' and '$'"};
  }
  if (function.hasFnAttribute(clusterAttribute)) {
    std::string why = refusalOfCluster(function, capability);
    if (!why.empty()) {
      return IllegalCode{"the size of clusters" + where, std::move(why)};
    }
  }
  for (const llvm::Argument &argument : function.args()) {
    if (argument.hasByValAttr() &&
        !llvm::is_contained(gridConstants(function), uint64_t(argument.getArgNo()) + 1)) {
      return IllegalCode{"parameter " + std::to_string(argument.getArgNo()) + where,
                         "passed by value, it would be copied to memory of the thread, whose "
                         "address nothing else may use; annotate it as 'grid_constant'"};
    }
  }
  for (const llvm::Instruction &one : llvm::instructions(function)) {
    std::string why = refusalOf(one, capability);
    for (const llvm::Use &operand : one.operands()) {
      why = why.empty() ? refusalOfConstant(operand.get()) : why;
    }
    if (!why.empty()) {
      return IllegalCode{"'" + nameOf(one) + "'" + where, std::move(why)};
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<IllegalCode> findIllegalCode(const llvm::Module &module, int capability) {
  if (!module.aliases().empty() || !module.ifuncs().empty()) {
    const llvm::GlobalValue &first = module.aliases().empty()
                                         ? llvm::cast<llvm::GlobalValue>(*module.ifunc_begin())
                                         : *module.alias_begin();
    return IllegalCode{"the other name '" + first.getName().str() + "'",
                       "PTX has one for each function and variable: name that"};
  }
  for (const llvm::GlobalVariable &global : module.globals()) {
    if (std::string why = refusalOfGlobal(global); !why.empty()) {
      return IllegalCode{"the variable '" + global.getName().str() + "'", std::move(why)};
    }
    if (global.getAddressSpace() == Shared && global.hasInitializer() &&
        !llvm::isa<llvm::UndefValue>(global.getInitializer())) {
      return IllegalCode{"the contents of '" + global.getName().str() + "'",
                         "shared memory begins with none: use 'undef' and store them"};
    }
  }
  for (const llvm::Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    if (auto found = illegalIn(function, capability)) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace nereid::nvidia
