// The module path that is open on this thread ("layer.2.mlp.experts"): evidence for an out-of-memory record.
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

// Where the innermost exception left from: set while a scope is unwound, empty when none was.
std::string failed_module_path();

}  // namespace rematch::base
