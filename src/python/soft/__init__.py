"""Softmax-free vision transformers with linear complexity.

    import soft
    model = soft.load()                      # the model in the box; or a weights file
    print(model.classify("cat.jpg", top=3))  # [("cat", 0.87), ...]

Pictures are paths, bytes, PIL pictures or uint8 arrays [H, W, 3]; prepared numbers are float32
arrays [N, 3, H, W]. Whatever goes wrong is a soft.Error.
"""

from ._soft import Error, Model, __version__, info, load, log_to, models

__all__ = ["Error", "Model", "info", "load", "log_to", "models"]
