#include "base/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ostream>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace soft {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr size_t kLongestHeader = 10'000;  // NumPy's own limit

// Where the text header lies in the file: version 1.0 stores its length in two bytes, later ones in
// four.
struct HeaderSpan {
  size_t begin;
  size_t size;
};

HeaderSpan header_span(const std::vector<uint8_t>& file, const std::string& path) {
  const uint8_t* p = file.data();
  if (file.size() < 12 || std::memcmp(p, kMagic, kMagicSize) != 0) {
    fail("'{}' is not an .npy file; write one with numpy.save", path);
  }
  if (p[6] < 1 || p[6] > 3) fail("'{}' is .npy version {}, not 1 to 3", path, p[6]);
  const bool short_form = p[6] == 1;
  const size_t begin = short_form ? 10 : 12;
  size_t size = p[8] | p[9] << 8;
  if (!short_form) size |= static_cast<size_t>(p[10]) << 16 | static_cast<size_t>(p[11]) << 24;
  if (size > file.size() - begin) fail("'{}' is truncated inside its header", path);
  if (size > kLongestHeader) fail("'{}' has a header of {} bytes", path, size);
  return {begin, size};
}

// The value of one entry of the header, a Python dictionary: 'key': 'text' or (tuple) or word.
std::string header_value(const std::string& header, const std::string& key,
                         const std::string& path) {
  const std::string label = "'" + key + "':";  // as numpy.save spells it
  const size_t found = header.find(label);
  if (found == std::string::npos) fail("'{}' has no {} in its .npy header", path, label);
  const size_t begin = std::min(header.find_first_not_of(' ', found + label.size()), header.size());
  const char first = begin < header.size() ? header[begin] : ' ';
  const bool word = first != '(' && first != '\'';
  const size_t end = header.find_first_of(first == '(' ? ")" : word ? ",}" : "'", begin + 1);
  if (end == std::string::npos) fail("'{}' has an unfinished {} in its header", path, label);
  return header.substr(begin, end - begin + (word ? 0 : 1));
}

// "(2, 3)", "(7,)" or "()".
std::vector<int64_t> parse_shape(const std::string& text, const std::string& path) {
  if (text.front() != '(') fail("'{}' has a bad shape {}", path, printable(text));
  std::vector<int64_t> shape;
  std::istringstream sides(text.substr(1, text.size() - 2));
  for (std::string side; std::getline(sides >> std::ws, side, ',');) {
    int64_t value = -1;
    const auto [end, code] = std::from_chars(side.data(), side.data() + side.size(), value);
    if (code != std::errc() || value < 0 || end != side.data() + side.size()) {
      fail("'{}' has a bad shape {}", path, printable(text));
    }
    shape.push_back(value);
  }
  return shape;
}

// The number of elements, refusing shapes whose product would overflow or exceed the file.
size_t element_count(const std::vector<int64_t>& shape, size_t available, const std::string& path) {
  size_t count = 1;
  for (int64_t side : shape) {
    if (side != 0 && count > available / static_cast<size_t>(side)) {
      fail("'{}' is truncated: shape {} needs more than its {} values", path, shape_text(shape),
           available);
    }
    count *= static_cast<size_t>(side);
  }
  return count;
}

void write_array(std::ostream& out, const Array& array) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                  fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  header.append(63 - (kMagicSize + 4 + header.size()) % 64, ' ');  // the data starts 64-aligned
  header.push_back('\n');
  const char prefix[4] = {1, 0, static_cast<char>(header.size() & 0xff),
                          static_cast<char>(header.size() >> 8)};
  out.write(kMagic, kMagicSize);
  out.write(prefix, sizeof(prefix));
  out << header;
  out.write(reinterpret_cast<const char*>(array.data.data()),
            static_cast<std::streamsize>(array.data.size() * sizeof(float)));
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

Array read_npy(const std::string& path) {
  const std::vector<uint8_t> file = read_bytes(path);
  const HeaderSpan span = header_span(file, path);
  const std::string header(reinterpret_cast<const char*>(file.data()) + span.begin, span.size);
  const std::string type = header_value(header, "descr", path);
  if (type != "'<f4'") {
    fail("'{}' holds {}, not float32 ('<f4'); save it with x.astype('float32')", path,
         printable(type));
  }
  if (header_value(header, "fortran_order", path) != "False") {
    fail("'{}' is in Fortran order; save it with numpy.ascontiguousarray", path);
  }
  Array array;
  array.shape = parse_shape(header_value(header, "shape", path), path);
  const size_t bytes = file.size() - span.begin - span.size;
  const size_t count = element_count(array.shape, bytes / sizeof(float), path);
  if (count * sizeof(float) != bytes) {
    fail("'{}' has {} bytes of data; shape {} needs {}", path, bytes, shape_text(array.shape),
         count * sizeof(float));
  }
  array.data.resize(count);
  if (count > 0) std::memcpy(array.data.data(), file.data() + span.begin + span.size, bytes);
  return array;
}

void write_npy(const std::vector<NamedArray>& arrays) {
  std::vector<FileWriter> files;
  files.reserve(arrays.size());
  for (const NamedArray& named : arrays) {
    files.push_back({named.path, [&named](std::ostream& out) { write_array(out, named.array); }});
  }
  write_atomically(files);
}

void write_npy(const std::string& path, const Array& array) {
  write_atomically(path, [&](std::ostream& out) { write_array(out, array); });
}

}  // namespace soft
