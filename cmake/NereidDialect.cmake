# nereid_dialect(NAME DIALECT KIND...): what mlir-tblgen writes of NAMEOps.td of the calling folder
# for the dialect DIALECT: its operations, the dialect itself, and the kinds types, attributes and
# enums that are named. The target NereidNAMEIncGen makes them.
function(nereid_dialect NAME DIALECT)
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  set(LLVM_TARGET_DEFINITIONS ${NAME}Ops.td)
  set(Ops op)
  set(Dialect dialect)
  set(Types typedef)
  set(Attributes attrdef)
  set(Enums enum)
  set(only_Dialect -dialect=${DIALECT})
  set(only_Types -typedefs-dialect=${DIALECT})
  set(only_Attributes -attrdefs-dialect=${DIALECT})
  foreach(KIND Ops Dialect ${ARGN})
    foreach(PART decls defs)
      string(REPLACE defs cpp SUFFIX ${PART})
      string(REPLACE decls h SUFFIX ${SUFFIX})
      mlir_tablegen(${NAME}${KIND}.${SUFFIX}.inc -gen-${${KIND}}-${PART} ${only_${KIND}}
        -I ${PROJECT_SOURCE_DIR})
    endforeach()
  endforeach()
  add_public_tablegen_target(Nereid${NAME}IncGen)
endfunction()
