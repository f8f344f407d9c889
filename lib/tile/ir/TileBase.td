// SPDX-License-Identifier: Apache-2.0
// The `tile` dialect: what one program instance of a kernel does to tiles. Values are builtin
// scalars and statically shaped tensors; elementwise arithmetic is `arith` and `math`, control flow
// is `scf`, functions are `func`. Their attributes `tile.…` are listed in Attributes.h and Promises.h.

#ifndef NEREID_TILE_BASE
#define NEREID_TILE_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::nereid::tile";
  let summary = "operations of one program instance on tiles";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "address of an element in global memory";
  let description = [{
    `!tile.ptr<f32>` points to one element; arithmetic counts in elements. `i1` occupies one byte.
  }];
  let parameters = (ins "::mlir::Type":$pointee);
  let assemblyFormat = "`<` $pointee `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee);
  }]>];
}

def Tile_DescriptorType : Tile_Type<"Descriptor", "descriptor"> {
  let summary = "an array in global memory with sizes and strides, accessed in blocks";
  let description = [{
    `!tile.descriptor<128x64xf16>` is accessed in blocks of 128 x 64 elements. What of a block lies
    outside of the array reads as the padding and is never written.
    **Preconditions** descriptor_c1: at least one dimension, each of a positive size;
    descriptor_c2: elements are numbers: i1, i8, i16, i32, i64 and the floats of tile_c2.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tile that one access reads or writes.
    ::mlir::RankedTensorType getBlockType() const {
      return ::mlir::RankedTensorType::get(getShape(), getElement());
    }
  }];
}

def Tile_Padding : I32EnumAttr<"Padding", "what is read outside of an array", [
  I32EnumAttrCase<"Zero", 0, "zero">,
  I32EnumAttrCase<"NaN", 1, "nan">
]> { let cppNamespace = "::nereid::tile"; }

def Tile_CacheModifier : I32EnumAttr<"CacheModifier", "cache policy of one access", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"CA", 1, "ca">,   // keep at all levels
  I32EnumAttrCase<"CG", 2, "cg">,   // keep at the shared level only
  I32EnumAttrCase<"CS", 3, "cs">,   // streaming: used once
  I32EnumAttrCase<"WB", 4, "wb">,   // write back
  I32EnumAttrCase<"WT", 5, "wt">,   // write through
  I32EnumAttrCase<"CV", 6, "cv">    // do not cache
]> { let cppNamespace = "::nereid::tile"; }

def Tile_EvictionPolicy : I32EnumAttr<"EvictionPolicy", "how long a line is wanted", [
  I32EnumAttrCase<"Normal", 0, "normal">,
  I32EnumAttrCase<"First", 1, "evict_first">,
  I32EnumAttrCase<"Last", 2, "evict_last">
]> { let cppNamespace = "::nereid::tile"; }

def Tile_InputPrecision : I32EnumAttr<"InputPrecision", "how float32 operands of a dot are read", [
  I32EnumAttrCase<"IEEE", 0, "ieee">,
  I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">
]> { let cppNamespace = "::nereid::tile"; }

def Tile_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic operation does to memory", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"FAdd", 1, "fadd">,
  I32EnumAttrCase<"And", 2, "and">,
  I32EnumAttrCase<"Or", 3, "or">,
  I32EnumAttrCase<"Xor", 4, "xor">,
  I32EnumAttrCase<"Max", 5, "max">,    // signed
  I32EnumAttrCase<"Min", 6, "min">,    // signed
  I32EnumAttrCase<"UMax", 7, "umax">,
  I32EnumAttrCase<"UMin", 8, "umin">,
  I32EnumAttrCase<"FMax", 9, "fmax">,  // the number wins over a NaN
  I32EnumAttrCase<"FMin", 10, "fmin">,
  I32EnumAttrCase<"Exchange", 11, "xchg">
]> { let cppNamespace = "::nereid::tile"; }

def Tile_MemorySemantics : I32EnumAttr<"MemorySemantics", "how an atomic orders other accesses", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcquireRelease", 3, "acq_rel">
]> { let cppNamespace = "::nereid::tile"; }

def Tile_MemoryScope : I32EnumAttr<"MemoryScope", "who sees an atomic's order", [
  I32EnumAttrCase<"CTA", 0, "cta">,   // this program instance
  I32EnumAttrCase<"GPU", 1, "gpu">,   // the launch
  I32EnumAttrCase<"System", 2, "sys">
]> { let cppNamespace = "::nereid::tile"; }

#endif
