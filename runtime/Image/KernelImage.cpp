//===- KernelImage.cpp - the file format of a kernel image ---------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A file is a header of 32 bytes and a payload, all little endian:
//
//     0  magic "\x7fTESSERA"     8  version u32     12  zero u32     16  payload size u64     24  FNV-1a (64 bits) of the payload
//
// The payload is written and read field by field: integers as 8 bytes, strings as length and bytes, expressions as their text.  The
// checksum finds damage; the reader does not rely on it: every read is bounded, every enumeration and every count is checked.
// The format is the same on every host; a change of fields is a change of version, an extension of a kernel is not.
//
#include "runtime/Image/KernelImage.h"

#include <fmt/format.h>

namespace tessera {
namespace {

constexpr std::string_view kMagic("\x7f"
                                  "TESSERA",
                                  8);
constexpr uint32_t kVersion = 3;
constexpr size_t kHeaderBytes = 32;
constexpr uint64_t kMaxRank = 64;

uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (char byte : bytes)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  return hash;
}

void putInteger(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t getInteger(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

/// Appends fields to the payload.
struct Writer {
  std::string out;

  void put(uint64_t value) { putInteger(out, value, 8); }
  void put(std::string_view text) {
    put(uint64_t(text.size()));
    out.append(text);
  }
  void put(const Expr &expr) { put(std::string_view(expr.print())); }
  template <typename T>
  void putList(const std::vector<T> &list) {
    put(uint64_t(list.size()));
    for (const T &item : list) {
      if constexpr (std::is_integral_v<T>)
        put(static_cast<uint64_t>(item));
      else if constexpr (std::is_same_v<T, std::string>)
        put(std::string_view(item));
      else
        put(item);
    }
  }
  void put(const ParamInfo &param) {
    put(std::string_view(param.name));
    put(uint64_t(param.isTensor) | uint64_t(param.present) << 1 | uint64_t(param.clearFirst) << 2);
    put(static_cast<uint64_t>(param.dtype));
    put(static_cast<uint64_t>(param.mode));
    putList(param.extents);
    put(static_cast<uint64_t>(param.contract.align));
    put(static_cast<uint64_t>(param.contract.unitDim));
    putList(param.contract.strideDiv);
    putList(param.contract.extentDiv);
  }
  void put(const GridAxis &axis) {
    put(std::string_view(axis.name));
    put(axis.lo);
    put(axis.hi);
    put(axis.step);
  }
  void put(const Requirement &requirement) {
    put(requirement.condition);
    put(std::string_view(requirement.text));
    put(static_cast<uint64_t>(requirement.line));
    put(static_cast<uint64_t>(requirement.column));
  }
  void put(const Assertion &assertion) {
    put(std::string_view(assertion.text));
    put(std::string_view(assertion.file));
    put(static_cast<uint64_t>(assertion.line));
    put(static_cast<uint64_t>(assertion.column));
  }
  void put(const KernelInfo &kernel) {
    put(std::string_view(kernel.name));
    put(std::string_view(kernel.entry));
    putList(kernel.params);
    putList(kernel.dims);
    putList(kernel.grid);
    putList(kernel.requirements);
    putList(kernel.assertions);
    put(static_cast<uint64_t>(kernel.threads));
    put(static_cast<uint64_t>(kernel.sharedBytes));
    put(static_cast<uint64_t>(kernel.scratchBytes));
    put(uint64_t(kernel.stepOnly));
    putList(kernel.extensions);
  }
  void put(const Extension &extension) {
    put(std::string_view(extension.tag));
    put(uint64_t(extension.required));
    put(std::string_view(extension.bytes));
  }
  void put(const TempInfo &temp) {
    put(std::string_view(temp.name));
    put(static_cast<uint64_t>(temp.dtype));
    putList(temp.extents);
    put(static_cast<uint64_t>(temp.firstStep));
    put(static_cast<uint64_t>(temp.lastStep));
  }
  void put(const StepArgument &argument) {
    put(static_cast<uint64_t>(argument.kind));
    put(static_cast<uint64_t>(argument.index));
    put(argument.value);
  }
  void put(const OpStep &step) {
    put(static_cast<uint64_t>(step.kind));
    put(static_cast<uint64_t>(step.kernel));
    putList(step.arguments);
    put(step.pattern);
    put(static_cast<uint64_t>(step.line));
    put(static_cast<uint64_t>(step.column));
  }
  void put(const OpInfo &op) {
    put(op.signature);
    putList(op.temps);
    putList(op.steps);
  }
};

/// Reads fields; after the first failure every read gives nothing and `failed` stays set.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}
  bool failed = false;

  bool atEnd() const { return rest.empty(); }

  uint64_t integer(uint64_t limit = UINT64_MAX) {
    if (rest.size() < 8)
      return fail();
    uint64_t value = getInteger(rest.substr(0, 8));
    rest.remove_prefix(8);
    return value <= limit ? value : fail();
  }
  void get(int64_t &value) { value = static_cast<int64_t>(integer()); }
  /// A number that is negative or above `limit` is damage.
  template <typename T>
  void getBounded(T &value, uint64_t limit) {
    value = static_cast<T>(integer(limit));
  }
  void get(std::string &text) {
    uint64_t size = integer(rest.size());
    if (failed || size > rest.size()) {
      fail();
      return;
    }
    text = std::string(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  void get(Expr &expr) {
    std::string text;
    get(text);
    Result<Expr> parsed = failed ? Result<Expr>(Error{}) : Expr::parse(text);
    if (parsed)
      expr = *std::move(parsed);
    else
      fail();
  }
  /// An item takes at least 8 bytes, so a count above rest / 8 is damage: no allocation exceeds the file by more than a factor.
  template <typename T>
  void getList(std::vector<T> &list) {
    uint64_t count = integer(rest.size() / 8);
    for (uint64_t i = 0; i < count && !failed; ++i) {
      list.emplace_back();
      get(list.back());
    }
  }
  void get(ParamInfo &param) {
    get(param.name);
    uint64_t flags = integer(7);
    param.isTensor = flags & 1;
    param.present = flags & 2;
    param.clearFirst = flags & 4;
    getBounded(param.dtype, static_cast<uint64_t>(DType::F8E5M2));
    getBounded(param.mode, static_cast<uint64_t>(ParamMode::Accum));
    getList(param.extents);
    get(param.contract.align);
    get(param.contract.unitDim);
    getList(param.contract.strideDiv);
    getList(param.contract.extentDiv);
    size_t rank = param.extents.size();
    if (rank > kMaxRank || param.contract.strideDiv.size() > rank || param.contract.extentDiv.size() > rank ||
        param.contract.unitDim < -1 || param.contract.unitDim >= static_cast<int64_t>(rank) || param.contract.align < 1)
      fail();
    for (const std::vector<int64_t> *divisors : {&param.contract.strideDiv, &param.contract.extentDiv})
      for (int64_t divisor : *divisors)
        if (divisor < 1)
          fail();
  }
  void get(GridAxis &axis) {
    get(axis.name);
    get(axis.lo);
    get(axis.hi);
    get(axis.step);
  }
  void get(Requirement &requirement) {
    get(requirement.condition);
    get(requirement.text);
    getBounded(requirement.line, INT32_MAX);
    getBounded(requirement.column, INT32_MAX);
  }
  void get(Assertion &assertion) {
    get(assertion.text);
    get(assertion.file);
    getBounded(assertion.line, INT32_MAX);
    getBounded(assertion.column, INT32_MAX);
  }
  void get(KernelInfo &kernel) {
    get(kernel.name);
    get(kernel.entry);
    getList(kernel.params);
    getList(kernel.dims);
    getList(kernel.grid);
    getList(kernel.requirements);
    getList(kernel.assertions);
    getBounded(kernel.threads, 1024);
    getBounded(kernel.sharedBytes, INT32_MAX);
    getBounded(kernel.scratchBytes, INT64_MAX);
    getBounded(kernel.stepOnly, 1);
    getList(kernel.extensions);
  }
  void get(Extension &extension) {
    get(extension.tag);
    getBounded(extension.required, 1);
    get(extension.bytes);
    if (!failed && extension.required && unknownExtension.empty())
      unknownExtension = extension.tag;
  }
  void get(TempInfo &temp) {
    get(temp.name);
    getBounded(temp.dtype, static_cast<uint64_t>(DType::F8E5M2));
    getList(temp.extents);
    getBounded(temp.firstStep, INT32_MAX);
    getBounded(temp.lastStep, INT32_MAX);
    if (temp.extents.size() > kMaxRank || temp.lastStep < temp.firstStep)
      fail();
  }
  void get(StepArgument &argument) {
    getBounded(argument.kind, static_cast<uint64_t>(StepArgument::Kind::Scalar));
    getBounded(argument.index, INT32_MAX);
    get(argument.value);
  }
  void get(OpStep &step) {
    getBounded(step.kind, static_cast<uint64_t>(OpStep::Kind::Fill));
    getBounded(step.kernel, INT32_MAX);
    getList(step.arguments);
    step.pattern = integer();
    getBounded(step.line, INT32_MAX);
    getBounded(step.column, INT32_MAX);
  }
  void get(OpInfo &op) {
    get(op.signature);
    getList(op.temps);
    getList(op.steps);
  }
  /// A required extension that this version does not know; empty: none.
  std::string unknownExtension;

private:
  uint64_t fail() {
    failed = true;
    return 0;
  }
  std::string_view rest;
};

/// Whether every index of the op leads to something of the right kind.
bool isConsistent(const OpInfo &op, const std::vector<KernelInfo> &kernels) {
  auto isTensor = [&](const StepArgument &argument) {
    if (argument.kind == StepArgument::Kind::Temp)
      return argument.index < static_cast<int>(op.temps.size());
    return argument.kind == StepArgument::Kind::Param &&
           argument.index < static_cast<int>(op.signature.params.size()) &&
           op.signature.params[argument.index].isTensor && op.signature.params[argument.index].present;
  };
  for (const TempInfo &temp : op.temps)
    if (temp.lastStep >= static_cast<int>(op.steps.size()))
      return false;
  for (size_t i = 0; i < op.steps.size(); ++i) {
    const OpStep &step = op.steps[i];
    for (const StepArgument &argument : step.arguments)
      if (argument.kind == StepArgument::Kind::Temp && isTensor(argument))
        if (const TempInfo &temp = op.temps[argument.index];
            static_cast<int>(i) < temp.firstStep || static_cast<int>(i) > temp.lastStep)
          return false;
    if (step.kind == OpStep::Kind::Fill) {
      if (step.arguments.size() != 1 || !isTensor(step.arguments[0]))
        return false;
      continue;
    }
    if (step.kernel >= static_cast<int>(kernels.size()) || step.arguments.size() != kernels[step.kernel].params.size())
      return false;
    for (size_t k = 0; k < step.arguments.size(); ++k) {
      const ParamInfo &param = kernels[step.kernel].params[k];
      const StepArgument &argument = step.arguments[k];
      bool fits = !param.present   ? argument.kind == StepArgument::Kind::Absent
                  : param.isTensor ? isTensor(argument)
                                   : argument.kind == StepArgument::Kind::Scalar;
      if (!fits)
        return false;
    }
  }
  return true;
}

Error damaged(std::string what) { return Error{Fault::Program, std::move(what), "compile the program again", "T0630"}; }

} // namespace

std::string KernelImage::serialize() const {
  Writer writer;
  writer.put(std::string_view(target));
  writer.put(std::string_view(source));
  writer.put(static_cast<uint64_t>(codeKind));
  writer.putList(kernels);
  writer.putList(ops);
  writer.put(std::string_view(code));
  std::string file(kMagic);
  putInteger(file, kVersion, 4);
  putInteger(file, 0, 4);
  putInteger(file, writer.out.size(), 8);
  putInteger(file, checksum(writer.out), 8);
  return file + writer.out;
}

Result<KernelImage> KernelImage::deserialize(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic)
    return damaged("not a kernel image: the file does not begin with the mark of one");
  if (bytes.size() < kHeaderBytes)
    return damaged("the kernel image is cut off inside its header");
  uint64_t version = getInteger(bytes.substr(8, 4));
  if (version != kVersion)
    return Error{Fault::Program, fmt::format("the kernel image has format version {}, expected {}", version, kVersion),
                 "compile the program with this version of tessera", "T0631"};
  std::string_view payload = bytes.substr(kHeaderBytes);
  uint64_t size = getInteger(bytes.substr(16, 8));
  if (size != payload.size())
    return damaged(fmt::format("the kernel image is damaged: {} bytes of content, expected {}", payload.size(), size));
  if (getInteger(bytes.substr(12, 4)) != 0 || getInteger(bytes.substr(24, 8)) != checksum(payload))
    return damaged("the kernel image is damaged: its checksum does not match");
  KernelImage image;
  Reader reader(payload);
  reader.get(image.target);
  reader.get(image.source);
  reader.getBounded(image.codeKind, static_cast<uint64_t>(Code::HostObject));
  reader.getList(image.kernels);
  reader.getList(image.ops);
  reader.get(image.code);
  bool good = !reader.failed && reader.atEnd();
  for (const OpInfo &op : image.ops)
    good = good && isConsistent(op, image.kernels);
  if (!good)
    return damaged("the kernel image is damaged: its content does not parse");
  if (!reader.unknownExtension.empty())
    return Error{Fault::Program,
                 fmt::format("the kernel image needs '{}', which this version of tessera does not have",
                             reader.unknownExtension),
                 "run it with the version of tessera that compiled it, or newer", "T0631"};
  return image;
}

} // namespace tessera
