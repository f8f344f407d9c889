// What follows a product's loop and does not need it goes in front of it.
// RUN: tile-opt %s --tile-hoist-before-products | FileCheck %s

// CHECK-LABEL: func.func @bias
// CHECK: tile.load
// CHECK: scf.for
// CHECK: tile.dot
// CHECK: }
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tile.store
func.func @bias(%a: tensor<16x16xf32>, %p: tensor<16x16x!tile.ptr<f32>>, %x: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = scf.for %k = %zero to %n step %one iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %d = tile.dot %a, %a, %acc : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %bias = tile.load %xs : tensor<16x16x!tile.ptr<f32>> -> tensor<16x16xf32>
  %sum = arith.addf %c, %bias : tensor<16x16xf32>
  tile.store %p, %sum : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  return
}

// Nothing moves across a store, neither one behind the loop nor one in it, and volatile loads stay.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: }
// CHECK: tile.load %{{.*}} {isVolatile}
// CHECK: tile.store
// CHECK: tile.load
// CHECK: scf.for
// CHECK: tile.store
// CHECK: }
// CHECK: tile.load
func.func @stays(%a: tensor<16x16xf32>, %p: tensor<16x16x!tile.ptr<f32>>, %x: !tile.ptr<f32>, %n: i32) -> (f32, f32, f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = scf.for %k = %zero to %n step %one iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %d = tile.dot %a, %a, %acc : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %v = tile.load %x {isVolatile} : !tile.ptr<f32> -> f32
  tile.store %p, %c : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
  %w = tile.load %x : !tile.ptr<f32> -> f32
  %e = scf.for %k = %zero to %n step %one iter_args(%acc = %zeros) -> (tensor<16x16xf32>) : i32 {
    %d = tile.dot %a, %a, %acc : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    tile.store %p, %d : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %u = tile.load %x : !tile.ptr<f32> -> f32
  return %v, %w, %u : f32, f32, f32
}
