// The phase `loops-opt` as a whole: what finds pairs of bfloat16 comes before they are taken apart,
// and functions before what makes chains of their multiply-adds overlap.
// RUN: cpu-opt %s --cpu=x86-64-v4 --loops-opt | FileCheck %s --implicit-check-not='{{xbf16|math.exp}}'

// CHECK-LABEL: func.func @sum
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: arith.shli %{{.*}} : vector<16xi32>
// CHECK: arith.andi %{{.*}} : vector<16xi32>
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
  %s = arith.addf %r#0, %r#1 : vector<16xf32>
  return %s : vector<16xf32>
}

// The next iteration begins beside the last one's end, so that the loop carries what it has computed.
// CHECK-LABEL: func.func @exponentials
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma
// CHECK: llvm.x86.avx512.mask.scalef.ps.512
func.func @exponentials(%x: !llvm.ptr, %n: i64) {
  %start = arith.constant 0 : i64
  %step = arith.constant 64 : i64
  scf.for %i = %start to %n step %step : i64 {
    %p0 = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %p1 = llvm.getelementptr %p0[16] : (!llvm.ptr) -> !llvm.ptr, f32
    %p2 = llvm.getelementptr %p0[32] : (!llvm.ptr) -> !llvm.ptr, f32
    %p3 = llvm.getelementptr %p0[48] : (!llvm.ptr) -> !llvm.ptr, f32
    %a0 = llvm.load %p0 : !llvm.ptr -> vector<16xf32>
    %a1 = llvm.load %p1 : !llvm.ptr -> vector<16xf32>
    %a2 = llvm.load %p2 : !llvm.ptr -> vector<16xf32>
    %a3 = llvm.load %p3 : !llvm.ptr -> vector<16xf32>
    %e0 = math.exp %a0 : vector<16xf32>
    %e1 = math.exp %a1 : vector<16xf32>
    %e2 = math.exp %a2 : vector<16xf32>
    %e3 = math.exp %a3 : vector<16xf32>
    llvm.store %e0, %p0 : vector<16xf32>, !llvm.ptr
    llvm.store %e1, %p1 : vector<16xf32>, !llvm.ptr
    llvm.store %e2, %p2 : vector<16xf32>, !llvm.ptr
    llvm.store %e3, %p3 : vector<16xf32>, !llvm.ptr
  } {cpu.whole_vectors}
  return
}
