// The tag of a block after its allocation: read, or set anew, since the outputs of a region whose consumers keep them belong to what
// surrounds it. Threads: any. Failure: none; memory that the device does not track stays as it is.
#pragma once

#include <optional>

#include "probes/allocator/tag.h"

namespace c10 {
class DataPtr;
}

namespace rematch::probes {

// The block that `data` owns gets the tag that is open on this thread.
void retag_as_open(const c10::DataPtr& data);
// nullopt: not tracked.
std::optional<TagId> tag_of_block(const c10::DataPtr& data);

// How the process's one device does both; set when the device is made.
struct TagAccess {
  void (*set)(const c10::DataPtr& data, TagId tag) = nullptr;
  std::optional<TagId> (*get)(const c10::DataPtr& data) = nullptr;
};
void set_tag_access(TagAccess access);

}  // namespace rematch::probes
