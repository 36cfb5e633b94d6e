// Which layers each model chunk of each pipeline rank has: Megatron Core's get_num_layers_to_build and get_transformer_layer_offset. Pure;
// used by the controller at plan time and by the trainer.
//
// Rank p's chunk v is virtual stage v * pp + p, and layers follow the stages. Embedding and head are the first and the last stage's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schemas/protocol/parallel_dims.h"

namespace rematch::protocol {

struct ChunkLayers {
  std::int64_t first = 0;  // index in the whole model
  std::int64_t count = 0;  // 0 only beside an embedding or a head that counts as a layer
  bool has_embedding = true;
  bool has_head = true;  // final norm, output layer and loss
};

// Every rule that sharing `num_layers` out breaks, each with the numbers; empty when valid. Wants a spec without parallel_problems.
// Stricter than Megatron, which builds stages without a layer.
std::vector<std::string> pipeline_problems(std::int64_t num_layers, const ParallelSpec& spec);

// Wants no pipeline_problems; 0 <= pipeline_rank < pipeline size, 0 <= model_chunk < chunks a rank.
ChunkLayers chunk_layers(std::int64_t num_layers, const ParallelSpec& spec, std::int64_t pipeline_rank, std::int64_t model_chunk);

// Layers of every model chunk, by pipeline rank, then by chunk. Wants no pipeline_problems.
std::vector<std::int64_t> chunk_sizes(std::int64_t num_layers, const ParallelSpec& spec);

// The interleaved schedule takes micro-batches in groups of the pipeline size: `num_micro_batches` of a step and data-parallel rank.
std::vector<std::string> schedule_problems(std::int64_t num_micro_batches, const ParallelSpec& spec);

}  // namespace rematch::protocol
