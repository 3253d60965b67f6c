#include "kernels/value_path.h"

#include "kernel_case.h"
#include "kernels/plain/value_path.h"

namespace soft {
namespace {

constexpr ValuePath kPaths[] = {
    {{1, 1}, 1, 1, {1, 1}},    {{1, 1}, 2, 8, {9, 9}},    {{2, 3}, 1, 7, {5, 5}},
    {{5, 4}, 3, 32, {3, 3}},   {{14, 14}, 2, 32, {3, 3}}, {{13, 28}, 1, 32, {5, 5}},
    {{11, 30}, 2, 16, {9, 9}}, {{6, 9}, 2, 64, {3, 7}},   {{4, 5}, 1, 20, {11, 11}},
    {{3, 70}, 1, 12, {1, 3}},  {{37, 1}, 2, 32, {35, 1}}, {{50, 1}, 1, 5, {3, 1}}};

std::string describe(const ValuePath& p) {
  std::ostringstream text;
  text << p.grid.h << "x" << p.grid.w << ", " << p.heads << " heads of " << p.dim << ", kernel "
       << p.kernel.h << "x" << p.kernel.w;
  return text.str();
}

template <class Check>
void for_every_path(const Check& check) {
  test::for_every_target([&] {
    for (const ValuePath& path : kPaths) {
      SCOPED_TRACE(describe(path));
      check(path, path.heads * path.dim);
    }
  });
}

// The work split at an uneven row, as threads would.
template <class Run>
void in_two_parts(const ValuePath& path, const Run& run) {
  const int64_t cut = path.grid.h / 3;
  run(cut, path.grid.h);
  run(0, cut);
}

TEST(ValuePath, AddsThePlainConvolutionForEveryTarget) {
  for_every_path([](const ValuePath& path, int64_t channels) {
    const int64_t n = path.grid.size(), v_stride = channels + 5, y_stride = channels + 2;
    const auto v = test::normal_floats(n * channels, 1), y = test::normal_floats(n * channels, 2);
    const auto kernel = test::normal_floats(path.heads * path.kernel.size(), 3);
    auto expected = test::doubles(y);
    plain::value_path(path, test::doubles(kernel).data(), test::doubles(v).data(), expected.data());
    const auto v_rows = test::spread(v, n, channels, v_stride);
    auto y_rows = test::spread(y, n, channels, y_stride);
    in_two_parts(path, [&](int64_t begin, int64_t end) {
      value_path(path, kernel.data(), {v_rows.data(), v_stride}, {y_rows.data(), y_stride}, begin,
                 end);
    });
    ASSERT_LT(test::distance(y_rows, expected, channels, y_stride), 5e-5);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y_rows[i * y_stride + channels], 99);
  });
}

TEST(ValuePath, AddsThePlainGradientsForEveryTarget) {
  for_every_path([](const ValuePath& path, int64_t channels) {
    const int64_t n = path.grid.size(), stride = channels + 3;
    const auto v = test::normal_floats(n * channels, 1), g = test::normal_floats(n * channels, 2);
    const auto kernel = test::normal_floats(path.heads * path.kernel.size(), 3);
    auto grad_v = test::normal_floats(n * channels, 4), grad_kernel = kernel;
    auto expected_v = test::doubles(grad_v), expected_kernel = test::doubles(grad_kernel);
    plain::value_path_backward(path, test::doubles(kernel).data(), test::doubles(v).data(),
                               test::doubles(g).data(), expected_v.data(), expected_kernel.data());
    const auto v_rows = test::spread(v, n, channels, stride);
    in_two_parts(path, [&](int64_t begin, int64_t end) {
      value_path_backward(path, kernel.data(), {g.data(), channels}, {grad_v.data(), channels},
                          begin, end);
    });
    value_path_backward_kernel(path, {v_rows.data(), stride}, {g.data(), channels},
                               grad_kernel.data(), 0, path.heads);
    ASSERT_LT(test::distance(grad_v, expected_v), 5e-5);
    ASSERT_LT(test::distance(grad_kernel, expected_kernel), 2e-3);
  });
}

TEST(ValuePath, TouchesOnlyTheHeadsItIsAskedFor) {
  const ValuePath path{{5, 6}, 3, 8, {3, 3}};
  const auto v = test::normal_floats(30 * 24, 1), g = test::normal_floats(30 * 24, 2);
  std::vector<float> all(27), some(27);
  value_path_backward_kernel(path, {v.data(), 24}, {g.data(), 24}, all.data(), 0, 3);
  value_path_backward_kernel(path, {v.data(), 24}, {g.data(), 24}, some.data(), 1, 2);
  for (int i = 0; i < 27; ++i) EXPECT_EQ(some[i], i / 9 == 1 ? all[i] : 0);
}

}  // namespace
}  // namespace soft
