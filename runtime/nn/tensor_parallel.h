// Tensor parallelism as the modules see it: who shares a layer, which part of each parameter is this rank's, and how rows travel.
// Between linear layers every rank has either all rows of the residual stream, or with sequence parallelism its own part of them:
// of T rows those from rank * T / size on. Communication is issued on meta too. Main thread; all operations are collective.
// The operations follow Megatron Core's tensor_parallel/mappings.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/mesh/mesh.h"
#include "runtime/nn/parameter.h"
#include "runtime/nn/sequence.h"

namespace rematch::nn {

enum class Rows { kWhole, kSharded };  // kSharded: sequence_parallel

// A value; the group outlives it.
class TensorParallel {
 public:
  TensorParallel(const comm::Communicator& group, Rows rows) : group_(&group), rows_(rows) {}
  explicit TensorParallel(const mesh::Mesh& mesh);

  const comm::Communicator& group() const { return *group_; }
  std::int64_t size() const { return group_->size(); }
  // One rank, over whatever backend: operations are then the plain ones, with nothing communicated and nothing allocated for it.
  bool is_alone() const { return size() == 1; }
  bool shards_rows() const { return rows_ == Rows::kSharded; }

  // This rank's share of `count` heads, columns, ... Throws base::BadTrial naming `field` ("model.num_attention_heads") where it does not
  // divide.
  std::int64_t share(std::int64_t count, const std::string& field) const;
  // The tokens of this rank's rows: `sequence` itself unless rows are sharded.
  SequenceShape rows_of(SequenceShape sequence) const;

  // Declarations of a linear layer's weight [O, I], or of a vector over its outputs, cut by outputs or by inputs. `sections`: runs of
  // outputs of which each rank has a share, none for one run.
  ParameterDeclaration cut_outputs(ParameterDeclaration whole, std::vector<std::int64_t> sections = {}) const;
  ParameterDeclaration cut_inputs(ParameterDeclaration whole) const;
  // Of parameters that each rank has whole and that meet its rows, or its heads, alone.
  TensorGrad grad_of_rows() const { return shards_rows() ? TensorGrad::kPart : TensorGrad::kWhole; }
  TensorGrad grad_of_heads() const { return size() > 1 ? TensorGrad::kPart : TensorGrad::kWhole; }

 private:
  const comm::Communicator* group_;
  Rows rows_;
};

// Not differentiable. [T / size, D] -> [T, D], a receive buffer (role kCommunication), and the reverse, summed over the ranks.
at::Tensor gathered_rows(const at::Tensor& x_LD, const comm::Communicator& group);
at::Tensor reduced_rows(const at::Tensor& x_TD, const comm::Communicator& group);
// All rows, wherever they lie: gathered where they are sharded, else x itself.
at::Tensor all_rows(const at::Tensor& x_LD, const TensorParallel& tensor_parallel);
// What every rank has whole after a layer whose ranks each made an addend: reduced rows where rows are sharded, else the sum, in place.
at::Tensor summed(const at::Tensor& addend_TD, const TensorParallel& tensor_parallel);

// Differentiable, for what each rank then uses for heads of its own: gathered where rows are sharded (backward: reduced rows), else itself
// (backward: summed over the ranks).
at::Tensor for_own_heads(const at::Tensor& x_LD, const TensorParallel& tensor_parallel);

}  // namespace rematch::nn
