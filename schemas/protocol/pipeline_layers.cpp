#include "schemas/protocol/pipeline_layers.h"

namespace rematch::protocol {

namespace {

std::int64_t num_chunks(const ParallelSpec& spec) { return spec.virtual_pipeline_model_parallel_size.value_or(1); }

bool has_uneven_ends(const ParallelSpec& spec) {
  return spec.num_layers_in_first_pipeline_stage.has_value() || spec.num_layers_in_last_pipeline_stage.has_value();
}

// What is left for the ranks whose number of layers is not given.
struct EvenPart {
  std::int64_t num_layers;  // embedding and loss among them where they count
  std::int64_t num_ranks;
};

EvenPart even_part(std::int64_t num_layers, const ParallelSpec& spec) {
  EvenPart part{num_layers, spec.pipeline_model_parallel_size};
  for (const auto& given : {spec.num_layers_in_first_pipeline_stage, spec.num_layers_in_last_pipeline_stage}) {
    if (!given) continue;
    part.num_layers -= *given;
    --part.num_ranks;
  }
  part.num_layers += int(spec.account_for_embedding_in_pipeline_split) + int(spec.account_for_loss_in_pipeline_split);
  return part;
}

// Of all chunks of a rank, embedding and loss among them where they count.
std::int64_t layers_of_rank(std::int64_t num_layers, const ParallelSpec& spec, std::int64_t pipeline_rank) {
  if (pipeline_rank == 0 && spec.num_layers_in_first_pipeline_stage) return *spec.num_layers_in_first_pipeline_stage;
  if (pipeline_rank == spec.pipeline_model_parallel_size - 1 && spec.num_layers_in_last_pipeline_stage)
    return *spec.num_layers_in_last_pipeline_stage;
  const auto part = even_part(num_layers, spec);
  return part.num_layers / part.num_ranks;
}

ChunkLayers count_only(std::int64_t num_layers, const ParallelSpec& spec, std::int64_t stage) {
  const auto pipeline_size = spec.pipeline_model_parallel_size;
  ChunkLayers chunk{.count = layers_of_rank(num_layers, spec, stage % pipeline_size) / num_chunks(spec),
                    .has_embedding = stage == 0,
                    .has_head = stage == pipeline_size * num_chunks(spec) - 1};
  if (chunk.has_embedding && spec.account_for_embedding_in_pipeline_split) --chunk.count;
  if (chunk.has_head && spec.account_for_loss_in_pipeline_split) --chunk.count;
  return chunk;
}

std::string text(std::int64_t number) { return std::to_string(number); }

// "num_layers 12 + embedding - first 3"
std::string even_part_text(std::int64_t num_layers, const ParallelSpec& spec) {
  std::string sum = "num_layers " + text(num_layers);
  if (spec.account_for_embedding_in_pipeline_split) sum += " + 1 for the embedding";
  if (spec.account_for_loss_in_pipeline_split) sum += " + 1 for the loss";
  if (const auto& first = spec.num_layers_in_first_pipeline_stage) sum += " - num_layers_in_first_pipeline_stage " + text(*first);
  if (const auto& last = spec.num_layers_in_last_pipeline_stage) sum += " - num_layers_in_last_pipeline_stage " + text(*last);
  return sum;
}

std::vector<std::string> rank_problems(std::int64_t num_layers, const ParallelSpec& spec) {
  const auto [left, num_ranks] = even_part(num_layers, spec);
  const std::string sum = even_part_text(num_layers, spec), found = ", found " + text(left);
  if (num_ranks == 0 && left != 0) return {sum + ": wanted 0, since no other pipeline rank is left" + found};
  if (num_ranks > 0 && (left < num_ranks || left % num_ranks != 0))
    return {sum + ": wanted a multiple of the " + text(num_ranks) + " pipeline ranks that share them, at least one each" + found};
  return {};
}

std::vector<std::string> chunk_problems(std::int64_t num_layers, const ParallelSpec& spec) {
  std::vector<std::string> problems;
  for (std::int64_t rank = 0; rank < spec.pipeline_model_parallel_size; ++rank) {
    const auto layers = layers_of_rank(num_layers, spec, rank);
    if (layers % num_chunks(spec) != 0)
      problems.push_back("pipeline rank " + text(rank) + ": wanted a number of layers that virtual_pipeline_model_parallel_size " +
                         text(num_chunks(spec)) + " divides, found " + text(layers));
  }
  return problems;
}

}  // namespace

std::vector<std::string> pipeline_problems(std::int64_t num_layers, const ParallelSpec& spec) {
  if (spec.pipeline_model_parallel_size == 1) return {};
  if (has_uneven_ends(spec) && (spec.account_for_embedding_in_pipeline_split || spec.account_for_loss_in_pipeline_split))
    return {
        "account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split: wanted false with "
        "num_layers_in_first_pipeline_stage or num_layers_in_last_pipeline_stage, found true; leave one of them out"};
  const auto problems = rank_problems(num_layers, spec);
  return problems.empty() ? chunk_problems(num_layers, spec) : problems;
}

ChunkLayers chunk_layers(std::int64_t num_layers, const ParallelSpec& spec, std::int64_t pipeline_rank, std::int64_t model_chunk) {
  const auto stage = model_chunk * spec.pipeline_model_parallel_size + pipeline_rank;
  auto chunk = count_only(num_layers, spec, stage);
  for (std::int64_t before = 0; before < stage; ++before) chunk.first += count_only(num_layers, spec, before).count;
  return chunk;
}

std::vector<std::int64_t> chunk_sizes(std::int64_t num_layers, const ParallelSpec& spec) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t rank = 0; rank < spec.pipeline_model_parallel_size; ++rank)
    for (std::int64_t chunk = 0; chunk < num_chunks(spec); ++chunk) sizes.push_back(chunk_layers(num_layers, spec, rank, chunk).count);
  return sizes;
}

std::vector<std::string> schedule_problems(std::int64_t num_micro_batches, const ParallelSpec& spec) {
  if (num_chunks(spec) == 1 || num_micro_batches % spec.pipeline_model_parallel_size == 0) return {};
  return {
      "micro-batches of a step (global_batch_size / (micro_batch_size * data parallel size)): wanted a multiple of "
      "pipeline_model_parallel_size " +
      text(spec.pipeline_model_parallel_size) + " with virtual_pipeline_model_parallel_size " + text(num_chunks(spec)) + ", found " +
      text(num_micro_batches)};
}

}  // namespace rematch::protocol
