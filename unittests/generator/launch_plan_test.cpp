// SPDX-License-Identifier: Apache-2.0
// Launch plans against figures worked out by hand.
#include "unittests/generator/Making.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/generator/TensorLayout.h"
#include "lib/generator/call/CallPlan.h"

namespace nereid::generator {
namespace {

int64_t integer(const LaunchPlan &plan, const std::string &name) {
  for (const LaunchPlan::Argument &argument : plan.arguments) {
    if (argument.name == name) {
      return std::get<int64_t>(argument.value);
    }
  }
  ADD_FAILURE() << "no argument " << name;
  return -1;
}

Schedule tiles(int64_t m, int64_t n) {
  return *parseSchedule("tiles:BLOCK_M=" + std::to_string(m) + ",BLOCK_N=" + std::to_string(n) +
                        ",GRID_2D=1,STREAMING=0");
}

TEST(LaunchPlan, ContiguousBinding) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  definition::Binding binding{{{"D", 1000}}, {8, 30}};
  auto plan = planLaunch(fused, tiles(32, 512), binding, DType::F16);
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(plan->function, "broadcast_add_tiles_kernel");
  EXPECT_EQ(plan->grid, (runtime::Grid{8, 2, 1}));
  EXPECT_EQ(plan->signature,
            "x_ptr=*fp16:16, bias_ptr=*fp16:16, out_ptr=*fp16:16, rows=i32:16, columns=i32, "
            "stride_x_row=i32, stride_out_row=i32, BLOCK_M=32, BLOCK_N=512, GRID_2D=1, "
            "STREAMING=0, WIDE=0");
  EXPECT_FALSE(plan->isEmpty);
}

TEST(LaunchPlan, OneDimensionalGrid) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  definition::Binding binding{{{"D", 1000}}, {8, 30}};
  auto plan = planLaunch(fused, tiles(32, 512).with("GRID_2D", 0), binding, DType::F32);
  EXPECT_EQ(plan->grid, (runtime::Grid{16, 1, 1}));
}

TEST(LaunchPlan, GeneralBroadcastGetsSizesAndStrides) {
  FusedOperator fused = fusedOf(shipped("mask_add"));
  definition::Binding binding{{{"B", 2}, {"H", 3}, {"Q", 5}, {"K", 7}}, {}};
  auto plan = planLaunch(fused, tiles(16, 16), binding, DType::F32);
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(integer(*plan, "rows"), 30);
  EXPECT_EQ(integer(*plan, "columns"), 7);
  EXPECT_EQ(integer(*plan, "size_H_Q"), 15);
  EXPECT_EQ(integer(*plan, "stride_mask_B"), 7);
  EXPECT_EQ(integer(*plan, "stride_scores_row"), 7);
}

TEST(LaunchPlan, StridedRowsAreUsedInPlace) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  auto storage = runtime::Tensor::empty({4, 20}, DType::F32);
  auto x = runtime::Tensor::borrow(storage.data(), {4, 17}, DType::F32, {20, 1});
  auto bias = runtime::Tensor::empty({17}, DType::F32);
  auto out = runtime::Tensor::empty({4, 17}, DType::F32);
  auto plan = planLaunch(fused, tiles(4, 32), {{x, bias}}, {{out}});
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_TRUE(plan->contiguousCopies.empty());
  EXPECT_EQ(integer(*plan, "stride_x_row"), 20);
  EXPECT_EQ(integer(*plan, "stride_out_row"), 17);
}

TEST(LaunchPlan, TransposedInputIsCopied) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  auto storage = runtime::Tensor::empty({17, 4}, DType::F32);
  runtime::fillNormal(storage, 1);
  auto x = runtime::Tensor::borrow(storage.data(), {4, 17}, DType::F32, {1, 4});
  auto bias = runtime::Tensor::empty({17}, DType::F32);
  auto out = runtime::Tensor::empty({4, 17}, DType::F32);
  std::vector<runtime::Tensor> inputs = {x, bias}, outputs = {out};
  auto plan = planLaunch(fused, tiles(4, 32), inputs, outputs);
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(plan->contiguousCopies, (std::vector<int>{0}));
  EXPECT_EQ(integer(*plan, "stride_x_row"), 17);
  auto arguments = argumentsOf(callOf(*plan), fused, inputs, outputs);
  ASSERT_TRUE(bool(arguments));
  const auto *passed = std::get<const runtime::Tensor *>(arguments->values[0][0]);
  EXPECT_TRUE(passed->isContiguous());
  EXPECT_EQ(passed->at(18), x.at(18));
}

TEST(LaunchPlan, TakesTheGridsResultsWhateverTheirRows) {
  const std::string image = "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n";
  for (const FusedOperator &fused :
       {fusedOf(made("out = x + y", image + "[inputs.y]\nshape = [\"C\", 1, 1]\n",
                     "\"N\", \"C\", \"H\", \"W\"")),
        fusedOf(made("out = torch.sum(x, dim=(-2, -1))", image, "\"N\", \"C\"")),
        fusedOf(
            made("out = torch.sum(x, dim=(-2, -1), keepdim=True)", image, "\"N\", \"C\", 1, 1"))}) {
    definition::Binding binding{{{"N", 2}, {"C", 3}, {"H", 4}, {"W", 5}}, {}};
    std::vector<runtime::Tensor> inputs, outputs;
    std::vector<definition::LaidOut> memory;
    for (const Operand &operand : fused.operands) {
      memory.push_back(definition::makeLaidOut(*definition::bind(operand.shape, binding),
                                               DType::F32, definition::LayoutKind::OuterStride,
                                               rowDimensions(fused, operand, binding)));
      (operand.isOutput ? outputs : inputs).push_back(memory.back().view);
    }
    EXPECT_FALSE(outputs[0].isContiguous());
    Schedule schedule =
        fused.hasReduction ? *parseSchedule("rows:ROWS=1,BLOCK_N=32,STREAMING=0") : tiles(4, 32);
    auto plan = planLaunch(fused, schedule, inputs, outputs);
    EXPECT_TRUE(bool(plan)) << render(plan.error());
  }
}

TEST(LaunchPlan, UnalignedPointerPromisesNothing) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  auto storage = runtime::Tensor::empty({70}, DType::F32);
  auto x = runtime::Tensor::borrow(storage.as<float>() + 1, {4, 17}, DType::F32);
  auto bias = runtime::Tensor::empty({17}, DType::F32);
  auto out = runtime::Tensor::empty({4, 17}, DType::F32);
  auto plan = planLaunch(fused, tiles(4, 32), {{x, bias}}, {{out}});
  EXPECT_EQ(plan->signature.substr(0, 32), "x_ptr=*fp32, bias_ptr=*fp32:16, ");
}

TEST(LaunchPlan, FlatKernelGivesWayToTilesForStridedTensors) {
  FusedOperator fused =
      fusedOf(made("out = x * x", "[inputs.x]\nshape = [\"R\", \"D\"]\n", "\"R\", \"D\""));
  Schedule flat = *parseSchedule("flat:BLOCK=1024,STREAMING=0");
  auto storage = runtime::Tensor::empty({4, 20}, DType::F32);
  auto view = runtime::Tensor::borrow(storage.data(), {4, 17}, DType::F32, {20, 1});
  auto out = runtime::Tensor::empty({4, 17}, DType::F32);
  auto strided = planLaunch(fused, flat, {{view}}, {{out}});
  ASSERT_TRUE(bool(strided)) << render(strided.error());
  EXPECT_EQ(strided->function, "t_tiles_kernel");
  auto dense = planLaunch(fused, flat, {{out}}, {{out}});
  EXPECT_EQ(dense->function, "t_flat_kernel");
  EXPECT_EQ(integer(*dense, "elements"), 68);
}

TEST(LaunchPlan, HugeTensorsGetWideIndices) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  definition::Binding binding{{{"D", 4096}}, {int64_t{1} << 20}};
  auto plan = planLaunch(fused, tiles(4, 4096), binding, DType::F32);
  EXPECT_NE(plan->signature.find("WIDE=1"), std::string::npos);
  binding.rest = {1 << 18};
  EXPECT_NE(planLaunch(fused, tiles(4, 4096), binding, DType::F32)->signature.find("WIDE=0"),
            std::string::npos);
  // Masked lanes behind the last element count too.
  binding.rest = {(1 << 19) - 1};
  EXPECT_NE(planLaunch(fused, tiles(4, 4096), binding, DType::F32)->signature.find("WIDE=1"),
            std::string::npos);
}

TEST(LaunchPlan, EmptyMeansNoLaunch) {
  FusedOperator fused = fusedOf(shipped("softmax"));
  definition::Binding binding{{{"D", 16}}, {0, 3}};
  Schedule rows = *parseSchedule("rows:ROWS=1,BLOCK_N=16,STREAMING=0");
  auto plan = planLaunch(fused, rows, binding, DType::F32);
  ASSERT_TRUE(bool(plan));
  EXPECT_TRUE(plan->isEmpty);
  // The definition asks for a column.
  binding = {{{"D", 0}}, {3}};
  EXPECT_EQ(planLaunch(fused, rows, binding, DType::F32).error().code, "E0617");
}

TEST(LaunchPlan, RefusesWhatDoesNotFit) {
  FusedOperator fused = fusedOf(shipped("softmax"));
  definition::Binding binding{{{"D", 100}}, {3}};
  Schedule narrow = *parseSchedule("rows:ROWS=1,BLOCK_N=64,STREAMING=0");
  EXPECT_EQ(planLaunch(fused, narrow, binding, DType::F32).error().code, "E0612");
  EXPECT_EQ(planLaunch(fused, tiles(4, 4), binding, DType::F32).error().code, "E0612");

  FusedOperator add = fusedOf(shipped("broadcast_add"));
  auto x = runtime::Tensor::empty({4, 17}, DType::F32);
  auto bias = runtime::Tensor::empty({16}, DType::F32);
  auto out = runtime::Tensor::empty({4, 17}, DType::F32);
  auto wrongShape = planLaunch(add, tiles(4, 32), {{x, bias}}, {{out}});
  EXPECT_EQ(wrongShape.error().message,
            "'bias' of operator 'broadcast_add' expects D = 17, but got [16]");
  auto half = runtime::Tensor::empty({17}, DType::F16);
  auto wrongType = planLaunch(add, tiles(4, 32), {{x, half}}, {{out}});
  EXPECT_EQ(wrongType.error().message,
            "'bias' of operator 'broadcast_add' expects float32, but got float16");
  EXPECT_EQ(planLaunch(add, tiles(4, 32), {{x}}, {{out}}).error().code, "E0612");
}

} // namespace
} // namespace nereid::generator
