// multipart/form-data (RFC 7578), as browsers and curl send it.
#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "serve/upload.h"

namespace soft {
namespace {

constexpr size_t kLongestBoundary = 70;  // RFC 2046

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The value of `name` among "x; name=value; other=\"value\""; empty when it is not there.
std::string_view attribute(std::string_view header, std::string_view name) {
  for (size_t next = header.find(';'); next != std::string_view::npos; next = header.find(';')) {
    header.remove_prefix(next + 1);
    const size_t equals = header.find('=');
    if (equals == std::string_view::npos) return {};
    const bool wanted = same_letters(trimmed(header.substr(0, equals)), name);
    header.remove_prefix(equals + 1);
    const bool quoted = !header.empty() && header.front() == '"';
    if (quoted) header.remove_prefix(1);
    const size_t end = std::min(header.size(), header.find(quoted ? '"' : ';'));
    if (wanted) return quoted ? header.substr(0, end) : trimmed(header.substr(0, end));
    header.remove_prefix(end);
  }
  return {};
}

// One part: its header lines, an empty line, its content.
FormPart part_of(std::string_view text) {
  const size_t empty_line = text.find("\r\n\r\n");
  if (empty_line == std::string_view::npos) {
    fail_usage("a part of the form has no empty line behind its headers");
  }
  FormPart part;
  part.content = text.substr(empty_line + 4);
  std::string_view headers = text.substr(0, empty_line);
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find("\r\n"));
    headers.remove_prefix(std::min(headers.size(), line.size() + 2));
    const std::string_view name = line.substr(0, line.find(':'));
    if (!same_letters(trimmed(name), "content-disposition")) continue;
    part.name = attribute(line, "name");
    part.file = !attribute(line, "filename").empty();
  }
  if (part.name.empty()) fail_usage("a part of the form has no name");
  return part;
}

std::string boundary_of(std::string_view content_type) {
  const std::string_view boundary = attribute(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kLongestBoundary) {
    fail_usage("the form's content type '{}' names no boundary of 1 to {} characters", content_type,
               kLongestBoundary);
  }
  return "\r\n--" + std::string(boundary);
}

}  // namespace

std::vector<FormPart> parse_form(std::string_view content_type, std::string_view body,
                                 size_t most_parts) {
  const std::string delimiter = boundary_of(content_type);
  const auto is_first = body.substr(0, delimiter.size() - 2) == delimiter.substr(2);
  size_t at = is_first ? delimiter.size() - 2 : body.find(delimiter);
  if (!is_first && at != std::string_view::npos) at += delimiter.size();
  std::vector<FormPart> parts;
  while (at != std::string_view::npos && body.substr(at, 2) == "\r\n") {
    if (parts.size() == most_parts) fail_usage("the form has more than {} parts", most_parts);
    const size_t end = body.find(delimiter, at);
    if (end == std::string_view::npos) break;
    parts.push_back(part_of(body.substr(at + 2, end - at - 2)));
    at = end + delimiter.size();
  }
  if (at == std::string_view::npos || body.substr(at, 2) != "--") {
    fail_usage("the form ends without its closing boundary; it was cut off or is not a form");
  }
  return parts;
}

}  // namespace soft
