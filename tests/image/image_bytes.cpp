// image_bytes FILE: the size on the first line, then the raw RGB bytes; for scripts/check_images.
#include <exception>
#include <iostream>

#include "image/codec.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: image_bytes FILE\n";
    return 2;
  }
  try {
    const soft::Image image = soft::read_image(argv[1]);
    std::cout << image.width << ' ' << image.height << '\n';
    std::cout.write(reinterpret_cast<const char*>(image.rgb.data()),
                    static_cast<std::streamsize>(image.rgb.size()));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return std::cout.flush() ? 0 : 1;
}
