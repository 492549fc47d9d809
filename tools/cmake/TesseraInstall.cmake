# Installation and the package `find_package(Tessera)`.
#
# Two targets: tessera::runtime runs ready images and needs neither LLVM nor the compiler; tessera::tessera compiles too and needs LLVM and MLIR 22.
# In the build tree the public header is reached by the same line as after installation: #include <tessera/tessera.hpp>.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(WRITE ${CMAKE_BINARY_DIR}/include/tessera/tessera.hpp.in "#include \"runtime/Api/tessera.hpp\"\n")
configure_file(${CMAKE_BINARY_DIR}/include/tessera/tessera.hpp.in ${CMAKE_BINARY_DIR}/include/tessera/tessera.hpp COPYONLY)
file(WRITE ${CMAKE_BINARY_DIR}/include/tessera/embedded.hpp.in "#include \"runtime/Api/embedded.hpp\"\n")
configure_file(${CMAKE_BINARY_DIR}/include/tessera/embedded.hpp.in ${CMAKE_BINARY_DIR}/include/tessera/embedded.hpp COPYONLY)
foreach(library tessera_api tessera_launch)
  if(TARGET ${library})
    target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endif()
endforeach()

get_property(libraries GLOBAL PROPERTY TESSERA_LIBRARIES)
list(APPEND libraries tessera_support)
install(TARGETS ${libraries} EXPORT TesseraTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT TesseraTargets NAMESPACE tessera:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TesseraConfig.cmake.in ${CMAKE_BINARY_DIR}/TesseraConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/TesseraKernels.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(FILES LICENSE README.md docs/THIRD-PARTY-NOTICES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera PATTERN "__pycache__" EXCLUDE)
