#include "runtime/base/errors.h"
#include "runtime/base/text.h"
#include "runtime/models/model.h"

namespace rematch::models {

std::vector<const Family*> families() { return {&dense_gqa_family(), &mla_moe_family(), &hybrid_family(), &gdn_moe_family()}; }

const Family& family_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto* family : families()) {
    known.push_back(family->describe().name);
    if (known.back() == name) return *family;
  }
  throw base::BadTrial("model.family: unknown family '" + name + "'; this trainer has " + base::joined(known));
}

}  // namespace rematch::models
