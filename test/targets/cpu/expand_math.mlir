// Functions become polynomials in line; what is an instruction stays. Their errors are tested in
// unittests/target_cpu/codegen/codegen_math_test.cpp.
// RUN: cpu-opt %s --cpu=x86-64-v4 --expand-math | FileCheck %s --check-prefixes=ALL,V4,FMA
// RUN: cpu-opt %s --cpu=x86-64-v3 --expand-math | FileCheck %s --check-prefixes=ALL,V3,FMA
// RUN: cpu-opt %s --cpu=x86-64-v2 --expand-math | FileCheck %s --check-prefixes=ALL,V2

// exp: the polynomial in chains of multiply-adds, then the power of two, by one instruction of
// AVX-512 or by its bits.
// ALL-LABEL: func.func @exp
// ALL-NOT: math.exp
// FMA-COUNT-6: math.fma %{{.*}} : vector<16xf32>
// V4: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// V3-NOT: scalef
// V3: arith.shli %{{.*}} : vector<16xi32>
// V3: arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// V2-NOT: math.fma
// V2: arith.mulf %{{.*}} : vector<16xf32>
// ALL-NOT: math.exp
// ALL: llvm.store
func.func @exp(%x: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> vector<16xf32>
  %b = math.exp %a : vector<16xf32>
  llvm.store %b, %x : vector<16xf32>, !llvm.ptr
  return
}

// The square root of any processor rounds correctly.
// ALL-LABEL: func.func @root
// ALL: llvm.load
// ALL-NEXT: math.sqrt %{{.*}} : f32
// ALL-NEXT: llvm.store
func.func @root(%x: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> f32
  %b = math.sqrt %a : f32
  llvm.store %b, %x : f32, !llvm.ptr
  return
}

// log in float64, special numbers last: zero gives -infinity, a negative number NaN.
// ALL-LABEL: func.func @log
// ALL: %[[X:.*]] = llvm.load
// ALL-NOT: math.log
// ALL: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[X]]
// ALL: %[[LARGE:.*]] = arith.select %[[IS_ZERO]]
// ALL: %[[NEGATIVE:.*]] = arith.cmpf olt, %[[X]]
// ALL: arith.select %[[NEGATIVE]], %{{.*}}, %[[LARGE]]
// ALL-NOT: math.log
func.func @log(%x: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> f64
  %b = math.log %a : f64
  llvm.store %b, %x : f64, !llvm.ptr
  return
}

// A product that is rounded before anything is added to it: without the instruction no other way
// of rounding once is needed.
// ALL-LABEL: func.func @rounded_product
// FMA: math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>
// V2: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<8xf32>
// V2-NEXT: %[[SUM:.*]] = arith.addf %[[PRODUCT]], %{{.*}} : vector<8xf32>
// V2-NEXT: llvm.store %[[SUM]]
func.func @rounded_product(%x: !llvm.ptr) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %a = llvm.load %x : !llvm.ptr -> vector<8xf32>
  %b = math.fma %a, %a, %zero : vector<8xf32>
  llvm.store %b, %x : vector<8xf32>, !llvm.ptr
  return
}
