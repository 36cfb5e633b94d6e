#include "runtime/base/errors.h"
#include "runtime/models/model.h"

namespace rematch::models {

std::vector<const Family*> families() { return {&mla_moe_family()}; }

const Family& family_named(const std::string& name) {
  std::string known;
  for (const auto* family : families()) {
    const auto family_name = family->describe().name;
    if (family_name == name) return *family;
    known += (known.empty() ? "" : ", ") + family_name;
  }
  throw base::BadTrial("model.family: unknown family '" + name + "'; this trainer has " + known);
}

}  // namespace rematch::models
