// A small model to serve, pictures to send it, and the bodies that carry them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "image/codec.h"
#include "serve/api.h"
#include "support/support.h"

namespace soft::test {

inline ServedModel small_model(const std::string& name = "soft-nano", const std::string& box = "") {
  ModelOptions options;
  options.model = name;
  return ServedModel(Runner(load_model(options, 1), Engine::kNative), box, "about " + box);
}

// 48 x 40 pixels unless asked for another width.
inline std::string picture_png(int width = 48) {
  Image image(width, 40);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * i % 251);
  const std::vector<uint8_t> png = encode_png(image);
  return {png.begin(), png.end()};
}

inline Json json_of(const Response& response) { return Json::parse(response.body); }

inline const std::string kFormType = "multipart/form-data; boundary=\"frontier\"";

inline std::string form(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string body;
  for (const auto& [name, content] : parts) {
    body += "--frontier\r\nContent-Disposition: form-data; name=\"" + name +
            "\"; filename=\"a;b.png\"\r\nContent-Type: image/png\r\n\r\n" + content + "\r\n";
  }
  return body + "--frontier--\r\n";
}

inline std::string base64(const std::string& bytes) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace soft::test
