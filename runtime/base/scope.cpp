#include "runtime/base/scope.h"

#include <exception>

namespace rematch::base {

namespace {

thread_local std::string module_path;
thread_local std::string failed_path;

}  // namespace

ModuleScope::ModuleScope(const std::string& name) {
  if (module_path.empty()) failed_path.clear();
  length_before_ = module_path.size();
  if (!module_path.empty()) module_path += '.';
  module_path += name;
}

ModuleScope::~ModuleScope() {
  if (std::uncaught_exceptions() > 0 && failed_path.size() < module_path.size()) failed_path = module_path;
  module_path.resize(length_before_);
}

const std::string& open_module_path() { return module_path; }
std::string failed_module_path() { return failed_path; }

}  // namespace rematch::base
