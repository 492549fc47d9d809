//===- NpyTest.cpp - .npy files, argument texts, comparisons --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Files are written here byte by byte as NumPy's format document says, not by the code under test.
//
#include "tools/tessera/Npy.h"
#include "tools/tessera/ArgumentSpec.h"
#include "tools/tessera/Compare.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

using namespace tessera;

namespace {

std::string file(int version, const std::string &header, const std::string &elements) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>(header.size() >> (8 * i));
  return text + header + elements;
}

template <typename T>
std::string raw(std::vector<T> values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

std::vector<double> values(const Array &array) {
  std::vector<double> list;
  for (int64_t i = 0; i < array.elements(); ++i)
    list.push_back(static_cast<double>(array.get(i)));
  return list;
}

void refused(const std::string &bytes, const std::string &message, std::optional<DType> as = std::nullopt) {
  Result<Array> array = parseNpy(bytes, as);
  REQUIRE_FALSE(array);
  CHECK(array.error().fault == Fault::Program);
  CHECK(array.error().code == "T0641");
  CHECK(array.error().message == message);
}

const std::string kHeader = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
const std::string kElements = raw<float>({1, 2, 3, 4, 5, 6});

} // namespace

TEST_CASE("versions, orders and element types are read") {
  for (int version : {1, 2, 3}) {
    Result<Array> array = parseNpy(file(version, kHeader, kElements));
    REQUIRE(array);
    CHECK(array->dtype == DType::F32);
    CHECK(array->shape == std::vector<int64_t>{2, 3});
    CHECK(values(*array) == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(reinterpret_cast<uintptr_t>(array->data()) % 64 == 0);
  }
  Result<Array> fortran =
      parseNpy(file(1, "{\"descr\": \"<f4\", \"shape\": (2, 3), \"fortran_order\": True}", kElements));
  REQUIRE(fortran);
  CHECK(values(*fortran) == std::vector<double>{1, 3, 5, 2, 4, 6});
  Result<Array> cube = parseNpy(
      file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2)}", std::string("\0\1\2\3\4\5\6\7", 8)));
  REQUIRE(cube);
  CHECK(values(*cube) == std::vector<double>{0, 4, 2, 6, 1, 5, 3, 7}); // element (i, j, k) is i + 2 j + 4 k
  std::pair<const char *, DType> types[] = {
      {"|b1", DType::Bool}, {"|i1", DType::I8},  {"<i2", DType::I16}, {"<i4", DType::I32}, {"<i8", DType::I64},
      {"|u1", DType::U8},   {"<u2", DType::U16}, {"<u4", DType::U32}, {"<u8", DType::U64}, {"<f2", DType::F16},
      {"<f4", DType::F32},  {"<f8", DType::F64}, {"<i1", DType::I8}};
  for (auto [descr, dtype] : types) {
    std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }";
    Result<Array> array = parseNpy(file(1, header, std::string(2 * sizeOf(dtype), '\0')));
    REQUIRE(array);
    CHECK(array->dtype == dtype);
    CHECK(values(*array) == std::vector<double>{0, 0});
  }
  Result<Array> scalar = parseNpy(file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", raw<double>({2.5})));
  REQUIRE(scalar);
  CHECK(scalar->shape.empty());
  CHECK(values(*scalar) == std::vector<double>{2.5});
  Result<Array> empty = parseNpy(file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 4)}", ""));
  REQUIRE(empty);
  CHECK(empty->elements() == 0);
}

TEST_CASE("raw views are read as the narrow floats they are") {
  std::string two = raw<uint16_t>({0x3f80, 0xc000});
  for (const char *descr : {"<u2", "|V2"}) {
    Result<Array> array = parseNpy(
        file(1, std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,)}", two), DType::BF16);
    REQUIRE(array);
    CHECK(values(*array) == std::vector<double>{1, -2});
  }
  Result<Array> f8 =
      parseNpy(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "\x38"), DType::F8E4M3);
  REQUIRE(f8);
  CHECK(values(*f8) == std::vector<double>{1});
  refused(file(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}", two),
          "elements '|V2' have no type of their own");
  refused(file(1, kHeader, kElements), "elements '<f4' of 4 bytes cannot be read as bf16", DType::BF16);
  refused(file(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", two), "elements are f16, expected bf16",
          DType::BF16);
}

TEST_CASE("malformed files are refused with the reason") {
  refused("hello", "not a readable .npy file: it does not begin with the mark of one");
  refused(file(4, kHeader, kElements), "not a readable .npy file: version 4 is none of 1, 2, 3");
  refused(file(1, kHeader, kElements).substr(0, 30), "not a readable .npy file: it ends inside its header");
  refused(file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}", kElements),
          "not a readable .npy file: elements '>f4' are big endian");
  refused(file(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", kElements),
          "not a readable .npy file: element type '<c8' is none of the language's");
  refused(file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", kElements),
          "not a readable .npy file: its header does not parse");
  refused(file(1, kHeader, kElements + "x"),
          "not a readable .npy file: it holds 25 bytes of elements, not what its shape says");
  refused(file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}", kElements),
          "not a readable .npy file: it holds 24 bytes of elements, not what its shape says");
  refused(file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", kElements),
          "not a readable .npy file: its header does not parse");
}

TEST_CASE("damaged files are never read beyond their end") {
  std::string whole = file(1, kHeader, kElements);
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(parseNpy(std::string_view(whole).substr(0, size)));
  std::mt19937 engine(1);
  int accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string damaged = whole;
    for (int k = 0; k <= round % 3; ++k)
      damaged[engine() % damaged.size()] = static_cast<char>(engine());
    if (Result<Array> array = parseNpy(damaged)) {
      ++accepted;
      REQUIRE(array->bytes() == kElements.size());
    }
  }
  CHECK(accepted > 0);
}

TEST_CASE("what is written is what was there") {
  for (int type = 0; type < 15; ++type) {
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3}, {2, 3}, {0}, {2, 0, 3}, {1, 1, 1, 5}}) {
      Result<Array> array = Array::allocate(static_cast<DType>(type), shape);
      REQUIRE(array);
      for (int64_t i = 0; i < array->elements(); ++i)
        array->set(i, static_cast<long double>(i % 2));
      std::string bytes = formatNpy(*array);
      CHECK((bytes.size() - array->bytes()) % 64 == 0);
      Result<Array> back = parseNpy(bytes, array->dtype);
      REQUIRE(back);
      CHECK(back->shape == shape);
      CHECK(values(*back) == values(*array));
    }
  }
  Result<Array> array = Array::allocate(DType::F32, {3});
  std::string header = formatNpy(*array).substr(10, 56);
  CHECK(header == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), ");
}

TEST_CASE("argument texts") {
  auto none = [](const std::string &) -> Result<std::string> { return Error{}; };
  auto made = [&](const char *text, uint64_t seed = 1) {
    Result<ArgumentSpec> spec = parseSpec(text);
    REQUIRE(spec);
    Result<Array> array = makeArray(*spec, seed, none);
    REQUIRE(array);
    return std::move(*array);
  };
  CHECK(values(made("arange:i32:2x3")) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(values(made("zeros:bf16:2")) == std::vector<double>{0, 0});
  CHECK(std::isnan(values(made("empty:f16:1"))[0]));
  CHECK(made("zeros:f32:").shape.empty());
  CHECK(made("scratch:100").bytes() == 100);
  CHECK(values(made("randn:f32:100:seed=3")) == values(made("randn:f32:100:seed=3", 99)));
  CHECK(values(made("randn:f32:100", 1)) != values(made("randn:f32:100", 2)));
  std::vector<double> normal = values(made("randn:f64:100001"));
  double mean = 0, square = 0;
  for (double x : normal) {
    mean += x / static_cast<double>(normal.size());
    square += x * x / static_cast<double>(normal.size());
  }
  CHECK(std::fabs(mean) < 0.02);
  CHECK(std::fabs(square - 1) < 0.03);
  for (double x : values(made("uniform:f32:1000:low=-2:high=3"))) {
    CHECK(x >= -2);
    CHECK(x <= 3);
  }
  auto number = [](const char *text, std::optional<DType> dtype) {
    Result<ArgumentSpec> spec = parseSpec(text);
    REQUIRE(spec);
    REQUIRE(spec->kind == ArgumentSpec::Kind::Number);
    return makeScalar(*spec, dtype);
  };
  CHECK(number("0.5", DType::F32)->bits == 0x3f000000);
  CHECK(number("-3", std::nullopt)->dtype == DType::I64);
  CHECK(number("3:u8", DType::F32)->dtype == DType::U8);
  CHECK(number("true", DType::Bool)->bits == 1);
  // A seed of 64 bits must not turn into a rounded double.
  CHECK(number("18446744073709551615", std::nullopt)->dtype == DType::U64);
  CHECK(number("9223372049200454709", DType::U64)->bits == 9223372049200454709U);
  CHECK(number("-inf", DType::F32)->bits == 0xff800000);
  CHECK(number("300", DType::U8).error().message == "u8 does not hold 300");
  CHECK(parseSpec("a:b.npy")->path == "a:b.npy");
  CHECK(parseSpec("x.npy:bf16")->dtype == DType::BF16);
  CHECK(parseSpec("x.npy:bf16")->path == "x.npy");
  std::pair<const char *, const char *> wrong[] = {
      {"", "'' is no argument"},
      {"hello", "'hello' is no argument"},
      {"randn", "'randn': expected an element type after 'randn:', found ''"},
      {"randn:float:4", "'randn:float:4': expected an element type after 'randn:', found 'float'"},
      {"zeros:f32:4x", "'zeros:f32:4x': expected a shape such as 4x8, found '4x'"},
      {"zeros:f32:-4", "'zeros:f32:-4': expected a shape such as 4x8, found '-4'"},
      {"zeros:f32:4:seed=1", "'zeros:f32:4:seed=1': 'seed=1' is not an option of 'zeros'"},
      {"randn:f32:4:sed=1", "'randn:f32:4:sed=1': 'sed=1' is not an option of 'randn'"},
      {"scratch:x", "'scratch:x': expected a number of bytes after 'scratch:'"},
  };
  for (auto [text, message] : wrong) {
    Result<ArgumentSpec> spec = parseSpec(text);
    REQUIRE_FALSE(spec);
    CHECK(spec.error().fault == Fault::Usage);
    CHECK(spec.error().code == "T0643");
    CHECK(spec.error().message == message);
  }
}

TEST_CASE("comparisons") {
  Result<CheckSpec> spec = parseCheck("y=ref:1.npy:rtol=1e-2:atol=0");
  REQUIRE(spec);
  CHECK(spec->name == "y");
  CHECK(spec->path == "ref:1.npy");
  CHECK(spec->rtol == 1e-2);
  CHECK(spec->atol == 0.0);
  CHECK_FALSE(parseCheck("y=ref.txt"));
  CHECK_FALSE(parseCheck("ref.npy"));
  CHECK_FALSE(parseCheck("y=ref.npy:rtol=x"));
  auto array = [](DType dtype, std::vector<double> list) {
    Result<Array> result = Array::allocate(dtype, {1, static_cast<int64_t>(list.size())});
    for (size_t i = 0; i < list.size(); ++i)
      result->set(static_cast<int64_t>(i), list[i]);
    return std::move(*result);
  };
  double nan = std::nan(""), inf = HUGE_VAL;
  Array found = array(DType::F32, {1, 2, nan, inf, -inf, 100});
  Result<Comparison> same = compare(found, array(DType::F64, {1, 2, nan, inf, -inf, 101}), *spec);
  REQUIRE(same);
  CHECK(same->wrong == 0);
  CHECK(same->maxError == 1);
  Array expected = array(DType::F64, {1, 2.1, 0, inf, inf, 101});
  Result<Comparison> other = compare(found, expected, *spec);
  CHECK(other->wrong == 3);
  CHECK(other->worst == 1);
  CHECK(other->describe(found, expected) ==
        "maximum error 1 over 6 elements (rtol 0.01, atol 0); 3 wrong, the first at [0, 1]: expected 2.1, found 2");
  Result<Comparison> shapes = compare(found, array(DType::F32, {1}), *spec);
  REQUIRE_FALSE(shapes);
  CHECK(shapes.error().message == "'y' is f32[1, 6], its reference ref:1.npy is f32[1, 1]");
  // 64-bit integers are compared exactly.
  Array big = array(DType::I64, {0}), bigger = array(DType::I64, {0});
  big.set(0, 9007199254740993.0L);
  bigger.set(0, 9007199254740992.0L);
  CheckSpec exact;
  CHECK(compare(big, bigger, exact)->wrong == 1);
}
