// Neighbouring vectors of bfloat16 are widened by their even and odd lanes where the order of lanes
// does not matter.
// RUN: cpu-opt %s --cpu-widen-pairs | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: scf.for
// CHECK: %[[WORDS:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[WORDS]]
// CHECK: %[[MASKED:.*]] = arith.andi %[[WORDS]]
// CHECK: %[[EVEN:.*]] = arith.bitcast %[[SHIFTED]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[ODD:.*]] = arith.bitcast %[[MASKED]] : vector<16xi32> to vector<16xf32>
// CHECK-NOT: arith.extf
// CHECK: arith.addf %{{.*}}, %[[EVEN]]
// CHECK: arith.addf %{{.*}}, %[[ODD]]
func.func @sum(%x: !llvm.ptr, %n: i64, %zero: vector<16xf32>) -> vector<16xf32> {
  %start = arith.constant 0 : i64
  %step = arith.constant 32 : i64
  %half = arith.constant 16 : i64
  %r:2 = scf.for %i = %start to %n step %step iter_args(%a = %zero, %b = %zero)
      -> (vector<16xf32>, vector<16xf32>) : i64 {
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
    %v = llvm.load %p {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %j = arith.addi %i, %half : i64
    %q = llvm.getelementptr %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
    %u = llvm.load %q {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
    %t = arith.extf %u : vector<16xbf16> to vector<16xf32>
    %s0 = arith.addf %a, %w : vector<16xf32>
    %s1 = arith.addf %b, %t : vector<16xf32>
    scf.yield %s0, %s1 : vector<16xf32>, vector<16xf32>
  } {cpu.any_lane_order}
  %sum = arith.addf %r#0, %r#1 : vector<16xf32>
  return %sum : vector<16xf32>
}

// The lanes' order is not said to be free.
// CHECK-LABEL: func.func @in_order
// CHECK-COUNT-2: arith.extf
func.func @in_order(%x: !llvm.ptr, %n: i64, %zero: vector<16xf32>) -> vector<16xf32> {
  %start = arith.constant 0 : i64
  %step = arith.constant 32 : i64
  %half = arith.constant 16 : i64
  %r:2 = scf.for %i = %start to %n step %step iter_args(%a = %zero, %b = %zero)
      -> (vector<16xf32>, vector<16xf32>) : i64 {
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
    %v = llvm.load %p {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %j = arith.addi %i, %half : i64
    %q = llvm.getelementptr %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
    %u = llvm.load %q {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
    %t = arith.extf %u : vector<16xbf16> to vector<16xf32>
    %s0 = arith.addf %a, %w : vector<16xf32>
    %s1 = arith.addf %b, %t : vector<16xf32>
    scf.yield %s0, %s1 : vector<16xf32>, vector<16xf32>
  }
  %sum = arith.addf %r#0, %r#1 : vector<16xf32>
  return %sum : vector<16xf32>
}

// Vectors that are scaled differently keep their own elements.
// CHECK-LABEL: func.func @scaled
// CHECK-COUNT-2: arith.extf
func.func @scaled(%x: !llvm.ptr, %n: i64, %zero: vector<16xf32>) -> vector<16xf32> {
  %start = arith.constant 0 : i64
  %step = arith.constant 32 : i64
  %half = arith.constant 16 : i64
  %two = arith.constant dense<2.0> : vector<16xf32>
  %three = arith.constant dense<3.0> : vector<16xf32>
  %r:2 = scf.for %i = %start to %n step %step iter_args(%a = %zero, %b = %zero)
      -> (vector<16xf32>, vector<16xf32>) : i64 {
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
    %v = llvm.load %p {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %j = arith.addi %i, %half : i64
    %q = llvm.getelementptr %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
    %u = llvm.load %q {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
    %t = arith.extf %u : vector<16xbf16> to vector<16xf32>
    %w2 = arith.mulf %w, %two : vector<16xf32>
    %t3 = arith.mulf %t, %three : vector<16xf32>
    %s0 = arith.addf %a, %w2 : vector<16xf32>
    %s1 = arith.addf %b, %t3 : vector<16xf32>
    scf.yield %s0, %s1 : vector<16xf32>, vector<16xf32>
  } {cpu.any_lane_order}
  %sum = arith.addf %r#0, %r#1 : vector<16xf32>
  return %sum : vector<16xf32>
}
