// Parameters of one kind in one contiguous bf16 buffer, their gradients in another, both cut into buckets and each bucket into one shard a
// rank of its group: the distributed optimizer's layout. Buffers live from construction on. Main thread; sync calls are collective.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/nn/parameter.h"

namespace rematch::parallel {

inline constexpr std::int64_t kBucketSize = 40'000'000;  // elements; a bucket closes at the parameter that reaches it (Megatron's default)

// The part of one parameter that lies in this rank's shard, as offsets into the shard.
struct ShardPiece {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool decays = true;  // weight decay leaves out parameters of one dimension
};

class ParamBuffer {
 public:
  // Places `parameters` (all of one kind) as zeros. Buckets are padded to lcm(group size, 128) elements.
  ParamBuffer(const std::vector<nn::Parameter*>& parameters, const comm::Communicator& group, at::Device device,
              std::int64_t bucket_size = kBucketSize);

  void zero_grads();
  // Divides by `divisor`, sums over the group; afterwards each rank's shard of the gradients is right, the rest is not.
  void reduce_scatter_grads(double divisor);
  void all_gather_params();

  std::int64_t shard_elements() const { return shard_elements_; }
  const std::vector<ShardPiece>& pieces() const { return pieces_; }
  // This rank's shard, one flat view a bucket; shards of all buckets in order make up the optimizer's flat tensors.
  std::vector<at::Tensor> param_shards() const { return shards_of(params_); }
  std::vector<at::Tensor> grad_shards() const { return shards_of(grads_); }

 private:
  struct Bucket {
    std::int64_t first;  // element in the buffer
    std::int64_t count;  // padded
  };

  void place(const std::vector<nn::Parameter*>& parameters, std::int64_t bucket_size);
  void find_pieces(const std::vector<nn::Parameter*>& parameters);
  std::vector<at::Tensor> shards_of(const at::Tensor& flat) const;
  at::Tensor shard_of(const at::Tensor& flat, const Bucket& bucket) const;

  const comm::Communicator& group_;
  std::vector<Bucket> buckets_;
  std::vector<std::int64_t> offsets_;  // of each parameter in the buffer
  std::vector<ShardPiece> pieces_;
  at::Tensor params_;
  at::Tensor grads_;
  std::int64_t shard_elements_ = 0;
};

}  // namespace rematch::parallel
