// Iterations of an unrolled loop that do the same become a loop; each way to differ has a neighbour.
// RUN: tile-opt %s --tile-roll-iterations | FileCheck %s --implicit-check-not=tile.iterations

// The counter, a multiple of it, and tiles of both; what is carried, and what is not.
// CHECK-LABEL: func.func @counts
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[N:.*]]: i32, %[[X:.*]]: f32
func.func @counts(%p: !tile.ptr<f32>, %n: i32, %x: f32) -> f32 {
  // CHECK-DAG: %[[LOW:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant 7 : i32
  // CHECK: %[[R:.*]] = scf.for %[[I:[a-z0-9]+]] = %[[LOW]] to %[[HIGH]] step %{{.*}} iter_args(%[[A:.*]] = %[[X]])
  // CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[I]] : i32 to i64
  // CHECK-DAG: %[[MUL:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
  // CHECK-DAG: %[[SUM:.*]] = arith.addi %[[MUL]], %{{.*}} : i64
  // CHECK-DAG: tile.splat %[[I]] : i32 -> tensor<4xi32>
  // CHECK: tile.addptr %[[P]], %[[I]]
  // CHECK: tile.addptr %{{.*}}, %[[SUM]]
  // CHECK: %[[V:.*]] = tile.load
  // CHECK: %[[NEXT:.*]] = arith.addf %[[A]], %[[V]]
  // CHECK: scf.yield %[[NEXT]]
  // CHECK-NOT: tile.load
  // CHECK: return %[[R]]
  %c0 = arith.constant 3 : i32
  %w0 = arith.constant 40 : i64
  %t0 = arith.constant dense<3> : tensor<4xi32>
  %p0 = tile.addptr %p, %c0 : !tile.ptr<f32>, i32
  %q0 = tile.addptr %p0, %w0 : !tile.ptr<f32>, i64
  tile.print "" false %t0 : tensor<4xi32>
  %v0 = tile.load %q0 : !tile.ptr<f32> -> f32
  %a0 = arith.addf %x, %v0 {tile.iterations = array<i64: 1>} : f32
  %c1 = arith.constant 4 : i32
  %w1 = arith.constant 50 : i64
  %t1 = arith.constant dense<4> : tensor<4xi32>
  %p1 = tile.addptr %p, %c1 : !tile.ptr<f32>, i32
  %q1 = tile.addptr %p1, %w1 : !tile.ptr<f32>, i64
  tile.print "" false %t1 : tensor<4xi32>
  %v1 = tile.load %q1 : !tile.ptr<f32> -> f32
  %a1 = arith.addf %a0, %v1 {tile.iterations = array<i64: 1>} : f32
  %c2 = arith.constant 5 : i32
  %w2 = arith.constant 60 : i64
  %t2 = arith.constant dense<5> : tensor<4xi32>
  %p2 = tile.addptr %p, %c2 : !tile.ptr<f32>, i32
  %q2 = tile.addptr %p2, %w2 : !tile.ptr<f32>, i64
  tile.print "" false %t2 : tensor<4xi32>
  %v2 = tile.load %q2 : !tile.ptr<f32> -> f32
  %a2 = arith.addf %a1, %v2 {tile.iterations = array<i64: 1>} : f32
  %c3 = arith.constant 6 : i32
  %w3 = arith.constant 70 : i64
  %t3 = arith.constant dense<6> : tensor<4xi32>
  %p3 = tile.addptr %p, %c3 : !tile.ptr<f32>, i32
  %q3 = tile.addptr %p3, %w3 : !tile.ptr<f32>, i64
  tile.print "" false %t3 : tensor<4xi32>
  %v3 = tile.load %q3 : !tile.ptr<f32> -> f32
  %a3 = arith.addf %a2, %v3 {tile.iterations = array<i64: 1>} : f32
  return %a3 : f32
}

// The first iteration lacks an operation, the last one's own value is used: three in between.
// CHECK-LABEL: func.func @all_but_the_ends
func.func @all_but_the_ends(%p: !tile.ptr<f32>) -> !tile.ptr<f32> {
  // CHECK: tile.store
  // CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} to
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: tile.addptr %{{.*}}, %[[I]]
  // CHECK: tile.store
  // CHECK: }
  // CHECK: %[[Q:.*]] = tile.addptr
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: return %[[Q]]
  %x0 = arith.constant 1.0 : f32
  tile.store %p, %x0 {tile.iterations = array<i64: 1>} : !tile.ptr<f32>, f32
  %c1 = arith.constant 1 : i32
  %p1 = tile.addptr %p, %c1 : !tile.ptr<f32>, i32
  %x1 = arith.constant 1.0 : f32
  tile.store %p1, %x1 {tile.iterations = array<i64: 1>} : !tile.ptr<f32>, f32
  %c2 = arith.constant 2 : i32
  %p2 = tile.addptr %p, %c2 : !tile.ptr<f32>, i32
  %x2 = arith.constant 1.0 : f32
  tile.store %p2, %x2 {tile.iterations = array<i64: 1>} : !tile.ptr<f32>, f32
  %c3 = arith.constant 3 : i32
  %p3 = tile.addptr %p, %c3 : !tile.ptr<f32>, i32
  %x3 = arith.constant 1.0 : f32
  tile.store %p3, %x3 {tile.iterations = array<i64: 1>} : !tile.ptr<f32>, f32
  %c4 = arith.constant 4 : i32
  %p4 = tile.addptr %p, %c4 : !tile.ptr<f32>, i32
  %x4 = arith.constant 1.0 : f32
  tile.store %p4, %x4 {tile.iterations = array<i64: 1>} : !tile.ptr<f32>, f32
  return %p4 : !tile.ptr<f32>
}

// One value in two places of the first iteration: the carried one changes, the other one does not.
// CHECK-LABEL: func.func @start_is_used_too
// CHECK-SAME: %[[X:.*]]: f32
func.func @start_is_used_too(%x: f32) -> f32 {
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]])
  // CHECK-NEXT: %[[NEXT:.*]] = arith.mulf %[[A]], %[[X]]
  // CHECK-NEXT: scf.yield %[[NEXT]]
  %a0 = arith.mulf %x, %x {tile.iterations = array<i64: 1>} : f32
  %a1 = arith.mulf %a0, %x {tile.iterations = array<i64: 1>} : f32
  %a2 = arith.mulf %a1, %x {tile.iterations = array<i64: 1>} : f32
  return %a2 : f32
}

// Two values change places.
// CHECK-LABEL: func.func @swaps
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
func.func @swaps(%x: f32, %y: f32) -> f32 {
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]])
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK-NEXT: %[[D:.*]] = arith.subf %[[A]], %[[S]]
  // CHECK-NEXT: scf.yield %[[D]], %[[S]]
  %s0 = arith.addf %x, %y : f32
  %d0 = arith.subf %x, %s0 {tile.iterations = array<i64: 1>} : f32
  %s1 = arith.addf %d0, %s0 : f32
  %d1 = arith.subf %d0, %s1 {tile.iterations = array<i64: 1>} : f32
  %s2 = arith.addf %d1, %s1 : f32
  %d2 = arith.subf %d1, %s2 {tile.iterations = array<i64: 1>} : f32
  return %d2 : f32
}

// The inner loops first; each is the last thing in an iteration of the outer one.
// CHECK-LABEL: func.func @nested
func.func @nested(%x: f32, %y: f32) -> f32 {
  // CHECK: scf.for
  // CHECK-NEXT: arith.addf
  // CHECK-COUNT-1: scf.for
  // CHECK-NEXT: arith.mulf
  // CHECK-NOT: arith.mulf
  // CHECK: return
  %a0 = arith.addf %x, %y : f32
  %a1 = arith.mulf %a0, %y {tile.iterations = array<i64: 1>} : f32
  %a2 = arith.mulf %a1, %y {tile.iterations = array<i64: 1>} : f32
  %a3 = arith.mulf %a2, %y {tile.iterations = array<i64: 1, 4>} : f32
  %b0 = arith.addf %a3, %y : f32
  %b1 = arith.mulf %b0, %y {tile.iterations = array<i64: 2>} : f32
  %b2 = arith.mulf %b1, %y {tile.iterations = array<i64: 2>} : f32
  %b3 = arith.mulf %b2, %y {tile.iterations = array<i64: 2, 4>} : f32
  %c0 = arith.addf %b3, %y : f32
  %c1 = arith.mulf %c0, %y {tile.iterations = array<i64: 3>} : f32
  %c2 = arith.mulf %c1, %y {tile.iterations = array<i64: 3>} : f32
  %c3 = arith.mulf %c2, %y {tile.iterations = array<i64: 3, 4>} : f32
  return %c3 : f32
}

// CHECK-LABEL: func.func @no_step
// CHECK-NOT: scf.for
func.func @no_step(%n: i32) -> i32 {
  %c0 = arith.constant 1 : i32
  %a0 = arith.muli %n, %c0 {tile.iterations = array<i64: 1>} : i32
  %c1 = arith.constant 2 : i32
  %a1 = arith.muli %a0, %c1 {tile.iterations = array<i64: 1>} : i32
  %c2 = arith.constant 4 : i32
  %a2 = arith.muli %a1, %c2 {tile.iterations = array<i64: 1>} : i32
  %c3 = arith.constant 8 : i32
  %a3 = arith.muli %a2, %c3 {tile.iterations = array<i64: 1>} : i32
  return %a3 : i32
}

// Floats that are integers count; others would be rounded, and zeros have two signs.
// CHECK-LABEL: func.func @whole_floats
func.func @whole_floats(%x: f32) -> f32 {
  // CHECK: scf.for %[[I:[a-z0-9]+]] =
  // CHECK: %[[M:.*]] = arith.muli %[[I]], %{{.*}} : i32
  // CHECK: %[[S:.*]] = arith.addi %[[M]], %{{.*}} : i32
  // CHECK: arith.sitofp %[[S]] : i32 to f32
  %c0 = arith.constant 1.0 : f32
  %a0 = arith.mulf %x, %c0 {tile.iterations = array<i64: 1>} : f32
  %c1 = arith.constant 3.0 : f32
  %a1 = arith.mulf %a0, %c1 {tile.iterations = array<i64: 1>} : f32
  %c2 = arith.constant 5.0 : f32
  %a2 = arith.mulf %a1, %c2 {tile.iterations = array<i64: 1>} : f32
  return %a2 : f32
}

// CHECK-LABEL: func.func @other_floats
// CHECK-NOT: scf.for
func.func @other_floats(%x: f32, %h: f16) -> (f32, f32, f16) {
  %c0 = arith.constant 0.5 : f32
  %a0 = arith.mulf %x, %c0 {tile.iterations = array<i64: 1>} : f32
  %c1 = arith.constant 1.0 : f32
  %a1 = arith.mulf %a0, %c1 {tile.iterations = array<i64: 1>} : f32
  %c2 = arith.constant 1.5 : f32
  %a2 = arith.mulf %a1, %c2 {tile.iterations = array<i64: 1>} : f32
  %z0 = arith.constant 0.0 : f32
  %b0 = arith.mulf %x, %z0 {tile.iterations = array<i64: 2>} : f32
  %z1 = arith.constant -0.0 : f32
  %b1 = arith.mulf %b0, %z1 {tile.iterations = array<i64: 2>} : f32
  %z2 = arith.constant 0.0 : f32
  %b2 = arith.mulf %b1, %z2 {tile.iterations = array<i64: 2>} : f32
  %h0 = arith.constant 1.0 : f16
  %e0 = arith.mulf %h, %h0 {tile.iterations = array<i64: 3>} : f16
  %h1 = arith.constant 2.0 : f16
  %e1 = arith.mulf %e0, %h1 {tile.iterations = array<i64: 3>} : f16
  %h2 = arith.constant 3.0 : f16
  %e2 = arith.mulf %e1, %h2 {tile.iterations = array<i64: 3>} : f16
  return %a2, %b2, %e2 : f32, f32, f16
}

// CHECK-LABEL: func.func @other_attributes
// CHECK-NOT: scf.for
func.func @other_attributes(%n: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = tile.make_range 0 to 4 : tensor<4xi32>
  %a0 = arith.muli %n, %c0 {tile.iterations = array<i64: 1>} : tensor<4xi32>
  %c1 = tile.make_range 4 to 8 : tensor<4xi32>
  %a1 = arith.muli %a0, %c1 {tile.iterations = array<i64: 1>} : tensor<4xi32>
  %c2 = tile.make_range 8 to 12 : tensor<4xi32>
  %a2 = arith.muli %a1, %c2 {tile.iterations = array<i64: 1>} : tensor<4xi32>
  return %a2 : tensor<4xi32>
}

// Every iteration's value is used behind the loop.
// CHECK-LABEL: func.func @all_are_used
// CHECK-NOT: scf.for
func.func @all_are_used(%x: f32) -> (f32, f32, f32, f32) {
  %a0 = arith.mulf %x, %x {tile.iterations = array<i64: 1>} : f32
  %a1 = arith.mulf %a0, %x {tile.iterations = array<i64: 1>} : f32
  %a2 = arith.mulf %a1, %x {tile.iterations = array<i64: 1>} : f32
  %a3 = arith.mulf %a2, %x {tile.iterations = array<i64: 1>} : f32
  return %a0, %a1, %a2, %a3 : f32, f32, f32, f32
}

// A value is taken from the iteration before the previous one.
// CHECK-LABEL: func.func @two_back
// CHECK-NOT: scf.for
func.func @two_back(%x: f32, %y: f32) -> f32 {
  %a0 = arith.addf %x, %y {tile.iterations = array<i64: 1>} : f32
  %a1 = arith.addf %y, %a0 {tile.iterations = array<i64: 1>} : f32
  %a2 = arith.addf %a0, %a1 {tile.iterations = array<i64: 1>} : f32
  %a3 = arith.addf %a1, %a2 {tile.iterations = array<i64: 1>} : f32
  return %a3 : f32
}

// In a loop, a volatile load counts as waiting for another program.
// CHECK-LABEL: func.func @polls
// CHECK-NOT: scf.for
func.func @polls(%p: !tile.ptr<f32>, %x: f32) -> f32 {
  %v0 = tile.load %p {isVolatile} : !tile.ptr<f32> -> f32
  %a0 = arith.mulf %x, %v0 {tile.iterations = array<i64: 1>} : f32
  %v1 = tile.load %p {isVolatile} : !tile.ptr<f32> -> f32
  %a1 = arith.mulf %a0, %v1 {tile.iterations = array<i64: 1>} : f32
  %v2 = tile.load %p {isVolatile} : !tile.ptr<f32> -> f32
  %a2 = arith.mulf %a1, %v2 {tile.iterations = array<i64: 1>} : f32
  return %a2 : f32
}

// Narrow counters, downwards; the loop's own counter starts at 0.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%n: i8) -> i8 {
  // CHECK: scf.for %[[I:[a-z0-9]+]] =
  // CHECK: %[[T:.*]] = arith.trunci %[[I]] : i32 to i8
  // CHECK: arith.constant -2 : i8
  // CHECK: arith.muli %[[T]]
  // CHECK: arith.constant 7 : i8
  // CHECK: arith.addi
  %c0 = arith.constant 7 : i8
  %a0 = arith.xori %n, %c0 {tile.iterations = array<i64: 1>} : i8
  %c1 = arith.constant 5 : i8
  %a1 = arith.xori %a0, %c1 {tile.iterations = array<i64: 1>} : i8
  %c2 = arith.constant 3 : i8
  %a2 = arith.xori %a1, %c2 {tile.iterations = array<i64: 1>} : i8
  return %a2 : i8
}
