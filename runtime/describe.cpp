#include "runtime/describe.h"

#include <string>

#include "probes/device/device_memory.h"
#include "probes/host/build_id.h"
#include "runtime/base/torch_compat.h"
#include "runtime/comm/backends.h"
#include "runtime/models/model.h"
#include "runtime/models/presets.h"

namespace rematch::runtime {

protocol::Describe describe() {
  protocol::Describe description{
      .build_id = probes::build_id(),
      .version = REMATCH_VERSION,
      .libtorch_version = TORCH_VERSION,
      .devices = {"cpu", "meta"},
      .comm_backends = comm::backend_names(),
      .attention_backends = {"fused", "unfused"},
      .optimizer_modes = {"use_distributed_optimizer=true", "grad_reduce_in_fp32=false", "use_precision_aware_optimizer=false"},
      .parallel_axes = {"expert_model_parallel_size"},
      .families = {},
      .presets = models::presets()};
  if (probes::built_with_cuda()) description.devices.emplace_back("cuda");
  for (const auto* family : models::families()) description.families.push_back(family->describe());
  return description;
}

}  // namespace rematch::runtime
