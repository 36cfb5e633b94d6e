#include "probes/device/retag.h"

namespace rematch::probes {

namespace {
// Written once, before the first tensor.
TagAccess tag_access;
}  // namespace

void set_tag_access(TagAccess access) { tag_access = access; }

void retag_as_open(const c10::DataPtr& data) {
  if (tag_access.set) tag_access.set(data, open_tag());
}

std::optional<TagId> tag_of_block(const c10::DataPtr& data) { return tag_access.get ? tag_access.get(data) : std::nullopt; }

}  // namespace rematch::probes
