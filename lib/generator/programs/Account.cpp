// SPDX-License-Identifier: Apache-2.0
// The way of an operator to its kernels once more, see Account.h.
#include "lib/generator/programs/Account.h"

#include "lib/generator/launch/ToldKernels.h"
#include "lib/generator/lower/InPlace.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/programs/DeepStack.h"
#include "lib/generator/programs/RowStrides.h"

namespace nereid::generator {
namespace {

Result<FusionAccount> accountOf(const definition::Operator &op, DType dtype) {
  auto told = lowerTold(op, dtype);
  if (!told) {
    return told.error();
  }
  Program &program = told->program;
  writeInPlace(program, op);
  normalise(program);
  freeRowStrides(program);
  auto kernels = makeToldKernels(program, op.name, std::move(told->reasons));
  if (!kernels) {
    return kernels.error();
  }
  FusionAccount account;
  account.operations = std::move(kernels->operations);
  for (const StageKernel &kernel : kernels->made.kernels) {
    account.areOnline.push_back(kernel.joinsTurns);
  }
  for (const auto &[buffer, why] : kernels->reasons) {
    account.reasons.emplace(program.buffers[buffer].name, why);
  }
  return account;
}

} // namespace

Result<FusionAccount> fusionAccount(const definition::Operator &op, DType dtype) {
  Result<FusionAccount> result = FusionAccount{};
  onDeepStack([&] { result = accountOf(op, dtype); });
  return result;
}

} // namespace nereid::generator
