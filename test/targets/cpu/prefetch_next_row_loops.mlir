// Loops in texts written by hand, which need not be what the lowering writes.
// RUN: cpu-opt %s --cpu=x86-64-v4 --split-input-file --cpu-prefetch-next-row | FileCheck %s

// A row of bytes in blocks, in a text written by hand: the next row's are read beside the second loop.
// CHECK-LABEL: func.func @bytes
// CHECK: llvm.intr.prefetch
func.func @bytes(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %lanes = arith.constant 16 : i64
  %block = arith.constant 64 : i64
  %rows = llvm.load %id : !llvm.ptr -> i64
  %length = llvm.load %count : !llvm.ptr -> i64
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  scf.for %row = %zero to %rows step %one : i64 {
    %start = arith.muli %row, %length : i64
    %from = llvm.getelementptr %x[%start] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    scf.for %b = %zero to %length step %block : i64 {
      %part = llvm.getelementptr %from[%b] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      scf.for %i = %zero to %block step %lanes : i64 {
        %a = llvm.getelementptr %part[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v = llvm.load %a {alignment = 1 : i64} : !llvm.ptr -> vector<16xi8>
        %s = llvm.getelementptr %scratch[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        llvm.store %v, %s {alignment = 1 : i64} : vector<16xi8>, !llvm.ptr
      }
    }
    scf.for %b = %zero to %length step %block : i64 {
      scf.for %i = %zero to %block step %lanes : i64 {
        %s = llvm.getelementptr %scratch[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v = llvm.load %s {alignment = 1 : i64} : !llvm.ptr -> vector<16xi8>
        llvm.store %v, %s {alignment = 1 : i64} : vector<16xi8>, !llvm.ptr
      }
    }
  }
  return
}

// -----

// Elements of less than a byte have no address of their own and are left alone.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: prefetch
func.func @bits(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %lanes = arith.constant 16 : i64
  %block = arith.constant 64 : i64
  %rows = llvm.load %id : !llvm.ptr -> i64
  %length = llvm.load %count : !llvm.ptr -> i64
  %x = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  scf.for %row = %zero to %rows step %one : i64 {
    %start = arith.muli %row, %length : i64
    %from = llvm.getelementptr %x[%start] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    scf.for %b = %zero to %length step %block : i64 {
      %part = llvm.getelementptr %from[%b] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      scf.for %i = %zero to %block step %lanes : i64 {
        %a = llvm.getelementptr %part[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v = llvm.load %a {alignment = 1 : i64} : !llvm.ptr -> vector<16xi1>
        %s = llvm.getelementptr %scratch[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        llvm.store %v, %s {alignment = 1 : i64} : vector<16xi1>, !llvm.ptr
      }
    }
    scf.for %b = %zero to %length step %block : i64 {
      scf.for %i = %zero to %block step %lanes : i64 {
        %s = llvm.getelementptr %scratch[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v = llvm.load %s {alignment = 1 : i64} : !llvm.ptr -> vector<16xi1>
        llvm.store %v, %s {alignment = 1 : i64} : vector<16xi1>, !llvm.ptr
      }
    }
  }
  return
}
