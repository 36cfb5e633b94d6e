#include "runtime/base/saved_tensors.h"

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <set>

#include "probes/device/retag.h"
#include "runtime/base/scope.h"

namespace rematch::base {

namespace {
thread_local SavedTensorLog* open_log = nullptr;
}

SavedTensorLog::SavedTensorLog() { open_log = this; }
SavedTensorLog::~SavedTensorLog() { open_log = nullptr; }

std::vector<SavedTensor> SavedTensorLog::held() const {
  std::vector<SavedTensor> held;
  std::set<const c10::StorageImpl*> seen;
  for (const auto& entry : entries_) {
    const auto storage = entry.storage.lock();
    if (!storage || storage->nbytes() == 0 || !seen.insert(storage.get()).second) continue;
    held.push_back(entry.tensor);
    held.back().bytes = static_cast<std::int64_t>(storage->nbytes());
    if (const auto tag = probes::tag_of_block(storage->data_ptr())) held.back().region = probes::tag_of(*tag).region;
  }
  return held;
}

void note_saved(const char* operation, const char* name, const at::Tensor& tensor) {
  if (open_log == nullptr || !tensor.defined() || (tensor.is_leaf() && tensor.requires_grad())) return;
  SavedTensor saved{.module = open_module_path(),
                    .region = {},
                    .name = std::string(operation) + "." + name,
                    .sizes = tensor.sizes().vec(),
                    .dtype = c10::toString(tensor.scalar_type()),
                    .bytes = 0};
  open_log->entries_.push_back({std::move(saved), tensor.storage().getWeakStorageImpl()});
}

}  // namespace rematch::base
