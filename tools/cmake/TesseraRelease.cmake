# What leaves the build: one compressed file for a GPU machine without a toolchain.
#
#   gpu-bundle   BUILD/tessera-gpu.tar.xz (40 MB or less): tessera with LLVM inside, device tests, examples, benchmarks and `run`
#
# Needs TESSERA_STATIC_CLI (preset `static`).  Programs that a GPU machine should run too are added to the global property TESSERA_BUNDLE_PROGRAMS.
if(NOT TARGET tessera-static)
  return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)

get_property(programs GLOBAL PROPERTY TESSERA_BUNDLE_PROGRAMS)
set(program_parts)
foreach(program ${programs})
  list(APPEND program_parts "$<TARGET_FILE:${program}>=bin/${program}")
endforeach()
add_custom_target(gpu-bundle
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/scripts/make_archive.py --output ${CMAKE_BINARY_DIR}/tessera-gpu.tar.xz --limit-mb 40
          $<TARGET_FILE:tessera-static>=bin/tessera ${program_parts}
          tools/bundle/run=run tools/bundle/README.md=README.md LICENSE=LICENSE docs/THIRD-PARTY-NOTICES.md=THIRD-PARTY-NOTICES.md
          examples=examples tests/device=tests/device tests/acceptance=tests/acceptance
          ?tests/conformance=tests/conformance ?tests/fuzz=tests/fuzz ?tools/bench-device=tools/bench-device
  DEPENDS tessera-static ${programs}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Packing tessera-gpu.tar.xz"
  VERBATIM)
