// Which layout and batch a first sweep of a preset has. Internal to plan.
#pragma once

#include <string_view>

#include "orchestrator/base/result.h"
#include "orchestrator/plan/starter.h"

namespace rematch::plan {

struct StarterLayout {
  std::int64_t world_size = 1;
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t virtual_pipeline = 1;  // chunks a rank; 1: not interleaved
  std::int64_t expert = 1;
  std::int64_t first_stage_layers = 0;  // 0: as every stage
  std::int64_t last_stage_layers = 0;
  std::int64_t seq_length = 256;
  std::int64_t global_batch_size = 1;
  std::string_view source;  // what it starts from, a whole sentence; empty: of a tiny preset
};

// An integer field of the preset, else the family's default; null where it is neither.
std::optional<std::int64_t> integer_field(const protocol::Describe& trainer, const protocol::PresetDescription& preset,
                                          const std::string& name);

// A model that a few cores train in seconds.
bool is_tiny(const protocol::Describe& trainer, const protocol::PresetDescription& preset);

// The batch is a whole number of micro-batches on each data-parallel rank, and with virtual stages a multiple of the stages.
// A tiny preset spreads its experts over the ranks, and holds one sequence a rank. A preset without a row of its own is as a tiny one.
base::Result<StarterLayout> starter_layout(const protocol::Describe& trainer, const protocol::PresetDescription& preset,
                                           const std::optional<std::int64_t>& world_size);

}  // namespace rematch::plan
