# Finds LLVM/MLIR 22, fmt and ccache, and sets the flags that every target shares.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Tessera needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; set MLIR_DIR and LLVM_DIR")
endif()
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(TESSERA_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # A precompiled header is reproducible for ccache only without its time stamp and with these three relaxations.
  set(TESSERA_CCACHE ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TESSERA_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-comment -ffunction-sections -fdata-sections -fvisibility=hidden
                    -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Xclang -fno-pch-timestamp -Wno-deprecated-declarations)
endif()
find_program(LLD_PROGRAM NAMES ld.lld-22 ld.lld HINTS ${TESSERA_LLVM_BIN})
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=${LLD_PROGRAM})
endif()
if(TESSERA_CHECKS)
  add_compile_definitions(TESSERA_CHECKS=1)
endif()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# The one place that decides how executables meet LLVM: `tessera_llvm` is the pair of shared libraries of the distribution,
# `tessera_llvm_static` the archives (for the release form: one file that a user copies to a GPU machine).  No Tessera library
# links either; executables do, so that objects are compiled once and linked both ways.
add_library(tessera_llvm INTERFACE)
target_link_libraries(tessera_llvm INTERFACE MLIR LLVM)

# The archives, by path: the imported MLIR targets would drag the shared library in beside them, and two copies of LLVM in one process abort.
add_library(tessera_llvm_static INTERFACE)
if(TESSERA_STATIC_CLI)
  # fmt too: a machine that the file is copied to has no libfmt.so, and that one would bring libstdc++.so with it.  Distributions that
  # ship no libfmt.a have its sources in the headers.
  get_target_property(tessera_fmt_type fmt::fmt TYPE)
  if(tessera_fmt_type STREQUAL "SHARED_LIBRARY")
    get_target_property(tessera_fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
    add_library(tessera_fmt STATIC ${PROJECT_SOURCE_DIR}/tools/cmake/fmt_archive.cpp)
    target_include_directories(tessera_fmt SYSTEM PRIVATE ${tessera_fmt_include})
    foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_NONE IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION_RELWITHDEBINFO)
      set_target_properties(fmt::fmt PROPERTIES ${property} ${CMAKE_BINARY_DIR}/libtessera_fmt.a)
    endforeach()
    add_dependencies(fmt::fmt tessera_fmt)
  endif()
  file(GLOB tessera_mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
  list(FILTER tessera_mlir_archives EXCLUDE REGEX "libMLIR(CAPI|Test|ExecutionEngine|.*Runtime|MlirOpt|Lsp|Pdll)")
  file(GLOB tessera_llvm_archives ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  target_link_libraries(tessera_llvm_static INTERFACE -Wl,--start-group ${tessera_mlir_archives} ${tessera_llvm_archives} -Wl,--end-group
                        -Wl,--gc-sections -static-libstdc++ -static-libgcc z zstd dl pthread m)
endif()
