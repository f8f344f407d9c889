# SPDX-License-Identifier: Apache-2.0
# Finds the distribution's LLVM/MLIR 19 and makes it linkable statically. Every packaged MLIR target
# names the shared libLLVM in its link interface; with static LLVM beside it two LLVMs would meet in
# one process, so that entry is removed. zlib and zstd are linked from their archives.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

foreach(target ${MLIR_EXPORTED_TARGETS})
  if(TARGET ${target})
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(REMOVE_ITEM links LLVM)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endif()
endforeach()

get_target_property(links LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER links EXCLUDE REGEX "ZLIB|zstd|z3|Z3")
find_library(NEREID_ZLIB_ARCHIVE libz.a REQUIRED)
find_library(NEREID_ZSTD_ARCHIVE libzstd.a REQUIRED)
list(APPEND links ${NEREID_ZLIB_ARCHIVE} ${NEREID_ZSTD_ARCHIVE})
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")

set(NEREID_MLIR_LIBRARIES
    MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRTransformUtils MLIRDialect MLIRSupport
    MLIRArithDialect MLIRMathDialect MLIRSCFDialect MLIRFuncDialect MLIRControlFlowDialect
    MLIRLLVMDialect MLIRVectorDialect MLIRUBDialect MLIRLinalgDialect MLIRTensorDialect
    MLIRArithToLLVM MLIRControlFlowToLLVM MLIRFuncToLLVM MLIRMathToLLVM MLIRSCFToControlFlow
    MLIRVectorToLLVM MLIRReconcileUnrealizedCasts MLIRArithTransforms
    MLIRTargetLLVMIRExport MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation
    LLVMFrontendOpenMP LLVMX86CodeGen LLVMX86AsmParser LLVMX86Desc LLVMX86Info
    LLVMAArch64CodeGen LLVMAArch64Desc LLVMAArch64Info LLVMRISCVCodeGen LLVMRISCVDesc LLVMRISCVInfo
    LLVMNVPTXCodeGen LLVMNVPTXDesc LLVMNVPTXInfo
    LLVMScalarOpts LLVMInstCombine
    LLVMTransformUtils LLVMAnalysis LLVMIRReader LLVMAsmParser LLVMCore LLVMSupport
    LLVMTargetParser LLVMTarget LLVMMC)

# Applied to our own targets that see LLVM headers; never globally.
add_library(nereid_llvm INTERFACE)
target_include_directories(nereid_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_options(nereid_llvm INTERFACE -fno-rtti -Wno-comment)
add_library(nereid_mlir INTERFACE)
target_include_directories(nereid_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
target_link_libraries(nereid_mlir INTERFACE nereid_llvm)
