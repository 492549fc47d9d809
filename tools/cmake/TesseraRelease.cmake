# What leaves the build: one compressed file for a GPU machine without a toolchain, and the release archive.
#
#   gpu-bundle   BUILD/tessera-gpu.tar.xz (40 MB or less): tessera with LLVM inside, device tests, examples, benchmarks and `run`
#   release      BUILD/tessera-VERSION-PROCESSOR-linux.tar.xz: tessera and libtessera.so with LLVM inside, public headers, examples, documentation;
#                beside it .sha256 and .contents
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

# The JIT as one library.  LLVM inside is hidden by the linker script, so that the distribution's may be in the same process.
# Everything else is compiled hidden; the files that define the public classes are compiled once more, so that they can be seen.
add_library(tessera_shared SHARED runtime/Api/Program.cpp runtime/Launch/Device.cpp runtime/Launch/Embedded.cpp runtime/Launch/TensorRef.cpp)
set_target_properties(tessera_shared PROPERTIES OUTPUT_NAME tessera LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
                      LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/libtessera.map)
target_compile_options(tessera_shared PRIVATE -fvisibility=default)
target_include_directories(tessera_shared PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(tessera_shared PRIVATE tessera_jit tessera_llvm_static)
target_link_options(tessera_shared PRIVATE -s -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/libtessera.map -Wl,-Bsymbolic)

string(TOLOWER "${CMAKE_HOST_SYSTEM_PROCESSOR}" processor)
set(release ${CMAKE_BINARY_DIR}/tessera-${PROJECT_VERSION}-${processor}-linux.tar.xz)
set(headers runtime/Api/tessera.hpp=include/tessera/tessera.hpp runtime/Api/embedded.hpp=include/tessera/embedded.hpp)
file(GLOB public_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/Support/*.h
     ${PROJECT_SOURCE_DIR}/runtime/Image/*.h ${PROJECT_SOURCE_DIR}/runtime/Launch/*.h)
foreach(header ${public_headers})
  list(APPEND headers ${header}=include/tessera/${header})
endforeach()
add_custom_target(release
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/scripts/make_archive.py --output ${release}
          $<TARGET_FILE:tessera-static>=bin/tessera $<TARGET_FILE:tessera_shared>=lib/libtessera.so ${headers}
          README.md=README.md CHANGELOG.md=CHANGELOG.md LICENSE=LICENSE docs=docs examples=examples
  DEPENDS tessera-static tessera_shared
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Packing the release"
  VERBATIM)
