// SPDX-License-Identifier: Apache-2.0
// Shared parts of the interpreter's tests; see the header.
#include "RunKernel.h"

#include "lib/tile/transforms/Passes.h"

namespace nereid::test {

bool runText(const std::string &text, runtime::Grid grid,
             const std::vector<runtime::ArgumentValue> &arguments, Diagnostics &diags,
             const InterpretOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tile::loadDialects(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return module && interpret(*module, grid, arguments, diags, options);
}

void mustRun(const std::string &text, runtime::Grid grid,
             const std::vector<runtime::ArgumentValue> &arguments) {
  Diagnostics diags;
  EXPECT_TRUE(runText(text, grid, arguments, diags)) << diags.render();
}

std::string optimised(const std::string &text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tile::loadDialects(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  if (!module) {
    return "";
  }
  mlir::PassManager manager(&context);
  tile::buildTileOptPipeline(manager);
  EXPECT_TRUE(mlir::succeeded(manager.run(*module))) << text;
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream);
  return result;
}

std::string typeName(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "i1";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::F8E4M3FN:
    return "f8E4M3FN";
  case DType::F8E5M2:
    return "f8E5M2";
  case DType::F8E4M3FNUZ:
    return "f8E4M3FNUZ";
  case DType::F8E5M2FNUZ:
    return "f8E5M2FNUZ";
  default:
    return "i" + std::to_string(8 * sizeInBytes(dtype));
  }
}

static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

runtime::Tensor evaluate(const std::string &body, const std::vector<runtime::Tensor> &inputs,
                         DType result) {
  const std::string count = std::to_string(inputs.front().elementCount());
  auto tile = [&](const std::string &element) { return "tensor<" + count + "x" + element + ">"; };
  auto pointers = [&](DType dtype, const std::string &name) {
    const std::string type = "!tile.ptr<" + typeName(dtype) + ">";
    return "%s" + name + " = tile.splat %p" + name + " : " + type + " -> " + tile(type) + "\n" +
           "%q" + name + " = tile.addptr %s" + name + ", %range : " + tile(type) + ", " +
           tile("i32") + "\n";
  };
  std::string signature,
      text = "%range = tile.make_range 0 to " + count + " : " + tile("i32") + "\n";
  std::string expanded = body;
  std::vector<runtime::ArgumentValue> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    const DType dtype = inputs[i].dtype();
    signature += "%p" + name + ": !tile.ptr<" + typeName(dtype) + ">, ";
    text += pointers(dtype, name) + "%" + name + " = tile.load %q" + name + " : " +
            tile("!tile.ptr<" + typeName(dtype) + ">") + " -> " + tile(typeName(dtype)) + "\n";
    replaceAll(expanded, "T" + std::string(1, static_cast<char>('A' + i)), tile(typeName(dtype)));
    arguments.push_back(&inputs[i]);
  }
  replaceAll(expanded, "TR", tile(typeName(result)));
  replaceAll(expanded, "TI1", tile("i1"));
  const std::string pointerType = "!tile.ptr<" + typeName(result) + ">";
  text += pointers(result, "r") + expanded + "\ntile.store %qr, %r : " + tile(pointerType) + ", " +
          tile(typeName(result)) + "\nreturn\n";
  const std::string kernel = "func.func @k(" + signature + "%pr: " + pointerType +
                             ") attributes {tile.kernel} {\n" + text + "}";
  runtime::Tensor outputs[2];
  for (runtime::Tensor &output : outputs) {
    output = runtime::Tensor::empty({inputs.front().elementCount()}, result);
    output.poison();
    std::vector<runtime::ArgumentValue> all = arguments;
    all.push_back(&output);
    mustRun(&output == outputs ? kernel : optimised(kernel), {1, 1, 1}, all);
  }
  EXPECT_EQ(std::memcmp(outputs[0].data(), outputs[1].data(), outputs[0].byteCount()), 0)
      << optimised(kernel);
  return outputs[0];
}

} // namespace nereid::test
