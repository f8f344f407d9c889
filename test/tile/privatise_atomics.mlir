// Atomic additions that nobody in the kernel can see being late.
// RUN: tile-opt %s --tile-privatise-atomics | FileCheck %s

// Masked elements add zero; additions in a loop and a load in front of them are no hindrance.
// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %[[P:.*]]: tensor<64x!tile.ptr<f32>>, %[[X:.*]]: !tile.ptr<f32>, %[[MASK:.*]]: tensor<64xi1>
func.func @scatter(%p: tensor<64x!tile.ptr<f32>>, %x: !tile.ptr<f32>, %mask: tensor<64xi1>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = tile.load %x : !tile.ptr<f32> -> f32
  // CHECK: %[[AS:.*]] = tile.splat
  %as = tile.splat %a : f32 -> tensor<64xf32>
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
    // CHECK: %[[VALUE:.*]] = arith.select %[[MASK]], %[[AS]], %[[NONE]]
    // CHECK: tile.atomic_rmw fadd %[[P]], %[[VALUE]] mask %[[MASK]] : tensor<64xi1> {tile.private}
    %old = tile.atomic_rmw fadd %p, %as mask %mask : tensor<64xi1> : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  }
  return
}

// A load behind the addition may see it, be it in the next turn of a loop; so may a second kind of
// atomic, and who uses the result has to wait for it.
// CHECK-NOT: tile.private
// CHECK-LABEL: func.func @load_behind
func.func @load_behind(%p: tensor<64x!tile.ptr<i32>>, %v: tensor<64xi32>, %x: !tile.ptr<i32>) -> i32 {
  %old = tile.atomic_rmw add %p, %v : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %a = tile.load %x : !tile.ptr<i32> -> i32
  return %a : i32
}
// CHECK-LABEL: func.func @next_turn
func.func @next_turn(%p: tensor<64x!tile.ptr<i32>>, %x: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %a = tile.load %x : !tile.ptr<i32> -> i32
    %v = tile.splat %a : i32 -> tensor<64xi32>
    %old = tile.atomic_rmw add %p, %v : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  }
  return
}
// CHECK-LABEL: func.func @maximum
func.func @maximum(%p: tensor<64x!tile.ptr<i32>>, %v: tensor<64xi32>) {
  %a = tile.atomic_rmw add %p, %v : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %b = tile.atomic_rmw max %p, %v : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  return
}
// CHECK-LABEL: func.func @used
func.func @used(%p: tensor<64x!tile.ptr<i32>>, %v: tensor<64xi32>) -> tensor<64xi32> {
  %a = tile.atomic_rmw add %p, %v {tile.private} : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  return %a : tensor<64xi32>
}
// CHECK-LABEL: func.func @two_types
func.func @two_types(%p: tensor<64x!tile.ptr<i32>>, %v: tensor<64xi32>, %q: tensor<64x!tile.ptr<i64>>, %w: tensor<64xi64>) {
  %a = tile.atomic_rmw add %p, %v : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %b = tile.atomic_rmw add %q, %w : tensor<64x!tile.ptr<i64>>, tensor<64xi64>
  return
}
