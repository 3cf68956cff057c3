#include "src/report/page.h"

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/report/html.h"
#include "src/report/sections.h"

namespace einkorn::report {
namespace {

std::string_view file(std::string_view name) {
  const std::string path = fmt::format("src/report/page/{}", name);
  for (const PageFile& source : page_files()) {
    if (source.path == path) return source.text;
  }
  throw_internal("page file", fmt::format("{} is not in this build", path));
}

/// Each `<script>` on its own, so that an error in one names it.
std::string scripts_html() {
  std::string out = fmt::format("<!--\n{}-->\n<script>\n{}\n</script>\n", file("d3_license.txt"),
                                file("d3.min.js"));
  for (const char* name : {"charts.js", "roofline.js", "bars.js", "tuning.js", "start.js"}) {
    out += fmt::format("<script>\n{}</script>\n", file(name));
  }
  return out;
}

std::string devices_html(const Json& devices) {
  std::string out;
  for (std::size_t i = 0; i < devices.size(); ++i) out += device_html(devices[i], i);
  return out;
}

/// Links to the devices; nothing for one.
std::string contents_html(const Json& devices) {
  if (devices.size() < 2) return {};
  std::string out = "<nav aria-label=\"Devices\"><ul>\n";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    out += fmt::format("<li><a href=\"#device-{}\">{}</a></li>\n", i,
                       escaped(devices[i]["device"].get<std::string>()));
  }
  return out + "</ul></nav>\n";
}

std::string made_html(const Json& data) {
  return fmt::format("Made {} by einkorn {} ({}).", escaped(data["date"].get<std::string>()),
                     escaped(data["version"].get<std::string>()),
                     escaped(data["commit"].get<std::string>()));
}

std::string filling(std::string_view name, const Json& data) {
  if (name == "style") return std::string(file("page.css"));
  if (name == "made") return made_html(data);
  if (name == "contents") return contents_html(data["devices"]);
  if (name == "devices") return devices_html(data["devices"]);
  if (name == "sources") return sources_html(data);
  if (name == "data") return json_in_script(data);
  if (name == "scripts") return scripts_html();
  throw_internal("page part", fmt::format("page.html asks for '{}'", name));
}

}  // namespace

std::string page_html(const Json& data) {
  // One pass over the skeleton: what is filled in is not looked at again, so "{{...}}" in a name
  // stays as it is.
  const std::string_view skeleton = file("page.html");
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = skeleton.find("{{", at);
    if (open == std::string_view::npos) break;
    const std::size_t close = skeleton.find("}}", open);
    EK_ICHECK(close != std::string_view::npos, "page.html: a part is not closed");
    out += skeleton.substr(at, open - at);
    out += filling(skeleton.substr(open + 2, close - open - 2), data);
    at = close + 2;
  }
  return out + std::string(skeleton.substr(at));
}

}  // namespace einkorn::report
