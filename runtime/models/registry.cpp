#include "runtime/base/errors.h"
#include "runtime/base/text.h"
#include "runtime/models/field_reader.h"
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

std::int64_t num_layers(const protocol::ModelSpec& model) {
  const auto description = family_named(model.family).describe();
  return FieldReader(description, model.fields).integer("num_layers");
}

}  // namespace rematch::models
