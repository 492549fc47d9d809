//===- CatchMain.cpp - the main function of every unit test ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
