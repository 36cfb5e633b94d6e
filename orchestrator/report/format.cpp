#include "orchestrator/report/format.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace rematch::report {

namespace {

struct Format {
  RenderFunction render;
  std::string extension;
  FormatPlots plots;
};

// Filled by registrars before main, so it must not depend on their order.
std::map<std::string, Format, std::less<>>& formats() {
  static std::map<std::string, Format, std::less<>> by_name;
  return by_name;
}

// By name, else by extension; end() when there is none.
auto find_format(std::string_view name) {
  const auto by_name = formats().find(name);
  if (by_name != formats().end()) return by_name;
  return std::find_if(formats().begin(), formats().end(), [&](const auto& format) { return format.second.extension == name; });
}

std::string listed(const std::vector<std::string>& names, const std::string& before) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + before + name;
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<std::string> extensions() {
  std::vector<std::string> all;
  for (const auto& [name, format] : formats()) all.push_back(format.extension);
  return all;
}

}  // namespace

FormatRegistrar::FormatRegistrar(std::string_view name, RenderFunction render, std::string_view extension, FormatPlots plots) {
  formats().emplace(name, Format{render, std::string(extension), plots});
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats()) names.push_back(name);
  return names;
}

std::vector<std::string> accepted_format_names() {
  std::vector<std::string> names = format_names();
  for (const std::string& extension : extensions())
    if (formats().count(extension) == 0) names.push_back(extension);
  std::sort(names.begin(), names.end());
  return names;
}

std::string format_extension(std::string_view format) {
  const auto found = find_format(format);
  return found == formats().end() ? std::string(format) : found->second.extension;
}

base::Result<std::string> format_of_file(std::string_view file_name) {
  const std::string_view last = file_name.substr(file_name.find_last_of('/') + 1);
  const std::size_t dot = last.find_last_of('.');
  if (dot == std::string_view::npos || dot == 0) return std::string("md");  // ".profile" has no extension
  const std::string extension = lower_case(last.substr(dot + 1));
  for (const auto& [name, format] : formats())
    if (format.extension == extension) return name;
  return base::Error{"no report format has files that end in '." + extension + "'; there are: " + listed(extensions(), ".") +
                     "; or name the format with -f"};
}

bool draws_plots(std::string_view format) {
  const auto found = find_format(format);
  return found != formats().end() && found->second.plots == FormatPlots::kDrawn;
}

base::Result<std::string> render(const ReportModel& model, std::string_view format, ByteUnits units) {
  const auto found = find_format(format);
  if (found != formats().end()) return found->second.render(model, units);
  return base::Error{"there is no report format '" + std::string(format) + "'; there are: " + listed(format_names(), "")};
}

}  // namespace rematch::report
