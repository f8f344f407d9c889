// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests of `nereid check`; see the header.
#include "CheckSource.h"

#include <algorithm>
#include <fstream>

namespace nereid::test {

runtime::Tensor floats(int64_t count) {
  auto tensor = runtime::Tensor::empty({count}, DType::F32);
  for (int64_t i = 0; i < count; ++i) {
    tensor.set(i, static_cast<double>(i));
  }
  return tensor;
}

runtime::Tensor integers(int64_t count) {
  return tensorOf<int32_t>(DType::I32, std::vector<int32_t>(static_cast<size_t>(count), 0));
}

const check::Report &Checked::only() const {
  static const check::Report none{};
  EXPECT_EQ(reports.size(), 1u) << text();
  return reports.size() == 1 ? reports.front() : none;
}

std::string Checked::text() const {
  std::string all = diags.render();
  for (const check::Report &report : reports) {
    all += render(report.diagnostic);
  }
  return all;
}

Checked checkSource(const std::string &body, const std::string &signature, runtime::Grid grid,
                    const std::vector<runtime::ArgumentValue> &arguments,
                    const check::CheckOptions &options) {
  const std::string source = "import triton\nimport triton.language as tl\n" + body;
  const std::string path = testing::TempDir() + "nereid_check_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name() + ".py";
  std::ofstream(path) << source;
  pipeline::CompileInput input;
  input.path = path;
  input.signature = signature;
  Checked checked;
  const size_t mark = source.find("# HERE");
  if (mark != std::string::npos) {
    checked.markedLine =
        1 + static_cast<int>(std::count(source.begin(),
                                        source.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
  }
  checked.isChecked =
      check::checkKernel(input, grid, arguments, options, checked.reports, checked.diags);
  EXPECT_TRUE(checked.isChecked) << checked.text();
  return checked;
}

void expectOnly(const Checked &checked, const std::string &code, const std::string &message) {
  const Diagnostic &diagnostic = checked.only().diagnostic;
  EXPECT_EQ(diagnostic.code, code);
  EXPECT_EQ(diagnostic.message, message);
  EXPECT_EQ(diagnostic.range.line, checked.markedLine);
  EXPECT_NE(diagnostic.help, "");
}

void expectClean(const Checked &checked) { EXPECT_TRUE(checked.reports.empty()) << checked.text(); }

} // namespace nereid::test
