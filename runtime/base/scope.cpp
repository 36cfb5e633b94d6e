#include "runtime/base/scope.h"

#include <exception>

namespace rematch::base {

namespace {
thread_local std::string current_path;
thread_local std::string failed_path;
}  // namespace

ModuleScope::ModuleScope(const std::string& name) : length_before_(current_path.size()) {
  if (current_path.empty()) failed_path.clear();
  if (!current_path.empty()) current_path += '.';
  current_path += name;
}

ModuleScope::~ModuleScope() {
  if (std::uncaught_exceptions() > 0 && failed_path.size() < current_path.size()) failed_path = current_path;
  current_path.resize(length_before_);
}

std::string failed_module_path() { return failed_path; }

}  // namespace rematch::base
