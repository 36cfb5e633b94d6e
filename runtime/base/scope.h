// Where a thread is in the model: the module path ("layers.2.mlp.experts"), evidence for an out-of-memory record; the recompute regions
// that are open ("moe/moe_act"), whether they recompute or not; and the role of what is allocated. The latter two tag live memory: see
// tag.h.
#pragma once

#include <string>

#include "probes/allocator/tag.h"

namespace rematch::base {

class ModuleScope {
 public:
  explicit ModuleScope(const std::string& name);
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  std::string::size_type length_before_;
};

using probes::open_region_path;
using probes::RegionScope;
using probes::RoleScope;

const std::string& open_module_path();

// Where the innermost exception left from: set while a scope is unwound, empty when none was.
std::string failed_module_path();

}  // namespace rematch::base
