// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/SourceKernel.h"

#include "lib/language/ChooseKernel.h"
#include "lib/language/host/KernelDecorators.h"
#include "lib/language/syntax/Parser.h"
#include "lib/pipeline/Compiler.h"

namespace nereid::pipeline {

std::shared_ptr<const SourceKernel> readKernel(const CompileInput &input, Diagnostics &diags) {
  auto kernel = std::make_shared<SourceKernel>();
  auto fail = [&](Diagnostic error) {
    for (const Diagnostic &remark : kernel->remarks.all()) {
      diags.add(remark);
    }
    diags.add(std::move(error));
    return nullptr;
  };
  Result<std::string> text = sourceText(input);
  if (!text) {
    return fail(text.error());
  }
  kernel->text = std::move(*text);
  auto module = language::parseModule(input.path, kernel->text, diags);
  if (!module) {
    return nullptr;
  }
  kernel->module = std::move(*module);
  auto function = language::chooseKernel(kernel->module, input.function, kernel->remarks);
  if (!function) {
    return fail(function.error());
  }
  kernel->function = *function;
  const language::KernelDecorators decorators =
      language::readDecorators(kernel->module, **function);
  for (const Diagnostic &remark : decorators.remarks.all()) {
    kernel->remarks.add(remark);
  }
  auto special = language::specialize(input.signature, kernel->module, **function, decorators);
  if (!special) {
    Diagnostic error = special.error();
    if (error.file.empty()) {
      error.file = input.path;
    }
    return fail(std::move(error));
  }
  if (std::optional<Diagnostic> error = language::refuseRanges(special->signature)) {
    return fail(std::move(*error));
  }
  kernel->signature = special->signature;
  kernel->specialization = special->text(kernel->function->name);
  return kernel;
}

} // namespace nereid::pipeline
