// For the row kernels (*_rows.cpp): loops over plain arrays that the compiler turns into vector code, for the instructions that the machine
// has. Results do not depend on how rows are spread over threads: every sum has one order, given by the number of lanes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// Compiled once for each level of instructions; the best is chosen when the program is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define REMATCH_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define REMATCH_SIMD
#endif

namespace rematch::nn::simd {

using Bf16 = std::uint16_t;  // the bits of a bf16

[[gnu::always_inline]] inline float raised(Bf16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

// To the nearest, ties to even; a NaN stays one. As c10::BFloat16 rounds.
[[gnu::always_inline]] inline Bf16 lowered(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<Bf16>(value != value ? 0x7fc0U : rounded);
}

// e^x within 2 units in the last place for x <= 88; 0 below -87, where the result would be denormal. A NaN stays one.
[[gnu::always_inline]] inline float exp_of(float x) {
  constexpr float kLog2E = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F, kRounder = 12582912.0F, kLowest = -87.0F;
  const float bounded = x < kLowest ? kLowest : x;
  const float n = (bounded * kLog2E + kRounder) - kRounder;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  float tail = 1.9875691500e-4F;
  tail = tail * r + 1.3981999507e-3F;
  tail = tail * r + 8.3334519073e-3F;
  tail = tail * r + 4.1665795894e-2F;
  tail = tail * r + 1.6666665459e-1F;
  tail = tail * r + 5.0000001201e-1F;
  const float mantissa = tail * r * r + r + 1.0F;
  const auto exponent = std::bit_cast<std::uint32_t>(n + (kRounder + 127.0F)) << 23;  // the sum's low bits are n + 127
  const float result = mantissa * std::bit_cast<float>(exponent);
  return x < kLowest ? 0.0F : result;
}

// Partial sums (or maxima) side by side: one vector register or two, added up in a fixed order at the end.
constexpr std::size_t kNumLanes = 16;
using Lanes = std::array<float, kNumLanes>;

[[gnu::always_inline]] inline float sum_of(const Lanes& lanes) {
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// term(i) summed over i < count.
template <typename Term>
[[gnu::always_inline]] inline float lane_sum(std::size_t count, const Term& term) {
  Lanes lanes{};
  const std::size_t whole = count / kNumLanes * kNumLanes;
  for (std::size_t i = 0; i < whole; i += kNumLanes)
    for (std::size_t lane = 0; lane < kNumLanes; ++lane) lanes[lane] += term(i + lane);
  for (std::size_t i = whole; i < count; ++i) lanes[i - whole] += term(i);
  return sum_of(lanes);
}

template <typename Value>
[[gnu::always_inline]] inline float lane_max(std::size_t count, float start, const Value& value) {
  Lanes lanes;
  lanes.fill(start);
  const auto keep = [](float& best, float next) { best = next > best ? next : best; };
  const std::size_t whole = count / kNumLanes * kNumLanes;
  for (std::size_t i = 0; i < whole; i += kNumLanes)
    for (std::size_t lane = 0; lane < kNumLanes; ++lane) keep(lanes[lane], value(i + lane));
  for (std::size_t i = whole; i < count; ++i) keep(lanes[i - whole], value(i));
  float best = start;
  for (const float lane : lanes) keep(best, lane);
  return best;
}

}  // namespace rematch::nn::simd
