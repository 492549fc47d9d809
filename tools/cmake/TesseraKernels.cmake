# tessera_add_kernels(TARGET SOURCE x.tile TARGETS host sm_90a [KERNEL name] [NAMESPACE ns] [WITH bias...] [DEFINITIONS T=f32...] [OPTIONS ...])
#
# Compiles the kernels and ops of a .tile file when TARGET is built and links them into it: `#include "x.h"` gives a class NAMESPACE::Kernels (default namespace: x)
# with typed functions for each of them.  TARGET links tessera::runtime and needs no LLVM.  Several calls for one TARGET are fine.
#
#   TARGETS      what to compile for, of the list that `tessera doctor` prints
#   KERNEL       one kernel of the file; without it all whose compile-time parameters have values
#   WITH         optional tensors that the functions take; the others are absent
#   DEFINITIONS  values of compile-time parameters
#   OPTIONS      more options of `tessera compile`
function(tessera_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SOURCE;KERNEL;NAMESPACE" "TARGETS;WITH;DEFINITIONS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCE OR NOT ARG_TARGETS)
    message(FATAL_ERROR "tessera_add_kernels(${target}): expected SOURCE x.tile TARGETS host sm_90a ...; found ${ARGN}")
  endif()
  if(TARGET tessera)
    set(compiler tessera) # in Tessera's own build
    set(compiler_command $<TARGET_FILE:tessera>)
  elseif(TESSERA_COMPILER)
    set(compiler ${TESSERA_COMPILER})
    set(compiler_command ${TESSERA_COMPILER})
  else()
    message(FATAL_ERROR "tessera_add_kernels(${target}): the command line `tessera` was not found; set TESSERA_COMPILER to it")
  endif()
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  get_filename_component(stem ${ARG_SOURCE} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}-kernels)
  set(header ${folder}/${stem}.h)
  list(JOIN ARG_TARGETS "," targets)
  set(options --target ${targets})
  if(ARG_KERNEL)
    list(APPEND options -k ${ARG_KERNEL})
  endif()
  if(ARG_NAMESPACE)
    list(APPEND options --namespace ${ARG_NAMESPACE})
  endif()
  foreach(name ${ARG_WITH})
    list(APPEND options --with ${name})
  endforeach()
  foreach(definition ${ARG_DEFINITIONS})
    list(APPEND options -D ${definition})
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${header} ${folder}/${stem}.a
    COMMAND ${compiler_command} compile ${source} ${options} ${ARG_OPTIONS} --emit header -o ${header}
    DEPENDS ${source} ${compiler}
    COMMENT "Compiling the kernels of ${stem}.tile for ${targets}"
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE ${folder}/${stem}.a tessera::runtime) # behind the objects that need it
endfunction()
