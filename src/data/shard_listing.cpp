#include "data/shard_listing.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"
#include "data/packed.h"
#include "data/tar_reader.h"
#include "image/picture_file.h"

namespace soft {
namespace {

constexpr int64_t kLargestLabelFile = 1 << 20;

// A member's name: what its sample's members share, and what it is.
struct MemberName {
  std::string_view key;
  std::string ending;
};

MemberName split_name(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos) return {name, ""};
  std::string ending(name.substr(dot));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {name.substr(0, dot), ending};
}

// ".jpg", but not ".mask.png".
bool is_picture_ending(const std::string& ending) {
  return has_picture_ending(ending) && ending.find('.', 1) == std::string::npos;
}

int checked_label(int64_t label) {
  if (label < 0 || label >= kMostClasses) {
    fail("the label {} is not in 0 … {}", label, kMostClasses - 1);
  }
  return static_cast<int>(label);
}

int label_of_text(std::string_view text) {
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  int64_t label = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc() || stop != text.data() + text.size()) {
    fail("the label '{}' is no number", printable(text.substr(0, 40)));
  }
  return checked_label(label);
}

int label_of_json(const std::string& text) {
  const Json json = parse_json(text, "its .json");
  for (const char* key : {"cls", "label"}) {
    if (!json.is_object() || !json.contains(key)) continue;
    if (!json.at(key).is_number_integer()) fail("\"{}\" in its .json is no whole number", key);
    return checked_label(json.at(key).get<int64_t>());
  }
  fail("its .json has neither \"cls\" nor \"label\"");
}

// What has been seen of the sample whose members are passing by.
struct Sample {
  std::string key{};
  std::optional<TarMember> picture{};
  std::optional<int> label{};
  std::string defect{};
  bool named_label = false;  // by .cls, which counts more than .json

  bool concerns_us() const { return picture || label || !defect.empty(); }
};

class Lister {
 public:
  explicit Lister(const std::string& path) : reader_(path) {}

  ShardListing list() {
    TarMember member;
    while (reader_.next(member)) {
      const MemberName name = split_name(member.name);
      if (name.key != sample_.key) finish_sample(name.key);
      take(member, name.ending);
    }
    finish_sample("");
    listing_.complaints = reader_.complaints();
    if (left_out_ > 0) {
      listing_.complaints.push_back(
          left_out_ == 1
              ? fmt::format("a sample is left out: {}", first_)
              : fmt::format("{} samples are left out; the first: {}", left_out_, first_));
    }
    return std::move(listing_);
  }

 private:
  void take(const TarMember& member, const std::string& ending) {
    if (is_picture_ending(ending) && !sample_.picture) sample_.picture = member;
    const bool text = ending == ".cls";
    if (!text && (ending != ".json" || sample_.named_label)) return;
    try {
      if (member.size > kLargestLabelFile) fail("a label of {} bytes", member.size);
      const std::string content = reader_.read(member);
      sample_.label = text ? label_of_text(content) : label_of_json(content);
      sample_.named_label = text;
    } catch (const Error& error) {
      if (text || !sample_.label) sample_.defect = error.what();
    }
  }

  void finish_sample(std::string_view next) {
    if (sample_.picture && sample_.label) {
      listing_.names.add(sample_.picture->name);
      listing_.offsets.push_back(sample_.picture->offset);
      listing_.sizes.push_back(sample_.picture->size);
      listing_.labels.push_back(*sample_.label);
    } else if (sample_.concerns_us() && left_out_++ == 0) {
      const char* missing = sample_.picture ? "has no label (.cls or .json)" : "has no picture";
      first_ = fmt::format("'{}' {}", shown(sample_.key), missing);
      if (!sample_.defect.empty())
        first_ = fmt::format("'{}': {}", shown(sample_.key), sample_.defect);
    }
    sample_ = Sample{std::string(next)};
  }

  TarReader reader_;
  ShardListing listing_;
  Sample sample_;
  int64_t left_out_ = 0;
  std::string first_;
};

}  // namespace

ShardListing list_shard(const std::string& path) { return Lister(path).list(); }

std::string pack(const ShardListing& listing) {
  PackedWriter writer;
  writer.number(listing.labels.size());
  for (int64_t i = 0; i < listing.size(); ++i) {
    writer.text(listing.names[i]);
    writer.number(static_cast<uint64_t>(listing.offsets[i]));
    writer.number(static_cast<uint64_t>(listing.sizes[i]));
    writer.number(static_cast<uint64_t>(listing.labels[i]));
  }
  writer.number(listing.complaints.size());
  for (const std::string& complaint : listing.complaints) writer.text(complaint);
  return writer.take();
}

std::optional<ShardListing> unpack_shard(std::string_view bytes) {
  PackedReader reader(bytes);
  ShardListing listing;
  for (uint64_t left = reader.number(); reader.ok() && left > 0; --left) {
    listing.names.add(reader.text());
    listing.offsets.push_back(reader.whole());
    listing.sizes.push_back(reader.whole());
    const uint64_t label = reader.number();
    if (label >= kMostClasses || listing.offsets.back() < 0 || listing.sizes.back() < 0) return {};
    listing.labels.push_back(static_cast<int>(label));
  }
  for (uint64_t left = reader.number(); reader.ok() && left > 0; --left) {
    listing.complaints.emplace_back(reader.text());
  }
  if (!reader.at_end()) return {};
  return listing;
}

}  // namespace soft
