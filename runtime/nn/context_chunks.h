// Which tokens of a sequence a context-parallel rank has, as Megatron's get_batch_on_this_cp_rank shares them out: the sequence is cut in
// 2 * size chunks, and rank r has chunks r and 2 * size - 1 - r, in this order, so that under a causal mask all ranks have the same work.
// Pure arithmetic, shared by the data, the rotary embedding and the mixers.
#pragma once

#include <cstdint>
#include <vector>

namespace rematch::nn {

struct ContextPlace {
  int rank = 0;
  int size = 1;  // context-parallel ranks of a sequence
};

// `count` tokens that follow each other both in the sequence, from position `first`, and among a rank's own, from `row`.
struct TokenRun {
  std::int64_t first = 0;
  std::int64_t row = 0;
  std::int64_t count = 0;
};

// What the rank at `place` has, num_local tokens in all: one run where the sequence is whole, two otherwise.
inline std::vector<TokenRun> token_runs(ContextPlace place, std::int64_t num_local) {
  if (place.size == 1) return {{.first = 0, .row = 0, .count = num_local}};
  const auto count = num_local / 2;
  return {{.first = place.rank * count, .row = 0, .count = count},
          {.first = (2 * place.size - 1 - place.rank) * count, .row = count, .count = count}};
}

}  // namespace rematch::nn
