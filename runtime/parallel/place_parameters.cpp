#include "runtime/parallel/place_parameters.h"

#include <algorithm>
#include <limits>

namespace rematch::parallel {

namespace {

std::vector<nn::Parameter*> parameters_of(nn::ParameterStore& store, nn::ParameterKind kind, at::ScalarType dtype) {
  std::vector<nn::Parameter*> chosen;
  for (auto& parameter : store.all())
    if (parameter.declaration.kind == kind && parameter.declaration.dtype == dtype) chosen.push_back(&parameter);
  return chosen;
}

}  // namespace

std::int64_t bucket_size(const mesh::Mesh& mesh, std::int64_t model_chunk) {
  if (mesh.pipeline().rank() > 0 || model_chunk > 0) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(40'000'000, 1'000'000 * mesh.data_context().size());
}

std::vector<std::unique_ptr<ParamBuffer>> place_parameters(nn::ParameterStore& store, const mesh::Mesh& mesh, const PlaceRequest& request) {
  const auto& spec = request.optimizer;
  std::vector<std::unique_ptr<ParamBuffer>> buffers;
  for (const auto kind : {nn::ParameterKind::kDense, nn::ParameterKind::kExpert})
    for (const auto dtype : {at::kBFloat16, at::kFloat}) {
      const auto parameters = parameters_of(store, kind, dtype);
      if (parameters.empty()) continue;
      const BufferOptions options{.grad_dtype = spec.grad_reduce_in_fp32 ? at::kFloat : dtype,
                                  .sharding = spec.use_distributed_optimizer ? Sharding::kSharded : Sharding::kWhole,
                                  .dummies = spec.gradient_accumulation_fusion ? &request.dummies : nullptr,
                                  .bucket_size = bucket_size(mesh, request.model_chunk)};
      const auto& group = kind == nn::ParameterKind::kExpert ? mesh.expert_data() : mesh.data_context();
      buffers.push_back(std::make_unique<ParamBuffer>(parameters, group, mesh.device(), options));
    }
  return buffers;
}

}  // namespace rematch::parallel
