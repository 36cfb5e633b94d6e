#include "probes/device/retag.h"

#include <atomic>

namespace rematch::probes {

namespace {
std::atomic<RetagFunction> retag_function = nullptr;
}

void set_retag_function(RetagFunction retag) { retag_function = retag; }

void retag_as_open(const c10::DataPtr& data) {
  if (const RetagFunction retag = retag_function) retag(data, open_tag());
}

}  // namespace rematch::probes
