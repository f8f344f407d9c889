// Remainders of floats by their quotient where it is below 2^24, else by integers: some bits of the
// quotient at a time. Their numbers are tested in unittests/lowering/remainders_test.cpp.
// RUN: cpu-opt %s --expand-remainders | FileCheck %s

// 39 bits of float32's quotient a turn; whole words of the mantissas first.
// CHECK-LABEL: func.func @single
// CHECK: %[[Q:.*]] = arith.divf
// CHECK: arith.cmpf olt, %[[Q]]
// CHECK: scf.if
// CHECK: math.trunc %[[Q]]
// CHECK: math.fma
// CHECK: } else {
// CHECK: %[[X:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK-NOT: arith.remf
// CHECK: arith.remui %{{.*}} : i64
// CHECK: scf.while
// CHECK: arith.constant 39 : i64
// CHECK: arith.remui %{{.*}} : i64
// CHECK: "llvm.intr.ctlz"(%{{.*}}) <{is_zero_poison = false}>
// CHECK: arith.bitcast %{{.*}} : i32 to f32
func.func @single(%x: f32, %y: f32) -> f32 {
  %r = arith.remf %x, %y : f32
  return %r : f32
}

// 10 bits of float64's.
// CHECK-LABEL: func.func @double
// CHECK: scf.while
// CHECK: arith.constant 10 : i64
// CHECK-NOT: arith.remf
// CHECK: return
func.func @double(%x: f64, %y: f64) -> f64 {
  %r = arith.remf %x, %y : f64
  return %r : f64
}

// Of vectors they stay, for who has a function for them; integers are none of its business.
// CHECK-LABEL: func.func @others
// CHECK: arith.remf %{{.*}} : vector<4xf32>
// CHECK: arith.remsi
func.func @others(%x: vector<4xf32>, %i: i32) -> (vector<4xf32>, i32) {
  %r = arith.remf %x, %x : vector<4xf32>
  %s = arith.remsi %i, %i : i32
  return %r, %s : vector<4xf32>, i32
}
