// Between Python's objects and the library's: pictures and numbers in, arrays out.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <soft/soft.h>

#include <string>

namespace soft::python {

namespace py = pybind11;

// A path, bytes, a PIL picture or a uint8 array [H, W, 3].
Picture picture_of(const py::handle& object);

// What a model reads, and the Python object whose memory it reads.
struct Given {
  Input input;
  py::object keep;
};

// A picture, a list of them, a uint8 array [N, H, W, 3], or prepared numbers: float32 [N, 3, H, W],
// which are not copied where they lie in order.
Given input_of(const py::object& object);
bool is_one_picture(const py::handle& object);

py::array array_of(Tensor tensor);  // takes the memory over

Settings settings_of(const py::dict& settings);  // True is "on"
py::dict dict_of(const ModelCard& card, const Cost& cost);

}  // namespace soft::python
