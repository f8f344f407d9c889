# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies, and the target nereid_installed, which builds all of it and nothing
# else. The folders under share/nereid lie beside each other as in the source tree, so that the
# paths in them hold in both.
include(GNUInstallDirs)
set(installed nereid nereid_shared nereid_aot nereid-runner)
if(TARGET nereid_aot_shared)
  list(APPEND installed nereid_aot_shared)
endif()
add_custom_target(nereid_installed DEPENDS ${installed})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/nereid)
list(REMOVE_ITEM installed nereid-runner)
install(TARGETS ${installed} EXPORT nereidTargets)
install(TARGETS nereid-runner)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nereid DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/kernels
        ${PROJECT_SOURCE_DIR}/operators ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/chips
        ${PROJECT_SOURCE_DIR}/runtime # with what follows: to build it for another processor
        DESTINATION ${CMAKE_INSTALL_DATADIR}/nereid PATTERN "__pycache__" EXCLUDE)
foreach(folder include/nereid cmake/toolchains tools/runner)
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/nereid/${parent})
endforeach()
file(GLOB files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/lib/targets/*/aot/* ${PROJECT_SOURCE_DIR}/lib/targets/*/driver/*.h
     ${PROJECT_SOURCE_DIR}/lib/targets/*/driver/*.def)
foreach(file ${files})
  get_filename_component(parent ${file} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/nereid/${parent})
endforeach()
install(EXPORT nereidTargets FILE nereidTargets.cmake NAMESPACE nereid:: DESTINATION ${package})
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nereidConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/nereidConfig.cmake
        ${PROJECT_SOURCE_DIR}/cmake/NereidAddKernel.cmake
        ${PROJECT_BINARY_DIR}/nereidConfigVersion.cmake DESTINATION ${package})
