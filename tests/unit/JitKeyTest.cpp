//===- JitKeyTest.cpp - equal keys mean equal images ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every option, every fact of a tensor, the source, the processor and the compiler's build are in the key.
//
#include "runtime/Jit/JitKey.h"
#include "runtime/Jit/CompilerIdentity.h"
#include "runtime/Jit/HostCode.h"

#include <catch2/catch.hpp>

#include <functional>
#include <set>

using namespace tessera;

namespace {

CompileOptions base() {
  CompileOptions options;
  options.target = "host";
  options.kernel = "k";
  options.bindings = {{"T", "f32"}, {"BN", "64"}};
  TensorFacts x;
  x.param = "x";
  x.dtype = DType::F32;
  x.shape = {4, 8};
  x.contract = {16, 1, {8, 64}, {4, 8}};
  options.tensors = {x};
  return options;
}

} // namespace

TEST_CASE("each change of what a compilation depends on changes its key") {
  using Change = std::function<void(CompileOptions &)>;
  const std::vector<Change> changes = {[](auto &) {},
                                       [](auto &o) { o.sourceName = "other.tile"; },
                                       [](auto &o) { o.kernel = "l"; },
                                       [](auto &o) { o.bindings.pop_back(); },
                                       [](auto &o) { o.bindings[1].value = "6"; },
                                       [](auto &o) {
                                         o.bindings = {{"T", "f3"}, {"2BN", "64"}};
                                       }, // the same letters, cut elsewhere
                                       [](auto &o) { o.tensors.clear(); },
                                       [](auto &o) { o.tensors[0].param = "y"; },
                                       [](auto &o) { o.tensors[0].present = false; },
                                       [](auto &o) { o.tensors[0].dtype = DType::F16; },
                                       [](auto &o) { o.tensors[0].dtype = std::nullopt; },
                                       [](auto &o) { o.tensors[0].contract.align = 8; },
                                       [](auto &o) { o.tensors[0].contract.unitDim = 0; },
                                       [](auto &o) {
                                         o.tensors[0].contract.strideDiv = {8, 6};
                                       },
                                       [](auto &o) { o.tensors[0].contract.extentDiv = {4}; },
                                       [](auto &o) { o.alignedTensors = true; },
                                       [](auto &o) { o.target = "sm_90a"; },
                                       [](auto &o) { o.emit = Emit::Ptx; },
                                       [](auto &o) { o.lineInfo = false; },
                                       [](auto &o) { o.warps = 4; },
                                       [](auto &o) { o.stages = 4; },
                                       [](auto &o) { o.optimization = 0; },
                                       [](auto &o) { o.importPaths = {"a"}; },
                                       [](auto &o) { o.printAfter = "all"; },
                                       [](auto &o) { o.verifyEach = true; },
                                       [](auto &o) { o.warningsAsErrors = true; },
                                       [](auto &o) { o.entryPrefix = "p"; }};
  std::set<std::string> inMemory, onDisk;
  for (const Change &change : changes) {
    CompileOptions options = base();
    change(options);
    inMemory.insert(keyOfOptions(options));
    onDisk.insert(keyOfCompilation("source", options, "processor"));
  }
  CHECK(inMemory.size() == changes.size());
  CHECK(onDisk.size() == changes.size());
  CHECK_FALSE(onDisk.contains(""));
}

TEST_CASE("extents, the source and the processor count where images outlive the process") {
  CompileOptions options = base(), other = base();
  other.tensors[0].shape = {48};
  CHECK(keyOfOptions(options) == keyOfOptions(other));
  std::string key = keyOfCompilation("source", options, "processor");
  CHECK(key == keyOfCompilation("source", base(), "processor"));
  CHECK(key != keyOfCompilation("source", other, "processor"));
  CHECK(key != keyOfCompilation("source ", options, "processor"));
  CHECK(key != keyOfCompilation("source", options, "another"));
  CHECK(key != keyOfCompilation("source", options, "processor", "release 13.0"));
  CHECK(keyOfCompilation("import \"a.tile\"", options, "processor").empty());
  options.target = "sm_90a"; // no processor has a say in this
  CHECK(keyOfCompilation("source", options, "processor") == keyOfCompilation("source", options, "another"));
}

TEST_CASE("the compiler knows its build, and the processor its name") {
  std::string identity = compilerIdentity();
  INFO(identity);
  CHECK(identity == compilerIdentity());
  CHECK(identity.find("LLVM 22") != std::string::npos);
  CHECK(identity.size() > identity.rfind(", ") + 40); // at least one build id
  CHECK(hostProcessor() == hostProcessor());
  CHECK(hostProcessor().find('+') != std::string::npos);
}
