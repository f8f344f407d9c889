// Narrow floats become their bits: no value of such a type is left, operations compute in float32
// and round once, and moves move integers. The numbers are tested in
// unittests/target_cpu/codegen/codegen_half_test.cpp.
// RUN: cpu-opt %s --cpu=x86-64-v3 --expand-half | FileCheck %s --check-prefixes=ALL,F16C
// RUN: cpu-opt %s --cpu=x86-64-v2 --expand-half | FileCheck %s --check-prefixes=ALL,PLAIN

// Rounding to nearest even adds the last bit that stays and half of what is cut off; a NaN stays one.
// ALL-LABEL: func.func @add
// ALL-COUNT-2: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi16>
// ALL-NOT: bf16
// ALL: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
// ALL: %[[BITS:.*]] = arith.bitcast %[[SUM]] : vector<8xf32> to vector<8xi32>
// ALL: %[[UP:.*]] = arith.shrui %[[BITS]]
// ALL: %[[LAST:.*]] = arith.andi %[[UP]]
// ALL: %[[HALF:.*]] = arith.addi %[[LAST]]
// ALL: %[[ROUNDED:.*]] = arith.addi %[[BITS]], %[[HALF]]
// ALL: %[[NAN:.*]] = arith.cmpf uno, %[[SUM]], %[[SUM]]
// ALL: arith.select %[[NAN]], %{{.*}}, %[[ROUNDED]]
// ALL: llvm.store %{{.*}}, %{{.*}} : vector<8xi16>, !llvm.ptr
// ALL-NOT: bf16
func.func @add(%x: !llvm.ptr, %y: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> vector<8xbf16>
  %b = llvm.load %y : !llvm.ptr -> vector<8xbf16>
  %sum = arith.addf %a, %b : vector<8xbf16>
  llvm.store %sum, %x : vector<8xbf16>, !llvm.ptr
  return
}

// F16C converts in one instruction, which LLVM must not take back; without it float16 is taken apart.
// ALL-LABEL: func.func @square
// F16C: %[[X:.*]] = arith.bitcast %{{.*}} : vector<8xi16> to vector<8xf16>
// F16C-NEXT: %[[EXTENDED:.*]] = arith.extf %[[X]] : vector<8xf16> to vector<8xf32>
// F16C-NEXT: %[[WIDE:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[EXTENDED]])
// F16C-NEXT: %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]]
// F16C-NEXT: %[[NARROW:.*]] = arith.truncf %[[SQUARE]] : vector<8xf32> to vector<8xf16>
// F16C-NEXT: arith.bitcast %[[NARROW]] : vector<8xf16> to vector<8xi16>
// PLAIN-NOT: {{[^a-z]f16|extf|truncf}}
// PLAIN: arith.mulf %{{.*}} : vector<8xf32>
// PLAIN-NOT: {{[^a-z]f16|extf|truncf}}
// ALL-LABEL: func.func @move
func.func @square(%x: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> vector<8xf16>
  %b = arith.extf %a : vector<8xf16> to vector<8xf32>
  %c = arith.mulf %b, %b : vector<8xf32>
  %d = arith.truncf %c : vector<8xf32> to vector<8xf16>
  llvm.store %d, %x : vector<8xf16>, !llvm.ptr
  return
}

// What only moves keeps its bits, through loops and choices too.
// ALL: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xi8>)
// ALL-NOT: {{f8|arith.[es]hl|extf}}
// ALL: arith.select %{{.*}} : vector<8xi8>
// ALL: llvm.store %{{.*}} : vector<8xi8>, !llvm.ptr
func.func @move(%x: !llvm.ptr, %y: !llvm.ptr, %c: i1, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = llvm.load %x : !llvm.ptr -> vector<8xf8E5M2>
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %a) -> (vector<8xf8E5M2>) : i64 {
    %w = arith.select %c, %v, %a : vector<8xf8E5M2>
    scf.yield %w : vector<8xf8E5M2>
  }
  llvm.store %r, %y : vector<8xf8E5M2>, !llvm.ptr
  return
}

// Towards zero: one step back where rounding went up. No rounding mode is left.
// ALL-LABEL: func.func @toward_zero
// ALL-NOT: truncf
// ALL: %[[AWAY:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
// ALL: %[[BACK:.*]] = arith.subi %[[NEAREST:.*]], %{{.*}} : i16
// ALL: arith.select %[[AWAY]], %[[BACK]], %[[NEAREST]] : i16
// ALL-NOT: toward_zero
func.func @toward_zero(%x: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> f32
  %b = arith.truncf %a toward_zero : f32 to bf16
  llvm.store %b, %x : bf16, !llvm.ptr
  return
}
