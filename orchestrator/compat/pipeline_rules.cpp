// Pipelines and multi-token prediction.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

bool has_mtp(const Subject& s) { return s.c.mtp_num_layers.value_or(0) > 0; }

bool accounts_for_ends(const Subject& s) { return s.c.account_for_embedding_in_pipeline_split || s.c.account_for_loss_in_pipeline_split; }
bool names_end_stages(const Subject& s) { return s.c.num_layers_in_first_pipeline_stage || s.c.num_layers_in_last_pipeline_stage; }

bool divides(std::int64_t divisor, std::int64_t count) { return divisor != 0 && count % divisor == 0; }

bool is_wrong_end(const OptionalInt& count, const OptionalInt& num_chunks) {
  return count && (*count <= 0 || (num_chunks && !divides(*num_chunks, *count)));
}

// The layers and stages that the named ends leave must be none of either, or shared out evenly.
bool is_wrong_middle(const Subject& s) {
  const auto& first = s.c.num_layers_in_first_pipeline_stage;
  const auto& last = s.c.num_layers_in_last_pipeline_stage;
  const std::int64_t num_layers = s.c.num_layers - first.value_or(0) - last.value_or(0);
  const std::int64_t num_stages = s.c.pipeline_model_parallel_size - (first ? 1 : 0) - (last ? 1 : 0);
  if ((num_layers != 0) != (num_stages != 0)) return true;
  if (num_stages == 0) return false;
  const OptionalInt& num_chunks = s.c.virtual_pipeline_model_parallel_size;
  return !divides(num_stages, num_layers) || (num_chunks && !divides(*num_chunks, num_layers / num_stages));
}

bool is_uneven_wrong(const Subject& s) {
  if (!names_end_stages(s)) return false;
  const OptionalInt& num_chunks = s.c.virtual_pipeline_model_parallel_size;
  return is_wrong_end(s.c.num_layers_in_first_pipeline_stage, num_chunks) ||
         is_wrong_end(s.c.num_layers_in_last_pipeline_stage, num_chunks) || is_wrong_middle(s);
}

bool is_accounted_wrong(const Subject& s) {
  if (!accounts_for_ends(s) || names_end_stages(s)) return false;
  const std::int64_t num_layers =
      s.c.num_layers + (s.c.account_for_embedding_in_pipeline_split ? 1 : 0) + (s.c.account_for_loss_in_pipeline_split ? 1 : 0);
  const std::int64_t num_stages = s.c.pipeline_model_parallel_size;
  const OptionalInt& num_chunks = s.c.virtual_pipeline_model_parallel_size;
  return !divides(num_stages, num_layers) || (num_chunks && !divides(*num_chunks, num_layers / num_stages));
}

}  // namespace

Rules pipeline_rules() {
  return {
      {"P1", "", Origin::kRunTime, Effect::kRefuse, "recompute_granularity, recompute_method, recompute_num_layers, mtp_num_layers",
       [](const Subject& s) {
         return is_full(s) && has_mtp(s) && s.c.recompute_method == "uniform" && s.c.recompute_num_layers.value_or(1) != 1;
       },
       "a layer of multi-token prediction is one unit: uniform full recompute raises in forward; set recompute_num_layers: 1",
       kAllRevisions},
      {"P2", "", Origin::kRunTime, Effect::kIgnore, "recompute_granularity, recompute_method, mtp_num_layers",
       [](const Subject& s) { return is_full(s) && has_mtp(s) && s.c.recompute_method == "block"; },
       "block full recompute leaves layers of multi-token prediction out: use uniform to recompute them", kAllRevisions},
      {"P3", "", Origin::kRunTime, Effect::kRewrite, "fp8, fp4, recompute_granularity, recompute_method, stage_input_requires_grad",
       [](const Subject& s) {
         return is_quantized(s) && is_full(s) && s.c.recompute_method == "block" && !s.in.surroundings.stage_input_requires_grad;
       },
       "where the stage's input needs no gradient, block full recompute under fp8 or fp4 begins at a later layer", kAllRevisions},
      {"pp_dtype", "", kClass, Effect::kRefuse, "pipeline_model_parallel_size, pipeline_dtype",
       [](const Subject& s) { return s.c.pipeline_model_parallel_size > 1 && !s.c.pipeline_dtype; },
       "several pipeline stages want pipeline_dtype", kAllRevisions},
      {"uneven_pipeline", "account", kClass, Effect::kRefuse,
       "num_layers_in_first_pipeline_stage, num_layers_in_last_pipeline_stage, account_for_embedding_in_pipeline_split, "
       "account_for_loss_in_pipeline_split",
       [](const Subject& s) { return names_end_stages(s) && accounts_for_ends(s); },
       "layers of end stages are named or accounted for, not both", kAllRevisions},
      {"uneven_pipeline", "ends", kClass, Effect::kRefuse,
       "num_layers_in_first_pipeline_stage, num_layers_in_last_pipeline_stage, num_layers, pipeline_model_parallel_size, "
       "virtual_pipeline_model_parallel_size",
       is_uneven_wrong, "named end stages have at least one layer, divide into their chunks, and leave the others an even share",
       kAllRevisions},
      {"uneven_pipeline", "accounted", kClass, Effect::kRefuse,
       "account_for_embedding_in_pipeline_split, account_for_loss_in_pipeline_split, num_layers, pipeline_model_parallel_size, "
       "virtual_pipeline_model_parallel_size",
       is_accounted_wrong, "with embedding and loss counted as layers, every stage and chunk needs the same number of layers",
       kAllRevisions},
      {"defer_wgrad", "", kClass, Effect::kRefuse,
       "defer_embedding_wgrad_compute, pipeline_model_parallel_size, gradient_accumulation_fusion, wgrad_deferral_limit",
       [](const Subject& s) {
         const bool is_fit = s.c.pipeline_model_parallel_size != 1 && s.c.gradient_accumulation_fusion && s.c.wgrad_deferral_limit >= 0;
         return s.c.defer_embedding_wgrad_compute && !is_fit;
       },
       "defer_embedding_wgrad_compute wants several pipeline stages, gradient_accumulation_fusion and wgrad_deferral_limit >= 0",
       kAllRevisions},
      {"p2p_warmup_flush", "", kClass, Effect::kRefuse, "overlap_p2p_comm_warmup_flush, overlap_p2p_comm, batch_p2p_comm",
       [](const Subject& s) { return s.c.overlap_p2p_comm_warmup_flush && (!s.c.overlap_p2p_comm || s.c.batch_p2p_comm); },
       "overlap_p2p_comm_warmup_flush wants overlap_p2p_comm and no batch_p2p_comm", kAllRevisions},
  };
}

}  // namespace rematch::compat
