#include "runtime/base/scope.h"

#include <exception>

namespace rematch::base {

namespace {

thread_local std::string module_path;
thread_local std::string region_path;
thread_local std::string failed_path;

std::string::size_type extend(std::string& path, char separator, const std::string& name) {
  const auto length_before = path.size();
  if (!path.empty()) path += separator;
  path += name;
  return length_before;
}

}  // namespace

ModuleScope::ModuleScope(const std::string& name) {
  if (module_path.empty()) failed_path.clear();
  length_before_ = extend(module_path, '.', name);
}

ModuleScope::~ModuleScope() {
  if (std::uncaught_exceptions() > 0 && failed_path.size() < module_path.size()) failed_path = module_path;
  module_path.resize(length_before_);
}

RegionScope::RegionScope(const std::string& label) : length_before_(extend(region_path, '/', label)) {}
RegionScope::~RegionScope() { region_path.resize(length_before_); }

const std::string& open_module_path() { return module_path; }
const std::string& open_region_path() { return region_path; }
std::string failed_module_path() { return failed_path; }

}  // namespace rematch::base
