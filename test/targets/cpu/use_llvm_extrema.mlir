// RUN: cpu-opt %s --cpu-use-llvm-extrema | FileCheck %s

// CHECK-LABEL: func.func @extrema
// CHECK-SAME: %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
func.func @extrema(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[MAX:.*]] = arith.maxnumf %[[A]], %[[B]] : tensor<8xf32>
  // CHECK: %[[MIN:.*]] = arith.minnumf %[[B]], %[[A]] : tensor<8xf32>
  // CHECK: return %[[MAX]], %[[MIN]]
  %max = tile.maxnum %a, %b : tensor<8xf32>
  %min = tile.minnum %b, %a : tensor<8xf32>
  return %max, %min : tensor<8xf32>, tensor<8xf32>
}

// Those that are not tile IR's stay.
// CHECK-LABEL: func.func @others
func.func @others(%a: f32, %b: f32) -> f32 {
  // CHECK-NEXT: arith.maximumf
  // CHECK-NEXT: return
  %max = arith.maximumf %a, %b : f32
  return %max : f32
}
