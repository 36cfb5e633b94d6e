// A model in one line, as reports and answers name it. Pure.
#pragma once

#include <string>

#include "schemas/protocol/trial.h"

namespace rematch::base {

// "moonlight_16b (mla_moe), changed: hidden_size, num_layers".
std::string model_text(const protocol::ModelSpec& model);

}  // namespace rematch::base
