// The text of a first sweep file, section by section. Internal to plan.
#pragma once

#include "orchestrator/plan/starter_layout.h"

namespace rematch::plan {

struct StarterLabel {
  std::string label;
  std::string drops;
  std::string why_not;  // empty: it is an arm of the sweep
};

struct Starter {
  const protocol::FamilyDescription* family = nullptr;
  const protocol::PresetDescription* preset = nullptr;
  StarterLayout layout;
  std::string device;
  std::string file;  // of the sweep, as commands name it
  std::string core_revision;
  std::string size;
  std::vector<StarterLabel> labels;
};

std::string text_of(const Starter& starter);

}  // namespace rematch::plan
