#include "orchestrator/base/model_text.h"

namespace rematch::base {

std::string model_text(const protocol::ModelSpec& model) {
  std::string text = model.preset ? *model.preset + " (" + model.family + ")" : model.family;
  std::string changed;
  for (const std::string& field : model.overridden) changed += (changed.empty() ? ", changed: " : ", ") + field;
  return text + changed;
}

}  // namespace rematch::base
