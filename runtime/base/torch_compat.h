// The only conditionals on LibTorch's version. Supported: 2.6 and newer.
#pragma once

#include <torch/version.h>

static_assert(TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 6),
              "rematch-train wants LibTorch 2.6 or newer");
