// Parameters of one kind and type, and their gradients in one contiguous buffer. Cut into buckets, and each bucket into one shard a rank of
// its group, with the parameters in a buffer as well: the distributed optimizer's layout. Whole otherwise, each parameter by itself, as
// Megatron's DistributedDataParallel leaves them. Memory lives from construction on. Main thread; sync calls are collective.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/nn/main_grad.h"
#include "runtime/nn/parameter.h"

namespace rematch::parallel {

enum class Sharding { kSharded, kWhole };

struct BufferOptions {
  at::ScalarType grad_dtype = at::kBFloat16;
  Sharding sharding = Sharding::kSharded;
  nn::DummyGrads* dummies = nullptr;      // not null: gradient accumulation fusion
  std::int64_t bucket_size = 40'000'000;  // elements; a bucket closes at the parameter that reaches it
};

// What this rank's optimizer updates of one parameter: all of it, or the part in its shard. Flat views.
struct ParamPiece {
  at::Tensor param;
  at::Tensor grad;        // in the buffer's type; right after sync_grads
  bool decays = true;     // weight decay leaves out parameters of one dimension
  bool is_split = false;  // tensor-parallel ranks have other parts of the parameter, not copies of it
};

class ParamBuffer {
 public:
  // Places `parameters` (all of one kind and type, at least one) as zeros, for as long as the buffer lives. Buckets of shards are padded to
  // lcm(group size, 128) elements.
  ParamBuffer(const std::vector<nn::Parameter*>& parameters, const comm::Communicator& group, at::Device device,
              const BufferOptions& options);

  nn::ParameterKind kind() const { return kind_; }
  // Last declared first.
  const std::vector<ParamPiece>& pieces() const { return pieces_; }

  void zero_grads();
  // Divides by `divisor` and sums over the group; afterwards the gradients of this rank's pieces are right, others need not be.
  void sync_grads(double divisor);
  void gather_params();

 private:
  struct Bucket {
    std::int64_t first;  // element in the buffer
    std::int64_t count;  // padded
  };

  void place(const std::vector<nn::Parameter*>& parameters);
  void make_tensors(const std::vector<nn::Parameter*>& parameters, at::Device device);
  void find_pieces(const std::vector<nn::Parameter*>& parameters);
  bool is_sharded() const { return options_.sharding == Sharding::kSharded; }
  at::Tensor shard_of(const at::Tensor& flat, const Bucket& bucket) const;

  const comm::Communicator& group_;
  BufferOptions options_;
  nn::ParameterKind kind_;
  std::vector<Bucket> buckets_;
  std::vector<std::int64_t> offsets_;  // of each parameter in the buffer
  std::vector<ParamPiece> pieces_;
  at::Tensor params_;  // undefined when whole
  at::Tensor grads_;
};

}  // namespace rematch::parallel
