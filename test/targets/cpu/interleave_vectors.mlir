// The vectors of one iteration step by step, so that none waits for its own chain.
// RUN: cpu-opt %s --cpu=x86-64-v4 --cpu-interleave-vectors | FileCheck %s

// CHECK-LABEL: func.func @chains
// CHECK: %[[X:.*]] = llvm.load
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[X]] :
// CHECK-NEXT: %[[V0:.*]] = math.fma %[[X]],
// CHECK-NEXT: %[[V1:.*]] = math.fma %[[V0]],
// CHECK-NEXT: %[[W0:.*]] = math.fma %[[Y]],
// CHECK-NEXT: math.fma %[[V1]],
// CHECK-NEXT: math.fma %[[W0]],
func.func @chains(%in: !llvm.ptr, %n: i64, %start: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  %r:2 = scf.for %i = %zero to %n step %step iter_args(%a = %start, %b = %start)
      -> (vector<16xf32>, vector<16xf32>) : i64 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = arith.mulf %x, %x : vector<16xf32>
    %v0 = math.fma %x, %half, %x : vector<16xf32>
    %v1 = math.fma %v0, %half, %x : vector<16xf32>
    %v2 = math.fma %v1, %half, %x : vector<16xf32>
    %v3 = math.fma %v2, %half, %x : vector<16xf32>
    %v4 = math.fma %v3, %half, %x : vector<16xf32>
    %v5 = math.fma %v4, %half, %x : vector<16xf32>
    %v6 = math.fma %v5, %half, %x : vector<16xf32>
    %v7 = math.fma %v6, %half, %x : vector<16xf32>
    %v8 = math.fma %v7, %half, %x : vector<16xf32>
    %v9 = math.fma %v8, %half, %x : vector<16xf32>
    %v10 = math.fma %v9, %half, %x : vector<16xf32>
    %v11 = math.fma %v10, %half, %x : vector<16xf32>
    %s = arith.addf %a, %v11 : vector<16xf32>
    %w0 = math.fma %y, %half, %y : vector<16xf32>
    %w1 = math.fma %w0, %half, %y : vector<16xf32>
    %w2 = math.fma %w1, %half, %y : vector<16xf32>
    %w3 = math.fma %w2, %half, %y : vector<16xf32>
    %w4 = math.fma %w3, %half, %y : vector<16xf32>
    %w5 = math.fma %w4, %half, %y : vector<16xf32>
    %w6 = math.fma %w5, %half, %y : vector<16xf32>
    %w7 = math.fma %w6, %half, %y : vector<16xf32>
    %w8 = math.fma %w7, %half, %y : vector<16xf32>
    %w9 = math.fma %w8, %half, %y : vector<16xf32>
    %w10 = math.fma %w9, %half, %y : vector<16xf32>
    %w11 = math.fma %w10, %half, %y : vector<16xf32>
    %t = arith.addf %b, %w11 : vector<16xf32>
    scf.yield %s, %t : vector<16xf32>, vector<16xf32>
  } {cpu.whole_vectors}
  return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
}

// Nobody says that the loop is a main part.
// CHECK-LABEL: func.func @other_loop
// CHECK: %[[V0:.*]] = math.fma
// CHECK-NEXT: math.fma %[[V0]]
func.func @other_loop(%in: !llvm.ptr, %n: i64, %start: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  %r:2 = scf.for %i = %zero to %n step %step iter_args(%a = %start, %b = %start)
      -> (vector<16xf32>, vector<16xf32>) : i64 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = arith.mulf %x, %x : vector<16xf32>
    %v0 = math.fma %x, %half, %x : vector<16xf32>
    %v1 = math.fma %v0, %half, %x : vector<16xf32>
    %v2 = math.fma %v1, %half, %x : vector<16xf32>
    %v3 = math.fma %v2, %half, %x : vector<16xf32>
    %v4 = math.fma %v3, %half, %x : vector<16xf32>
    %v5 = math.fma %v4, %half, %x : vector<16xf32>
    %v6 = math.fma %v5, %half, %x : vector<16xf32>
    %v7 = math.fma %v6, %half, %x : vector<16xf32>
    %v8 = math.fma %v7, %half, %x : vector<16xf32>
    %v9 = math.fma %v8, %half, %x : vector<16xf32>
    %v10 = math.fma %v9, %half, %x : vector<16xf32>
    %v11 = math.fma %v10, %half, %x : vector<16xf32>
    %s = arith.addf %a, %v11 : vector<16xf32>
    %w0 = math.fma %y, %half, %y : vector<16xf32>
    %w1 = math.fma %w0, %half, %y : vector<16xf32>
    %w2 = math.fma %w1, %half, %y : vector<16xf32>
    %w3 = math.fma %w2, %half, %y : vector<16xf32>
    %w4 = math.fma %w3, %half, %y : vector<16xf32>
    %w5 = math.fma %w4, %half, %y : vector<16xf32>
    %w6 = math.fma %w5, %half, %y : vector<16xf32>
    %w7 = math.fma %w6, %half, %y : vector<16xf32>
    %w8 = math.fma %w7, %half, %y : vector<16xf32>
    %w9 = math.fma %w8, %half, %y : vector<16xf32>
    %w10 = math.fma %w9, %half, %y : vector<16xf32>
    %w11 = math.fma %w10, %half, %y : vector<16xf32>
    %t = arith.addf %b, %w11 : vector<16xf32>
    scf.yield %s, %t : vector<16xf32>, vector<16xf32>
  }
  return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
}

// The processor sees the next vector in time.
// CHECK-LABEL: func.func @short_chains
// CHECK: %[[V0:.*]] = math.fma
// CHECK-NEXT: math.fma %[[V0]]
func.func @short_chains(%in: !llvm.ptr, %n: i64, %start: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  %r:2 = scf.for %i = %zero to %n step %step iter_args(%a = %start, %b = %start)
      -> (vector<16xf32>, vector<16xf32>) : i64 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = arith.mulf %x, %x : vector<16xf32>
    %v0 = math.fma %x, %half, %x : vector<16xf32>
    %v1 = math.fma %v0, %half, %x : vector<16xf32>
    %v2 = math.fma %v1, %half, %x : vector<16xf32>
    %s = arith.addf %a, %v2 : vector<16xf32>
    %w0 = math.fma %y, %half, %y : vector<16xf32>
    %w1 = math.fma %w0, %half, %y : vector<16xf32>
    %w2 = math.fma %w1, %half, %y : vector<16xf32>
    %t = arith.addf %b, %w2 : vector<16xf32>
    scf.yield %s, %t : vector<16xf32>, vector<16xf32>
  } {cpu.whole_vectors}
  return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
}
