//===- Sha256.h - the digest that names and guards cached files ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// SHA-256 (FIPS 180-4), for whole texts in memory.
//
#ifndef TESSERA_RUNTIME_SUPPORT_SHA256_H
#define TESSERA_RUNTIME_SUPPORT_SHA256_H

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

using Digest = std::array<uint8_t, 32>;

namespace sha256_detail {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
inline constexpr std::array<uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline void block(std::array<uint32_t, 8> &state, const uint8_t *bytes) {
  std::array<uint32_t, 64> w;
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(bytes[4 * i]) << 24 | uint32_t(bytes[4 * i + 1]) << 16 | uint32_t(bytes[4 * i + 2]) << 8 |
           bytes[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t first =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
    uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const uint32_t added[] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += added[i];
}

} // namespace sha256_detail

inline Digest sha256(std::string_view text) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto *bytes = reinterpret_cast<const uint8_t *>(text.data());
  size_t whole = text.size() / 64 * 64;
  for (size_t at = 0; at < whole; at += 64)
    sha256_detail::block(state, bytes + at);
  // What is left, one bit, zeros, and the length in bits: one block or two.
  std::array<uint8_t, 128> tail{};
  size_t rest = text.size() - whole, blocks = rest < 56 ? 1 : 2;
  for (size_t i = 0; i < rest; ++i)
    tail[i] = bytes[whole + i];
  tail[rest] = 0x80;
  for (int i = 0; i < 8; ++i)
    tail[64 * blocks - 1 - i] = static_cast<uint8_t>(uint64_t(text.size()) * 8 >> (8 * i));
  for (size_t i = 0; i < blocks; ++i)
    sha256_detail::block(state, tail.data() + 64 * i);
  Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

inline std::string hex(const Digest &digest) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace tessera
#endif // TESSERA_RUNTIME_SUPPORT_SHA256_H
