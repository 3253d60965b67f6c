// docs/training.md shows every setting with the values that the program has.
#include <fmt/format.h>

#include <cstdlib>

#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

#if SOFT_WITH_TORCH

const std::string kPage = SOFT_SOURCE_DIR "/docs/training.md";
const std::string kBegin = "SOFT_UPDATE_DOCS=1 -->\n", kEnd = "<!-- end of settings -->";
const std::vector<std::string> kRecipes{"released", "paper", "small", "finetune"};

Json settings_of(const std::string& recipe) {
  const auto outcome = test::run_soft({"train", "--list-settings", "--recipe", recipe, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out);
}

std::string table_of_settings() {
  std::string model = "| model | default | values | meaning |\n|---|---|---|---|\n";
  std::string recipe =
      "| recipe | released | paper | small | finetune | values | meaning |\n"
      "|---|---|---|---|---|---|---|\n";
  std::vector<Json> columns;
  for (const std::string& name : kRecipes) columns.push_back(settings_of(name));
  for (size_t i = 0; i < columns[0].size(); ++i) {
    const auto text = [&](size_t column, const char* key) {
      return columns[column][i][key].get<std::string>();
    };
    const std::string rest = fmt::format("{} | {} |\n", text(0, "values"), text(0, "meaning"));
    if (text(0, "owner") == "model") {
      model += fmt::format("| `{}` | {} | {}", text(0, "key"), text(0, "value"), rest);
      continue;
    }
    recipe += fmt::format("| `{}` | {} | {} | {} | {} | {}", text(0, "key"), text(0, "value"),
                          text(1, "value"), text(2, "value"), text(3, "value"), rest);
  }
  return model + "\n" + recipe;
}

TEST(TrainingPage, TableOfSettingsIsCurrent) {
  std::string page = test::read_file(kPage);
  const size_t begin = page.find(kBegin), end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t from = begin + kBegin.size();
  const std::string table = table_of_settings();
  if (std::getenv("SOFT_UPDATE_DOCS") != nullptr) {
    test::write_file(kPage, page.replace(from, end - from, table));
    page = test::read_file(kPage);
  }
  EXPECT_EQ(page.substr(from, page.find(kEnd) - from), table)
      << "run this test with SOFT_UPDATE_DOCS=1 to make it so";
}

#endif

}  // namespace
}  // namespace soft
