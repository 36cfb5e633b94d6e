#include "orchestrator/report/format.h"

#include <map>

namespace rematch::report {

namespace {

struct Format {
  RenderFunction render;
  FormatPlots plots;
};

// Filled by registrars before main, so it must not depend on their order.
std::map<std::string, Format, std::less<>>& formats() {
  static std::map<std::string, Format, std::less<>> by_name;
  return by_name;
}

}  // namespace

FormatRegistrar::FormatRegistrar(std::string_view name, RenderFunction render, FormatPlots plots) {
  formats().emplace(name, Format{render, plots});
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats()) names.push_back(name);
  return names;
}

bool draws_plots(std::string_view format) {
  const auto found = formats().find(format);
  return found != formats().end() && found->second.plots == FormatPlots::kDrawn;
}

base::Result<std::string> render(const ReportModel& model, std::string_view format, ByteUnits units) {
  auto found = formats().find(format);
  if (found != formats().end()) return found->second.render(model, units);
  std::string known;
  for (const std::string& name : format_names()) known += (known.empty() ? "" : ", ") + name;
  return base::Error{"there is no report format '" + std::string(format) + "'; there are: " + known};
}

}  // namespace rematch::report
