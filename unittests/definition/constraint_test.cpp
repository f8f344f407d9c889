// SPDX-License-Identifier: Apache-2.0
// Constraints: what is understood, what is refused and where, what they say of sizes, and what they
// leave to the grid and its data.
#include "unittests/definition/Loading.h"

#include "lib/definition/cases/CaseGrid.h"

#include <cmath>

namespace nereid::definition {
namespace {

/// withBody with a line of constraints behind the summary; line 4 of the file.
std::string constrained(const std::string &constraint, const std::string &types = "") {
  std::string text = withBody("out = x + y * s");
  text.insert(text.find("dtypes"), "constraints = [\"" + constraint + "\"]\n");
  if (!types.empty()) {
    text.insert(text.find("shape = [\"D\"]"), "dtype = \"" + types + "\"\n");
  }
  return text;
}

TEST(Constraints, FormsThatAreUnderstood) {
  for (const char *form : {"D == 4",
                           "D % 2 == 0",
                           "D // 2 < 3 and D != 5",
                           "x.shape[-1] == y.numel()",
                           "x.size(-1) == y.shape[0]",
                           "x.dim() >= 1",
                           "x.ndim == 3",
                           "x.shape == [2, 3, D]",
                           "y.shape != (1,)",
                           "x.dtype == y.dtype",
                           "x.dtype != torch.int32",
                           "s > 0",
                           "s * 2 == 5.0",
                           "x >= 0",
                           "0 < x",
                           "x != 0",
                           "-1 <= y",
                           "x.is_contiguous()",
                           "-D + 4 == 0",
                           "(D + 4) * 2 == 16"}) {
    Loaded loaded = load(constrained(form));
    EXPECT_TRUE(loaded.op) << form << "\n" << loaded.diags.render();
  }
}

TEST(Constraints, OthersAreRefusedAtTheirPlace) {
  struct Refused {
    const char *form;
    int column;
    const char *says;
  };
  for (const Refused &one : {Refused{"x.is_npu", 17, "no property 'is_npu'"},
                             {"x.is_npu and y.is_npu", 17, "no property 'is_npu'"},
                             {"x.is_npu()", 17, "no property 'is_npu'"},
                             {"z.shape[0] == 4", 17, "'z' is neither an input nor a size"},
                             {"D == E", 22, "'E' is neither an input nor a size"},
                             {"x.shape[0:1] == 4", 25, "a dimension is named by"},
                             {"y.shape[1] == 4", 25, "dimension 1 is outside of [D]"},
                             {"D < 4 < 5", 17, "several in a row"},
                             {"D", 17, "expects a comparison"},
                             {"D ==", 21, "not understood"},
                             {"x == 0", 17, "values of a tensor"},
                             {"x > D", 17, "values of a tensor"},
                             {"x.shape > y.shape", 17, "has no order"},
                             {"x.shape == 4", 17, "one kind on both sides"},
                             {"x.dtype == torch.float23", 28, "unknown type"},
                             {"s.shape[0] == 1", 17, "is a number"},
                             {"D / 2 == 2", 17, "'/' is not available"},
                             {"s % 2 == 0", 17, "whole numbers"},
                             {"D % 1e30 == 0", 17, "whole numbers"},
                             {"D * 9999999999999999999 > 3", 21, "at most 9223372036854775807"},
                             {"D == 4 or D == 5", 17, "comparison"},
                             {"f(D) == 4", 17, "not available"}}) {
    Loaded loaded = load(constrained(one.form));
    EXPECT_FALSE(loaded.op) << one.form;
    ASSERT_EQ(loaded.code(), "E0616") << one.form << loaded.diags.render();
    EXPECT_EQ(loaded.first().range.line, 4) << one.form;
    EXPECT_EQ(loaded.first().range.column, one.column) << loaded.diags.render();
    EXPECT_NE(loaded.diags.render().find(one.says), std::string::npos) << loaded.diags.render();
  }
}

TEST(Constraints, FalseOnesNameTheCaseAndBothValues) {
  for (const auto &[form, values] : std::vector<std::pair<std::string, std::string>>{
           {"x.shape[-1] == 7", "got x.shape[-1] = 4"},
           {"D % 8 == 0", "got D % 8 = 4"},
           {"x.dim() == 2", "got x.dim() = 3"},
           {"x.shape == [2, D]", "got x.shape = [2, 3, 4] and [2, D] = [2, 4]"},
           {"x.shape[3] == 1", "'x' of shape [2, 3, 4] has no dimension 3"},
           {"s < 1", "got s = 2.5"},
           {"D == 9223372036854775807 * 4",
            "got D = 4 and 9223372036854775807 * 4 = 36893488147419103228"},
           {"D * 2305843009213693953 == -D", "got D * 2305843009213693953 = 9223372036854775812"},
           {"D % (D - 4) == 0", "divides by 0"}}) {
    Loaded loaded = load(constrained(form));
    EXPECT_FALSE(loaded.op) << form;
    ASSERT_EQ(loaded.code(), "E0617") << form << loaded.diags.render();
    EXPECT_NE(loaded.first().message.find("case '2x3x4' of [performance]"), std::string::npos);
    EXPECT_NE(loaded.first().message.find(values), std::string::npos) << loaded.diags.render();
    EXPECT_GT(loaded.first().range.line, 10);
  }
}

TEST(Constraints, TypesAreCheckedForEveryOneOfThem) {
  std::string text = constrained("x.dtype == y.dtype", "int32");
  text.replace(text.find("x + y * s"), 9, "x + y");
  Loaded loaded = load(text);
  ASSERT_EQ(loaded.code(), "E0617") << loaded.diags.render();
  EXPECT_EQ(loaded.first().message, "'x.dtype == y.dtype' does not hold for float32: "
                                    "got x.dtype = float32 and y.dtype = int32");
}

TEST(Constraints, CallsAreCheckedWithTheirNumbers) {
  Loaded loaded = load(constrained("D % 4 == 0 and s > 0"));
  ASSERT_TRUE(loaded.op);
  Binding binding{{{"D", 8}}, {}};
  EXPECT_TRUE(checkConstraints(*loaded.op, binding, DType::F32));
  binding.symbols["D"] = 6;
  Status refused = checkConstraints(*loaded.op, binding, DType::F32);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "E0617");
  EXPECT_EQ(refused.error().message, "'t' expects D % 4 == 0, but got D % 4 = 2");
  binding.symbols["D"] = 4;
  EXPECT_FALSE(checkConstraints(*loaded.op, binding, DType::F32, {0, 0, -1}));
}

TEST(Constraints, TheGridKeepsThem) {
  for (const char *form : {"D % 4 == 0", "D == 4", "x.dim() == 3", "D >= 2 and D <= 64",
                           "x.shape[0] == 2", "x.numel() % 8 == 0", "D * D == 16"}) {
    Loaded loaded = load(constrained(form));
    ASSERT_TRUE(loaded.op) << loaded.diags.render();
    int tried = 0;
    for (const GridCase &one : accuracyGrid(*loaded.op, 1)) {
      if (one.unmet.empty()) {
        ++tried;
        EXPECT_TRUE(checkConstraints(*loaded.op, one.binding, DType::F32)) << form << one.name;
      } else {
        EXPECT_NE(one.unmet.find("expects"), std::string::npos);
      }
    }
    EXPECT_GT(tried, 20) << form;
  }
}

TEST(Constraints, WhatCannotBeMetIsSaid) {
  Operator op = *load(constrained("D == 4")).op;
  Constraint impossible = op.constraints[0];
  impossible.relation = "!=";
  op.constraints.push_back(impossible);
  for (const GridCase &one : accuracyGrid(op, 1)) {
    EXPECT_NE(one.unmet.find("no sizes near these meet the constraints"), std::string::npos);
  }
}

TEST(Constraints, DataStayInTheirRange) {
  struct Range {
    const char *form;
    bool (*holds)(double);
  };
  for (const Range &range : {Range{"x >= 0", [](double v) { return v >= 0; }},
                             {"x > 0", [](double v) { return v > 0; }},
                             {"x != 0", [](double v) { return v != 0; }},
                             {"x >= -1 and x < 1", [](double v) { return v >= -1 && v < 1; }},
                             {"x <= -3", [](double v) { return v <= -3; }},
                             {"x > 1", [](double v) { return v > 1; }}}) {
    Operator op = *load(constrained(range.form)).op;
    for (DType dtype : {DType::F32, DType::F16}) {
      for (const GridCase &one : accuracyGrid(op, 1, 4)) {
        auto inputs = makeInputs(op, one, dtype);
        ASSERT_TRUE(inputs);
        const runtime::Tensor &x = (*inputs)[0].view;
        for (int64_t i = 0; i < x.elementCount(); ++i) {
          const double value = x.at(i);
          ASSERT_TRUE(std::isnan(value) || range.holds(value))
              << range.form << ": " << value << " in " << one.name;
        }
      }
    }
  }
}

TEST(Constraints, ContiguousInputsStaySo) {
  Operator op = *load(constrained("x.is_contiguous()")).op;
  GridCase strided{"strided", {{{"D", 4}}, {2, 3}}};
  strided.layout = LayoutKind::OuterStride;
  strided.binding.rest = {2, 3};
  auto inputs = makeInputs(op, strided, DType::F32);
  ASSERT_TRUE(inputs);
  EXPECT_TRUE((*inputs)[0].view.isContiguous());
}

} // namespace
} // namespace nereid::definition
