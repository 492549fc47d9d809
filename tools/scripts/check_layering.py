#!/usr/bin/env python3
"""Who may include whom, who may print: the layers of docs/architecture.md, checked on every source file.

  L1  dialect/ includes only LLVM, MLIR and itself; dialect/Layout no dialect header.
  L2  compiler/ takes from runtime/ only Image and Support, and never includes cuda.h.
  L3  runtime/ outside Jit includes no LLVM or MLIR header and nothing of compiler/ or dialect/.
  L4  runtime/Jit and runtime/Api meet the compiler through compiler/Driver/Compiler.h and compiler/Frontend/Diagnostics.h alone.
  L5  only runtime/Cuda names the driver's entry points or its header.
  L6  only compiler/Pipeline orders passes (addPass); a pass file does not include another pass file's header.
  L7  only tools/ and tests/ print, exit or read the environment.
  L8  includes are written from the root of the repository, and the file exists.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
OURS = ("compiler/", "dialect/", "runtime/", "tools/", "tests/")
FOREIGN = ("mlir/", "llvm/", "mlir-c/", "llvm-c/", "clang/")
GENERATED = (".inc",)
PRINTS = re.compile(r"\b(std::cout|std::cerr|std::clog|printf|puts|fprintf|fmt::print|std::exit|std::abort|std::terminate|abort|_exit|exit|getenv|"
                    r"secure_getenv|setenv|llvm::outs|llvm::errs)\s*[(<]|\b(std::cout|std::cerr|std::clog)\b|\b(llvm::)?(outs|errs)\(\)")
DRIVER_CALL = re.compile(r"\bcu(Init|Ctx|Module|Launch|Mem|Stream|Event|Device|Func|Get|Link|Library|Kernel|Graph|Tensor)[A-Z]\w*\s*\(")


def code_only(text):
    """The text without comments and with empty string literals; line numbers stay."""
    def blank(match):
        return '""' + "\n" * match.group(0).count("\n") if match.group(0)[0] == '"' else "\n" * match.group(0).count("\n")
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.S)


def sources():
    for folder in ("compiler", "dialect", "runtime", "tools"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".cpp", ".inc"):
                yield path.relative_to(ROOT).as_posix(), path.read_text()


def check_include(name, header, found):
    ours, foreign = header.startswith(OURS), header.startswith(FOREIGN)
    if ours and not header.endswith(GENERATED) and not (ROOT / header).exists():
        found("L8", f"includes {header}, which does not exist")
    if name.startswith("dialect/") and ours and not header.startswith("dialect/"):
        found("L1", f"includes {header}")
    if name.startswith("dialect/Layout/") and (re.match(r"dialect/(Tile|TileGPU)/", header) or header.startswith("mlir/Dialect/")):
        found("L1", f"includes {header}: layouts are pure mathematics")
    if name.startswith("compiler/"):
        if header.startswith("runtime/") and not header.startswith(("runtime/Image/", "runtime/Support/")):
            found("L2", f"includes {header}")
        if header.startswith("tools/"):
            found("L2", f"includes {header}")
        if header in ("cuda.h", "cuda_runtime.h"):
            found("L2", f"includes {header}")
    if name.startswith("runtime/"):
        meets_compiler = name.startswith(("runtime/Jit/", "runtime/Api/"))
        if foreign and not name.startswith("runtime/Jit/"):
            found("L3", f"includes {header}")
        if header.startswith(("compiler/", "dialect/")):
            if not meets_compiler:
                found("L3", f"includes {header}")
            elif header not in ("compiler/Driver/Compiler.h", "compiler/Frontend/Diagnostics.h"):
                found("L4", f"includes {header}")
        if header in ("cuda.h", "cuda_runtime.h") and not name.startswith("runtime/Cuda/"):
            found("L5", f"includes {header}")
        if header.startswith("tools/"):
            found("L3", f"includes {header}")


def main():
    findings, files = [], 0
    for name, text in sources():
        files += 1
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            check_include(name, match.group(2), lambda rule, what, line=line: findings.append(f"{name}:{line}: {rule}: {what}"))
        code = code_only(text)
        if not name.startswith("tools/"):
            for match in PRINTS.finditer(code):
                if re.search(r"snprintf", match.group(0)):
                    continue
                findings.append(f"{name}:{code.count(chr(10), 0, match.start()) + 1}: L7: '{match.group(0).strip()}' outside tools/")
            if "addPass(" in code and not name.startswith(("compiler/Pipeline/", "compiler/Driver/")):
                findings.append(f"{name}:{code[:code.index('addPass(')].count(chr(10)) + 1}: L6: passes are ordered in compiler/Pipeline only")
            if not name.startswith("runtime/Cuda/"):
                for match in DRIVER_CALL.finditer(code):
                    findings.append(f"{name}:{code.count(chr(10), 0, match.start()) + 1}: L5: calls the driver outside runtime/Cuda")
    for finding in findings:
        print(finding)
    print(f"layering: {files} files, {len(findings)} findings")
    if files < 20:
        print("too few files: the script looks in the wrong place")
        return 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
