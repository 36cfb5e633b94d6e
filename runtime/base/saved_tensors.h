// What the model keeps between forward and backward, by name. Every operation of ours says what it saves (nn/save.h); a log that is open
// collects it, and tells afterwards which of these storages are still held. One log a thread at a time; costs nothing when none is open.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rematch::base {

struct SavedTensor {
  std::string module;  // path, "layers.2.mlp"
  std::string region;  // path of the regions that made it and do not keep it when active ("moe/moe_act"); empty: none
  std::string name;    // of the operation and the tensor, "linear.x"
  std::vector<std::int64_t> sizes;
  std::string dtype;
  std::int64_t bytes = 0;  // of its storage
};

class SavedTensorLog {
 public:
  SavedTensorLog();
  ~SavedTensorLog();
  SavedTensorLog(const SavedTensorLog&) = delete;
  SavedTensorLog& operator=(const SavedTensorLog&) = delete;

  // In order of saving; each storage once, under the name of its first saver; storages of parameters and of what was released left out.
  std::vector<SavedTensor> held() const;

 private:
  friend void note_saved(const char* operation, const char* name, const at::Tensor& tensor);
  struct Entry {
    SavedTensor tensor;
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
  };
  std::vector<Entry> entries_;
};

void note_saved(const char* operation, const char* name, const at::Tensor& tensor);

}  // namespace rematch::base
