#include "runtime/train/gradient_log.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <stdexcept>

#include "probes/device/charge.h"
#include "runtime/base/hash.h"

namespace rematch::train {

namespace {

std::string hash_text(const at::Tensor& tensor) {
  const probes::ScratchScope scratch;
  const auto host = tensor.cpu().contiguous();
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(base::fnv1a(host.data_ptr(), host.nbytes())));
  return text;
}

}  // namespace

GradientLog::GradientLog(const std::string& folder, int rank) {
  char name[32];
  std::snprintf(name, sizeof(name), "/gradients-%05d.jsonl", rank);
  file_.open(folder + name);
  if (!file_) throw std::runtime_error("cannot write " + folder + name);
}

void GradientLog::append(std::int64_t step, const nn::ParameterStore& store) {
  for (const auto& parameter : store.all())
    file_ << "{\"step\":" << step << ",\"parameter\":\"" << parameter.declaration.name << "\",\"gradient_hash\":\""
          << hash_text(parameter.main_grad) << "\"}\n";
  file_.flush();
}

}  // namespace rematch::train
