// The parameters of a request by name, from its query and from the fields of its body: checked,
// with errors that name what is wrong.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace soft {

// "a+b%20c" -> "a b c"; usage errors for broken escapes.
std::string percent_decoded(std::string_view text);

class Parameters {
 public:
  // "top=5&size=64"
  void add_query(std::string_view query);
  void add(std::string name, std::string value);  // a name given twice is refused

  // Refuses names that are not among these.
  void allow(const std::vector<std::string_view>& names) const;

  struct Range {
    int least, most, otherwise;
  };
  int integer(std::string_view name, const Range& range) const;
  int required_integer(std::string_view name, int least, int most) const;
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  bool is(std::string_view name, std::string_view value) const;
  std::string text(std::string_view name) const;  // "" when it is not given

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace soft
