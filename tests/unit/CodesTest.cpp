//===- CodesTest.cpp - every code that is reported is explained ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Scans the sources for codes and holds them against the tables behind `tessera explain`.
//
#include "tools/tessera/Codes.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace tessera;

TEST_CASE("codes are unique, sorted and told about") {
  std::set<std::string_view> seen;
  for (const CodeEntry &entry : allCodes()) {
    INFO(entry.code);
    CHECK(seen.insert(entry.code).second);
    CHECK(std::regex_match(std::string(entry.code), std::regex("T[0-9]{4}")));
    CHECK_FALSE(entry.title.empty());
    CHECK_FALSE(entry.explanation.empty());
    CHECK((entry.right.empty() || !entry.wrong.empty()));
    CHECK(findCode(entry.code) == &entry);
  }
  CHECK(findCode("T9999") == nullptr);
  CHECK(findCode("") == nullptr);
}

TEST_CASE("every code in the sources has an entry") {
  int found = 0;
  std::regex pattern("\"(T0[0-9]{3})(\"|: )"); // alone, or before the message in a pass
  for (const char *folder : {"compiler", "runtime", "tools"}) {
    for (const auto &file :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TESSERA_SOURCE_DIR) / folder)) {
      if (file.path().extension() != ".cpp")
        continue;
      std::ifstream stream(file.path());
      std::stringstream text;
      text << stream.rdbuf();
      std::string source = text.str();
      for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end; ++match) {
        ++found;
        INFO(file.path() << " reports " << (*match)[1]);
        CHECK(findCode((*match)[1].str()) != nullptr);
      }
    }
  }
  CHECK(found > 100);
}
