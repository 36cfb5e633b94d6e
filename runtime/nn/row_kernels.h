// From tensors to the row kernels (*_rows.h), which take plain arrays. For the bodies of kernels.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "runtime/nn/simd.h"

namespace rematch::nn {

// Rows that a thread takes at a time at least. Sums over rows are made by parts of this many, so that no number of threads changes them.
constexpr std::int64_t kRowsPerPart = 64;

// Whether the row kernels can compute it; else the operators of LibTorch do.
inline bool has_bf16_rows(const at::Tensor& x) { return x.is_cpu() && x.scalar_type() == at::kBFloat16 && x.is_contiguous(); }

inline const simd::Bf16* bits_of(const at::Tensor& x) { return reinterpret_cast<const simd::Bf16*>(x.const_data_ptr<at::BFloat16>()); }
inline simd::Bf16* mutable_bits_of(const at::Tensor& x) { return reinterpret_cast<simd::Bf16*>(x.mutable_data_ptr<at::BFloat16>()); }

// body(first, last) for ranges that together are [0, num_rows), on several threads.
template <typename Body>
void for_row_ranges(std::int64_t num_rows, const Body& body) {
  at::parallel_for(0, num_rows, kRowsPerPart,
                   [&](std::int64_t first, std::int64_t last) { body(static_cast<std::size_t>(first), static_cast<std::size_t>(last)); });
}

}  // namespace rematch::nn
