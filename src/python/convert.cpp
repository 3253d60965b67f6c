#include "python/convert.h"

namespace soft::python {
namespace {

using std::string;

[[noreturn]] void refuse(const string& message) { throw Error(Fault::kUsage, message); }

string type_name(const py::handle& object) {
  return py::str(py::type::of(object).attr("__name__"));
}

string shape_text(const py::array& array) {
  string text;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    text += (i > 0 ? "x" : "") + std::to_string(array.shape(i));
  }
  return text.empty() ? "a single number" : text;
}

string kind_of(const py::array& array) {
  return string(py::str(array.dtype())) + " " + shape_text(array);
}

bool is_bytes(const py::array& array) {
  return array.dtype().kind() == 'u' && array.itemsize() == 1;
}
bool is_floats(const py::array& array) {
  return array.dtype().kind() == 'f' && array.itemsize() == 4;
}

Picture picture_from(const py::array& array) {
  if (!is_bytes(array) || array.ndim() != 3 || array.shape(2) != 3) {
    refuse("the array is " + kind_of(array) + "; a picture is uint8 height x width x 3");
  }
  const auto dense = py::array_t<uint8_t, py::array::c_style | py::array::forcecast>(array);
  return Picture(dense.data(), dense.shape(1), dense.shape(0));
}

Picture picture_from_buffer(const py::buffer& buffer) {
  const py::buffer_info info = buffer.request();
  if (info.itemsize != 1 || info.ndim != 1 || (info.size > 0 && info.strides[0] != 1)) {
    refuse("bytes of a picture must lie in a row; this " + type_name(buffer) +
           " is something else");
  }
  const py::gil_scoped_release others_go_on;
  return Picture::decode(info.ptr, static_cast<size_t>(info.size));
}

// Turned as EXIF says, like the same picture from its file.
Picture picture_from_pil(const py::handle& object) {
  const py::object upright =
      py::module_::import("PIL.ImageOps").attr("exif_transpose")(object).attr("convert")("RGB");
  const py::bytes bytes = upright.attr("tobytes")();
  const auto size = upright.attr("size").cast<std::pair<int64_t, int64_t>>();
  const std::string_view rgb = bytes;
  return Picture(reinterpret_cast<const uint8_t*>(rgb.data()), size.first, size.second);
}

bool is_path(const py::handle& object) {
  return py::isinstance<py::str>(object) || py::hasattr(object, "__fspath__");
}
bool is_pil(const py::handle& object) {
  return py::hasattr(object, "convert") && py::hasattr(object, "tobytes") &&
         py::hasattr(object, "size");
}
bool is_list(const py::handle& object) {
  return py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object);
}

Given numbers_of(const py::array& array) {
  if (array.ndim() != 4 || array.shape(1) != 3 || array.shape(0) < 1) {
    refuse("the array is " + kind_of(array) + "; a model reads float32 N x 3 x H x W, with at " +
           "least one picture");
  }
  const auto dense = py::array_t<float, py::array::c_style>(array);
  return {Input(dense.data(), dense.shape(0), dense.shape(2), dense.shape(3)), dense};
}

Given pictures_of(const py::sequence& objects) {
  std::vector<Picture> pictures;
  for (const py::handle& object : objects) pictures.push_back(picture_of(object));
  return {Input(std::move(pictures)), py::none()};
}

Given given_array(const py::array& array) {
  if (is_floats(array)) return numbers_of(array);
  if (is_bytes(array) && array.ndim() == 4) return pictures_of(array.cast<py::list>());
  if (is_bytes(array)) return {Input(picture_from(array)), py::none()};
  refuse("the array is " + kind_of(array) +
         "; a model reads float32 N x 3 x H x W (array.astype('float32')), or pictures as uint8 "
         "height x width x 3");
}

string text_of(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "on" : "off";
  return py::str(value);
}

}  // namespace

bool is_one_picture(const py::handle& object) {
  if (py::isinstance<py::array>(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    return is_bytes(array) && array.ndim() == 3;
  }
  return !is_list(object);
}

Picture picture_of(const py::handle& object) {
  if (is_path(object)) {
    const string path = py::bytes(py::module_::import("os").attr("fsencode")(object));
    const py::gil_scoped_release others_go_on;
    return Picture::read(path);
  }
  if (py::isinstance<py::array>(object)) {
    return picture_from(py::reinterpret_borrow<py::array>(object));
  }
  if (is_pil(object)) return picture_from_pil(object);
  if (PyObject_CheckBuffer(object.ptr()) != 0) {
    return picture_from_buffer(py::reinterpret_borrow<py::buffer>(object));
  }
  refuse("a picture is a path, bytes, a PIL picture or a uint8 array of height x width x 3, not " +
         type_name(object));
}

Given input_of(const py::object& object) {
  if (py::isinstance<py::array>(object)) return given_array(object);
  if (is_list(object)) return pictures_of(object);
  return {Input(picture_of(object)), py::none()};
}

py::array array_of(Tensor tensor) {
  auto* data = new std::vector<float>(std::move(tensor.data));
  const py::capsule owner(data, [](void* it) { delete static_cast<std::vector<float>*>(it); });
  return py::array_t<float>(tensor.shape, data->data(), owner);
}

Settings settings_of(const py::dict& settings) {
  Settings list;
  for (const auto& [key, value] : settings) list.emplace_back(py::str(key), text_of(value));
  return list;
}

py::dict dict_of(const ModelCard& card, const Cost& cost) {
  py::list stages;
  for (const StageCard& stage : card.stages) {
    stages.append(py::dict(py::arg("layers") = stage.layers, py::arg("heads") = stage.heads,
                           py::arg("channels") = stage.channels,
                           py::arg("attention") = stage.attention));
  }
  py::dict settings;
  for (const auto& [key, value] : card.settings) settings[py::str(key)] = value;
  using py::arg;
  return py::dict(arg("name") = card.name, arg("image_size") = card.image_size,
                  arg("classes") = card.classes, arg("params") = cost.params,
                  arg("macs") = cost.macs, arg("macs_with_inverse") = cost.macs_with_inverse,
                  arg("weight_bytes") = cost.weight_bytes,
                  arg("activation_bytes") = cost.activation_bytes, arg("stages") = stages,
                  arg("settings") = settings);
}

}  // namespace soft::python
