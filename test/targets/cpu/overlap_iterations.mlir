// The first half of the next iteration beside the second half of this one.
// RUN: cpu-opt %s --cpu=x86-64-v4 --cpu-overlap-iterations | FileCheck %s
// RUN: cpu-opt %s --cpu=x86-64-v3 --cpu-overlap-iterations | FileCheck %s --check-prefix=FEW

// With fewer registers than what is carried it gains nothing.
// FEW-NOT: iter_args

// CHECK-LABEL: func.func @long_chain
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}}
// CHECK: llvm.load
// CHECK: math.fma
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge
// CHECK-NEXT: scf.if %[[INSIDE]]
// CHECK: math.fma
// CHECK: llvm.store
func.func @long_chain(%in: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  scf.for %i = %zero to %n step %step : i64 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
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
    %v12 = math.fma %v11, %half, %x : vector<16xf32>
    %v13 = math.fma %v12, %half, %x : vector<16xf32>
    %v14 = math.fma %v13, %half, %x : vector<16xf32>
    %v15 = math.fma %v14, %half, %x : vector<16xf32>
    %v16 = math.fma %v15, %half, %x : vector<16xf32>
    %v17 = math.fma %v16, %half, %x : vector<16xf32>
    %v18 = math.fma %v17, %half, %x : vector<16xf32>
    %v19 = math.fma %v18, %half, %x : vector<16xf32>
    %v20 = math.fma %v19, %half, %x : vector<16xf32>
    %v21 = math.fma %v20, %half, %x : vector<16xf32>
    %v22 = math.fma %v21, %half, %x : vector<16xf32>
    %v23 = math.fma %v22, %half, %x : vector<16xf32>
    llvm.store %v23, %to {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  } {cpu.whole_vectors}
  return
}

// The processor looks that far ahead by itself.
// CHECK-LABEL: func.func @short_chain
// CHECK-NOT: iter_args
func.func @short_chain(%in: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  scf.for %i = %zero to %n step %step : i64 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %v0 = math.fma %x, %half, %x : vector<16xf32>
    %v1 = math.fma %v0, %half, %x : vector<16xf32>
    %v2 = math.fma %v1, %half, %x : vector<16xf32>
    llvm.store %v2, %to {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  } {cpu.whole_vectors}
  return
}

// Nobody says that the loop is a main part.
// CHECK-LABEL: func.func @other_loop
// CHECK-NOT: iter_args
func.func @other_loop(%in: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %half = arith.constant dense<0.5> : vector<16xf32>
  scf.for %i = %zero to %n step %step : i64 {
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
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
    %v12 = math.fma %v11, %half, %x : vector<16xf32>
    %v13 = math.fma %v12, %half, %x : vector<16xf32>
    %v14 = math.fma %v13, %half, %x : vector<16xf32>
    %v15 = math.fma %v14, %half, %x : vector<16xf32>
    %v16 = math.fma %v15, %half, %x : vector<16xf32>
    %v17 = math.fma %v16, %half, %x : vector<16xf32>
    %v18 = math.fma %v17, %half, %x : vector<16xf32>
    %v19 = math.fma %v18, %half, %x : vector<16xf32>
    %v20 = math.fma %v19, %half, %x : vector<16xf32>
    %v21 = math.fma %v20, %half, %x : vector<16xf32>
    %v22 = math.fma %v21, %half, %x : vector<16xf32>
    %v23 = math.fma %v22, %half, %x : vector<16xf32>
    llvm.store %v23, %to {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  }
  return
}
