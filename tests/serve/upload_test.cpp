// The ways in which a picture and its parameters arrive.
#include "serve/upload.h"

#include "serve/fixture.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Form, KeepsThePartsByteByByte) {
  const std::string odd = std::string("\r\n--front\0\xff\r\n", 13);
  const std::string body = form({{"image", odd}, {"top", "3"}, {"empty", ""}});
  const auto parts = parse_form(kFormType, body);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].content, odd);
  EXPECT_EQ(parts[1].content, "3");
  EXPECT_EQ(parts[2].content, "");
}

TEST(Form, ReadsWhatSomeClientsWrite) {
  const std::string type = "Multipart/Form-Data; charset=utf-8; Boundary=a.b-c";
  const std::string body =
      "preamble\r\n--a.b-c\r\ncontent-disposition:form-data;NAME=image\r\n\r\nx\r\n--a.b-c--";
  const auto parts = parse_form(type, body);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].content, "x");
}

TEST(Form, RefusesWhatIsCutOffOrNameless) {
  const auto complaint = [](const std::string& body) {
    return error_of([&] { parse_form(kFormType, body); });
  };
  const std::string whole = form({{"image", "abc"}});
  for (size_t length = 0; length < whole.size() - 4; ++length) {
    EXPECT_THAT(complaint(whole.substr(0, length)), testing::Not(testing::IsEmpty())) << length;
  }
  EXPECT_THAT(complaint("--frontier\r\nA: b\r\n\r\nx\r\n--frontier--"), HasSubstr("no name"));
  EXPECT_THAT(complaint("--frontier\r\nx\r\n--frontier--"), HasSubstr("no empty line"));
  std::vector<std::pair<std::string, std::string>> many(40, {"a", "b"});
  EXPECT_THAT(complaint(form(many)), HasSubstr("more than 32 parts"));
}

TEST(Base64, GivesBackWhatWasEncoded) {
  std::string bytes;
  for (int i = 0; i < 260; ++i) {
    EXPECT_EQ(base64_decoded(base64(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Upload, TakesParametersFromQueryFormAndJson) {
  const auto top = [](const Request& request) {
    return read_upload(request, 1).parameters.required_integer("top", 1, 9);
  };
  EXPECT_EQ(top({"POST", "/v1/classify?top=%33", "", "x"}), 3);
  EXPECT_EQ(top({"POST", "/", kFormType, form({{"image", "x"}, {"top", "4"}})}), 4);
  EXPECT_EQ(top({"POST", "/", "application/json", R"({"image":"QQ==","top":5})"}), 5);
  EXPECT_EQ(top({"POST", "/", "application/json", R"({"image":"QQ==","top":"6"})"}), 6);
  EXPECT_THAT(error_of([&] {
                top({"POST", "/?top=3", "application/json", R"({"image":"QQ==","top":5})"});
              }),
              HasSubstr("'top' is given twice"));
}

TEST(Upload, RefusesMoreParametersThanAnyoneNeeds) {
  std::string query = "/?a0=1";
  for (int i = 1; i < 100; ++i) query += "&a" + std::to_string(i) + "=1";
  EXPECT_THAT(error_of([&] {
                read_upload({"POST", query, "", "x"}, 1);
              }),
              HasSubstr("more than 32 parameters"));
}

// Short ones above all: they live inside their strings, which move with whoever holds them.
TEST(Upload, OwnsItsPictures) {
  const auto moved = [](const Request& request) {
    Upload upload = read_upload(request, 4);
    const std::vector<Upload> elsewhere{std::move(upload)};
    return elsewhere.front().items;
  };
  EXPECT_EQ(moved({"POST", "/", "", "abc"}), std::vector<std::string>{"abc"});
  EXPECT_EQ(moved({"POST", "/", kFormType, form({{"image", "abc"}, {"image", "d"}})}),
            (std::vector<std::string>{"abc", "d"}));
  EXPECT_EQ(moved({"POST", "/", "application/json", R"({"image":"YWJj"})"}),
            std::vector<std::string>{"abc"});
}

}  // namespace
}  // namespace soft
