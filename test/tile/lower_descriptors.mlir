// Accesses through descriptors become accesses through addresses.
// RUN: tile-opt %s --tile-lower-descriptors --split-input-file --verify-diagnostics | FileCheck %s

// A block: what is uniform is added up first, contiguous rows are not multiplied, and an offset
// that is known not to be negative is compared once.
// CHECK-LABEL: func.func @load
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[M:.*]]: i64, %[[N:.*]]: i64, %[[S:.*]]: i64, %[[I:.*]]: i64
func.func @load(%p: !tile.ptr<f32>, %m: i64, %n: i64, %s: i64, %i: i64) -> tensor<4x8xf32> {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %d = tile.make_descriptor %p, [%m, %n], [%s, %one] : !tile.ptr<f32> -> !tile.descriptor<4x8xf32>
  // CHECK-NOT: descriptor
  // CHECK: %[[MOVED:.*]] = arith.muli %[[I]], %[[S]] : i64
  // CHECK: %[[BASE:.*]] = tile.addptr %[[P]], %[[MOVED]]
  // CHECK: arith.muli %{{.*}}, %{{.*}} : tensor<4xi64>
  // CHECK: tile.splat %[[BASE]]
  // CHECK: arith.cmpi slt, %{{.*}} : tensor<4xi64>
  // CHECK: arith.cmpi sge, %{{.*}} : tensor<4xi64>
  // CHECK-NOT: arith.muli
  // CHECK: arith.cmpi slt, %{{.*}} : tensor<8xi64>
  // CHECK-NOT: arith.cmpi sge
  // CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
  // CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<4x8xi1> other %[[ZEROS]] : tensor<4x8xf32> {tile.divisibility = array<i64: 2, 2>}
  %x = tile.descriptor_load %d[%i, %zero] {tile.divisibility = array<i64: 2, 2>} : !tile.descriptor<4x8xf32> -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @store_and_reduce
func.func @store_and_reduce(%p: !tile.ptr<i32>, %n: i64, %i: i64, %x: tensor<8xi32>) {
  %one = arith.constant 1 : i64
  %d = tile.make_descriptor %p, [%n], [%one] : !tile.ptr<i32> -> !tile.descriptor<8xi32>
  // CHECK: tile.store %{{.*}}, %arg3 mask %{{.*}} : tensor<8xi1> {tile.iterations = array<i64: 1>}
  tile.descriptor_store %d[%i], %x {tile.iterations = array<i64: 1>} : !tile.descriptor<8xi32>, tensor<8xi32>
  // CHECK: tile.atomic_rmw xor %{{.*}}, %arg3 mask %{{.*}} : tensor<8xi1> {sem = 0 : i32}
  tile.descriptor_reduce xor %d[%i], %x : !tile.descriptor<8xi32>, tensor<8xi32>
  return
}

// -----

// Rows may be anything, also when the offset is not.
// CHECK-LABEL: func.func @rows
func.func @rows(%p: !tile.ptr<f32>, %m: i64, %n: i64, %rows: tensor<4xi32>) {
  %one = arith.constant 1 : i64
  %d = tile.make_descriptor %p, [%m, %n], [%n, %one] {padding = 1 : i32} : !tile.ptr<f32> -> !tile.descriptor<1x8xf32>
  // CHECK: arith.extsi %arg3 : tensor<4xi32> to tensor<4xi64>
  // CHECK: arith.cmpi sge, %{{.*}} : tensor<4xi64>
  // CHECK: arith.constant dense<0x7FC00000> : tensor<4x8xf32>
  // CHECK: tile.load
  %x = tile.descriptor_gather %d[%rows, %one] : !tile.descriptor<1x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
  // CHECK: tile.store
  tile.descriptor_scatter %d[%rows, %one], %x : !tile.descriptor<1x8xf32>, tensor<4xi32>, tensor<4x8xf32>
  return
}

// -----

func.func @descriptor_of_an_argument(%d: !tile.descriptor<8xf32>, %i: i64) -> tensor<8xf32> {
  // expected-error @+1 {{expects to access memory through the 'tile.make_descriptor' that made its descriptor}}
  %x = tile.descriptor_load %d[%i] : !tile.descriptor<8xf32> -> tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @descriptor_that_a_loop_carries(%p: !tile.ptr<f32>, %n: i64) {
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.ptr<f32> -> !tile.descriptor<8xf32>
  %e = scf.for %i = %n to %n step %n iter_args(%c = %d) -> !tile.descriptor<8xf32> : i64 {
    // expected-error @+1 {{expects to access memory through the 'tile.make_descriptor' that made its descriptor}}
    scf.yield %c : !tile.descriptor<8xf32>
  }
  return
}
