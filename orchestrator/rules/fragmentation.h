// Rule: memory that is reserved and not allocated is a sign of fragmentation where the allocator's own numbers say that it was in the way;
// a cache that was in nobody's way is none. reports/METRICS.md, "Diagnosis". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::rules {

// Of one rank. Bytes.
struct FragmentationSign {
  std::int64_t rank = 0;
  std::optional<std::int64_t> step;  // 0-based; nullopt: before the first
  std::int64_t allocated_bytes = 0;  // at the failed request, else the largest by the last step
  std::int64_t reserved_bytes = 0;   // likewise
  std::int64_t num_alloc_retries = 0;
  std::int64_t largest_free_block_bytes = 0;    // cached and unused
  std::optional<std::int64_t> requested_bytes;  // that failed; nullopt: nothing failed
  std::optional<std::int64_t> growth_bytes;     // of allocated over the steady steps; set where nothing failed
};

// Of the arm's first run in which a request failed for it, else of the first that shows one. A run that ran out of memory shows one where
// as many bytes as it asked for were reserved and free, in blocks that were each too small, or of the other pool: requests up to 1 MiB have
// their own. Any other run does where, after warm-up, the allocator had to retry, allocated bytes had reached their plateau, and more than
// a tenth of what was reserved at the peak was not allocated. nullopt: none shows it.
std::optional<FragmentationSign> fragmentation_sign(const base::StudyRows& study, const std::string& arm);

}  // namespace rematch::rules
