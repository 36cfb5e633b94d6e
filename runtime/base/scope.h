// Where the main thread is in the model: the module path ("layers.2.mlp.experts") and, inside it, the recompute regions that are open
// ("moe/moe_act"). Evidence for an out-of-memory record, and what live memory is attributed to. Regions are open whether they recompute or
// not.
#pragma once

#include <string>

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

class RegionScope {
 public:
  explicit RegionScope(const std::string& label);
  ~RegionScope();
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

 private:
  std::string::size_type length_before_;
};

const std::string& open_module_path();
const std::string& open_region_path();  // empty outside every region

// Where the innermost exception left from: set while a scope is unwound, empty when none was.
std::string failed_module_path();

}  // namespace rematch::base
