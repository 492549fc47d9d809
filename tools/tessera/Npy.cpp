//===- Npy.cpp - the exchange format of the command line ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A file is the magic, a version, the length of a header, the header (a Python dictionary literal with the keys 'descr', 'fortran_order'
// and 'shape'), and the elements.
//
#include "tools/tessera/Npy.h"

#include <fmt/format.h>

#include <cstring>

namespace tessera {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxRank = 32;

Error malformed(std::string what) {
  return Error{Fault::Program, "not a readable .npy file: " + std::move(what), "write it with numpy.save", "T0641"};
}

struct Header {
  std::string descr;
  bool fortran = false, hasDescr = false, hasOrder = false, hasShape = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary literal that numpy writes; no other Python.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  bool parse(Header &header) {
    if (!eat('{'))
      return false;
    while (!eat('}')) {
      std::string key;
      if (!string(key) || !eat(':'))
        return false;
      if (key == "descr")
        header.hasDescr = string(header.descr);
      else if (key == "fortran_order")
        header.hasOrder = boolean(header.fortran);
      else if (key == "shape")
        header.hasShape = tuple(header.shape);
      else
        return false;
      if (!eat(',') && peek() != '}')
        return false;
    }
    return header.hasDescr && header.hasOrder && header.hasShape;
  }

private:
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool eat(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  bool string(std::string &out) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, ++at);
    if (end == std::string_view::npos)
      return false;
    out = std::string(text.substr(at, end - at));
    at = end + 1;
    return true;
  }
  bool boolean(bool &out) {
    peek();
    for (std::string_view word : {"True", "False"}) {
      if (text.substr(at, word.size()) == word) {
        at += word.size();
        out = word == "True";
        return true;
      }
    }
    return false;
  }
  bool tuple(std::vector<int64_t> &out) {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      int64_t value = 0;
      char c = peek();
      if (c < '0' || c > '9' || out.size() == kMaxRank)
        return false;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (__builtin_mul_overflow(value, int64_t(10), &value) ||
            __builtin_add_overflow(value, int64_t(text[at] - '0'), &value))
          return false;
      if (at < text.size() && text[at] == 'L') // Python 2 wrote long integers so
        ++at;
      out.push_back(value);
      if (!eat(',') && peek() != ')')
        return false;
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
};

struct Known {
  const char *descr;
  DType dtype;
};
constexpr Known kKnown[] = {{"|b1", DType::Bool}, {"|i1", DType::I8},  {"<i2", DType::I16}, {"<i4", DType::I32},
                            {"<i8", DType::I64},  {"|u1", DType::U8},  {"<u2", DType::U16}, {"<u4", DType::U32},
                            {"<u8", DType::U64},  {"<f2", DType::F16}, {"<f4", DType::F32}, {"<f8", DType::F64}};

Result<DType> elementType(const std::string &descr, std::optional<DType> as) {
  std::optional<DType> found;
  int size = 0;
  for (const Known &known : kKnown) {
    // One-byte types have no byte order; numpy reads and some writers write any mark for them.
    if (descr == known.descr || (known.descr[0] == '|' && descr.size() == 3 && descr.substr(1) == known.descr + 1)) {
      found = known.dtype;
      size = sizeOf(known.dtype);
    }
  }
  for (const char *opaque : {"|V1", "|V2", "<V1", "<V2"})
    if (descr == opaque)
      size = opaque[2] - '0';
  if (size == 0) {
    if (!descr.empty() && descr[0] == '>')
      return malformed(fmt::format("elements '{}' are big endian", descr));
    return malformed(fmt::format("element type '{}' is none of the language's", descr));
  }
  if (as && sizeOf(*as) != size)
    return Error{Fault::Program,
                 fmt::format("elements '{}' of {} bytes cannot be read as {}", descr, size, nameOf(*as)),
                 "name a type of the same size", "T0641"};
  // A named type reinterprets raw views only; silently reading floats as other floats would be a trap.
  bool raw = !found || isUnsignedInteger(*found);
  if (as && found && *as != *found && !raw)
    return Error{Fault::Program, fmt::format("elements are {}, expected {}", nameOf(*found), nameOf(*as)),
                 "convert the file", "T0641"};
  if (as)
    return *as;
  if (!found)
    return Error{Fault::Program, fmt::format("elements '{}' have no type of their own", descr),
                 "say what they are: FILE.npy:bf16", "T0641"};
  return *found;
}

/// Copies column-major `source` into row-major `array`.
void transposeInto(const Array &array, const char *source) {
  size_t size = static_cast<size_t>(sizeOf(array.dtype)), rank = array.shape.size();
  std::vector<int64_t> index(rank, 0), stride(rank, 1);
  for (size_t d = 1; d < rank; ++d)
    stride[d] = stride[d - 1] * array.shape[d - 1];
  int64_t count = array.elements(), from = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(array.data() + static_cast<size_t>(i) * size, source + static_cast<size_t>(from) * size, size);
    for (size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < array.shape[d])
        break;
      from -= stride[d] * array.shape[d];
      index[d] = 0;
    }
  }
}

} // namespace

Result<Array> parseNpy(std::string_view bytes, std::optional<DType> as) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 10)
    return malformed("it does not begin with the mark of one");
  int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return malformed(fmt::format("version {} is none of 1, 2, 3", version));
  size_t lengthBytes = version == 1 ? 2 : 4, length = 0;
  if (bytes.size() < 8 + lengthBytes)
    return malformed("it ends inside its header");
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  if (length > bytes.size() - 8 - lengthBytes)
    return malformed("it ends inside its header");
  Header header;
  if (!HeaderParser(bytes.substr(8 + lengthBytes, length)).parse(header))
    return malformed("its header does not parse");
  Result<DType> dtype = elementType(header.descr, as);
  if (!dtype)
    return dtype.error();
  std::string_view elements = bytes.substr(8 + lengthBytes + length);
  // Compared before anything is allocated: a header may promise more than there is.
  __int128 expected = sizeOf(*dtype);
  for (int64_t extent : header.shape)
    expected = extent != 0 && expected > (__int128(1) << 64) ? expected : expected * extent;
  if (expected != __int128(elements.size()))
    return malformed(fmt::format("it holds {} bytes of elements, not what its shape says", elements.size()));
  Result<Array> array = Array::allocate(*dtype, header.shape);
  if (!array)
    return array;
  if (array->elements() > 0) {
    if (header.fortran && header.shape.size() > 1)
      transposeInto(*array, elements.data());
    else
      std::memcpy(array->data(), elements.data(), elements.size());
  }
  return array;
}

std::string formatNpy(const Array &array) {
  std::string descr;
  for (const Known &known : kKnown)
    if (known.dtype == array.dtype)
      descr = known.descr;
  if (descr.empty())
    descr = sizeOf(array.dtype) == 2 ? "<u2" : "|u1";
  std::string shape;
  for (int64_t extent : array.shape)
    shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (array.shape.size() == 1)
    shape.pop_back(); // "(3,)"
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // Magic, version, length and header together are a multiple of 64 bytes.
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string file(kMagic);
  file += '\1';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char *>(array.data()), array.bytes());
  return file;
}

} // namespace tessera
