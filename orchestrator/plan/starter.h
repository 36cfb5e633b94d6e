// A first sweep file for a preset of the trainer, with a comment on each field: what `init` writes. Values and text only; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "schemas/protocol/describe.h"

namespace rematch::plan {

// A preset as a list shows it.
struct StarterPreset {
  std::string name;
  std::string family;
  std::string size;  // "27 layers, hidden size 2048, 64 experts"
  bool is_tiny = false;
  std::int64_t world_size = 1;  // of the layout that a sweep of it starts with
};

// In the order of the trainer's presets.
std::vector<StarterPreset> starter_presets(const protocol::Describe& trainer);

struct StarterRequest {
  std::string preset;
  std::optional<std::string> device;       // null: cpu of a tiny preset, cuda of another; meta: cuda, to be simulated
  std::optional<std::int64_t> world_size;  // null: that of the preset's layout
  std::string file;                        // under which the sweep is kept, for the commands in its head; empty: PRESET.yaml
};

// The sweep file. It parses, and its arms are planned; a device that the trainer lacks is written all the same: the sweep can be simulated.
// An unknown preset, a world size that the preset's layout does not divide, or a layout that the model cannot have, is an error.
base::Result<std::string> starter_sweep(const protocol::Describe& trainer, const StarterRequest& request);

}  // namespace rematch::plan
