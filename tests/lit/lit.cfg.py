"""Configuration of the lit ring: IR tests (*.mlir) and programs whose text or PTX is checked (*.tile), under tests/.

Tools come from build/bin and from the bin folder of LLVM.  Features: `ptxas` (an assembler was found), `gpu` (a CUDA driver with a device).
"""
import os
import shutil

import lit.formats

config.name = "Tessera"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile"]
config.excludes = ["Inputs", "acceptance", "device", "examples", "lit", "unit"]
config.test_source_root = os.path.join(config.tessera_source, "tests")
config.test_exec_root = os.path.join(config.tessera_build, "tests", "lit")
config.environment["PATH"] = os.pathsep.join([os.path.join(config.tessera_build, "bin"), config.llvm_bin, os.environ.get("PATH", "")])
# The texts of tests must not depend on the terminal of whoever runs them.
config.environment.pop("CLICOLOR_FORCE", None)
config.environment["NO_COLOR"] = "1"

config.substitutions.append(("%examples", os.path.join(config.tessera_source, "examples")))

ptxas = config.ptxas or shutil.which("ptxas")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")
