#include "orchestrator/report/format.h"

#include <map>

namespace rematch::report {

namespace {

// Filled by registrars before main, so it must not depend on their order.
std::map<std::string, RenderFunction, std::less<>>& formats() {
  static std::map<std::string, RenderFunction, std::less<>> by_name;
  return by_name;
}

}  // namespace

FormatRegistrar::FormatRegistrar(std::string_view name, RenderFunction render) { formats().emplace(name, render); }

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& [name, render] : formats()) names.push_back(name);
  return names;
}

base::Result<std::string> render(const ReportModel& model, std::string_view format, ByteUnits units) {
  auto found = formats().find(format);
  if (found != formats().end()) return found->second(model, units);
  std::string known;
  for (const std::string& name : format_names()) known += (known.empty() ? "" : ", ") + name;
  return base::Error{"there is no report format '" + std::string(format) + "'; there are: " + known};
}

}  // namespace rematch::report
