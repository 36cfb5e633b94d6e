// The presets in models/presets/*.json, compiled in.
#pragma once

#include <vector>

#include "schemas/protocol/describe.h"

namespace rematch::models {

std::vector<protocol::PresetDescription> presets();

}  // namespace rematch::models
