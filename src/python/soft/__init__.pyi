from os import PathLike
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, overload

import numpy
from numpy.typing import NDArray

__version__: str

# A path, the bytes of a JPEG, PNG or WebP file, a PIL picture, or pixels [H, W, 3].
Picture = Union[str, PathLike, bytes, bytearray, memoryview, NDArray[numpy.uint8], Any]
# One, several, or numbers as the model reads them: float32 [N, 3, H, W].
Pictures = Union[Picture, Sequence[Picture], NDArray[numpy.float32]]
Floats = NDArray[numpy.float32]
Size = Union[int, Tuple[int, int]]
Setting = Union[str, int, float, bool]

class Error(Exception):
    """What is wrong, which value, and what to do, in one line."""

class Model:
    """A model that answers; may be asked from several threads."""

    @property
    def name(self) -> str: ...
    @property
    def engine(self) -> str: ...
    @property
    def image_size(self) -> int: ...
    @property
    def class_names(self) -> List[str]: ...
    @property
    def info(self) -> Dict[str, Any]: ...
    @overload
    def classify(self, picture: Picture, top: int = 5) -> List[Tuple[str, float]]: ...
    @overload
    def classify(
        self, picture: Union[Sequence[Picture], Floats], top: int = 5
    ) -> List[List[Tuple[str, float]]]: ...
    def logits(self, pictures: Pictures) -> Floats: ...
    def embed(self, pictures: Pictures) -> Floats: ...
    def features(self, pictures: Pictures) -> List[Floats]: ...
    def attend(
        self,
        picture: Picture,
        x: int,
        y: int,
        stage: int = 0,
        layer: int = 0,
        head: int = 1,
        size: Optional[Size] = None,
    ) -> Floats: ...

def models() -> List[str]: ...
def info(name: str, size: Optional[Size] = None, **settings: Setting) -> Dict[str, Any]: ...
def load(
    path: Union[str, PathLike] = "",
    *,
    engine: str = "",
    model: str = "",
    weights_key: str = "",
    size: int = 0,
    threads: int = 0,
    seed: int = 0,
    **settings: Setting,
) -> Model: ...
def log_to(sink: Optional[Callable[[str], None]]) -> None: ...
