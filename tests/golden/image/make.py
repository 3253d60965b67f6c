#!/usr/bin/env python3
"""Writes the tables and small picture files beside it, with Pillow 9.4 as the judge. The tests need
only the results. A picture is told by its FNV-1a hash over the RGB bytes."""
import os
import random

from PIL import Image, ImageEnhance, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
FILL = (124, 116, 104)
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}


def fnv1a(image):
    value = 0xCBF29CE484222325
    for byte in image.tobytes():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def noise(width, height, low=0, high=256):
    state, values = 31 * width + height, []
    for _ in range(3 * width * height):
        state = (1664525 * state + 1013904223) % 2**32
        values.append(low + (state >> 24) * (high - low) // 256)
    return Image.frombytes("RGB", (width, height), bytes(values))


def source(text):
    kind, rest = text.split(":")
    if kind == "photo":
        return Image.open(os.path.join(ROOT, "data", "photos", rest)).convert("RGB")
    if kind == "cat":
        return source("photo:cat_chelsea.png").crop((150, 80, 246, 176))
    width, height = map(int, rest.split("x"))
    return noise(width, height, 90, 130) if kind == "faint" else noise(width, height)


def painting(width, height):
    """Smooth, so that lossy files stay small."""
    image = Image.new("RGB", (width, height))
    image.putdata([(x * 255 // width, y * 255 // height, (x * y) % 256 // 2 + 64)
                   for y in range(height) for x in range(width)])
    return image


def write_files():
    base = painting(37, 29)

    def save(name, image, **options):
        image.save(os.path.join(HERE, name), **options)
        return name

    alpha = base.copy()
    alpha.putalpha(base.convert("L"))
    other = ImageOps.invert(base)
    return [
        save("444.jpg", base, quality=90, subsampling=0),
        save("422.jpg", base, quality=80, subsampling=1),
        save("420.jpg", base, quality=60, subsampling=2),
        save("progressive.jpg", base, quality=70, progressive=True),
        save("grey.jpg", base.convert("L"), quality=80),
        save("cmyk.jpg", base.convert("CMYK"), quality=80),
        save("palette.png", base.quantize(50)),
        save("palette_alpha.png", alpha.quantize(30)),
        save("grey16.png", wide_grey()),
        save("lossy.webp", base, quality=60),
        save("lossless.webp", base, lossless=True),
        save("lossy_alpha.webp", alpha, quality=60),
        save("lossless_alpha.webp", alpha, lossless=True, exact=True),
        save("animated.webp", base, save_all=True, append_images=[other], lossless=True),
    ]


def write_table(name, head, rows):
    with open(os.path.join(HERE, name), "w", encoding="ascii") as out:
        out.write("\n".join(["# " + head] + [" ".join(map(str, row)) for row in rows]) + "\n")


def wide_grey():
    image = Image.new("I", (6, 1))
    image.putdata([0, 1, 255, 256, 0x1234, 65535])
    return image


def decode_rows():
    paths = [f"tests/golden/image/{name}" for name in write_files()]
    paths += [f"data/photos/{name}" for name in
              ("astronaut.png", "cat_chelsea.png", "coffee_cup.png", "rocket.jpg")]
    for path in paths:
        image = Image.open(os.path.join(ROOT, path)).convert("RGB")
        yield path, *image.size, fnv1a(image)


def resize_rows():
    draw = random.Random(7)
    sizes = [(1, 1), (1, 60), (45, 1), (2, 3), (31, 29), (64, 48), (97, 61), (17, 120)]
    for index in range(48):
        width, height = sizes[index % len(sizes)]
        to = draw.randint(1, 90), draw.randint(1, 90)
        box = (0, 0, width, height)
        if index % 2:
            left, right = sorted(draw.uniform(0, width) for _ in range(2))
            top, bottom = sorted(draw.uniform(0, height) for _ in range(2))
            box = (left, top, right, bottom)
        name = draw.choice(sorted(FILTERS))
        out = source(f"noise:{width}x{height}").resize(to, FILTERS[name], box=box)
        yield f"noise:{width}x{height}", *to, name, *map(repr, box), fnv1a(out)


def evaluation_rows():
    names = [f"photo:{name}" for name in ("rocket.jpg", "cat_chelsea.png", "coffee_cup.png")]
    names += ["noise:451x1", "noise:1x300", "noise:1x1", "noise:31x29", "noise:223x225"]
    for name in names:
        for short, size in ((248, 224), (256, 224), (35, 32), (32, 32)):
            image = source(name)
            width, height = image.size
            to = (short, int(short * height / width)) if width <= height else (
                int(short * width / height), short)
            left, top = round((to[0] - size) / 2), round((to[1] - size) / 2)
            out = image.resize(to, Image.BICUBIC).crop((left, top, left + size, top + size))
            yield name, short, size, fnv1a(out)


def operate(image, name, argument, resample):
    def move(*matrix):
        return image.transform(image.size, Image.AFFINE, matrix, resample, fillcolor=FILL)

    def enhance(kind):
        return kind(image).enhance(argument)

    return {
        "auto_contrast": lambda: ImageOps.autocontrast(image),
        "equalize": lambda: ImageOps.equalize(image),
        "invert": lambda: ImageOps.invert(image),
        "rotate": lambda: image.rotate(argument, resample, fillcolor=FILL),
        "posterize": lambda: ImageOps.posterize(image, int(argument)),
        "solarize": lambda: ImageOps.solarize(image, argument),
        "solarize_add": lambda: image.point(
            [min(255, i + int(argument)) if i < 128 else i for i in range(256)] * 3),
        "color": lambda: enhance(ImageEnhance.Color),
        "contrast": lambda: enhance(ImageEnhance.Contrast),
        "brightness": lambda: enhance(ImageEnhance.Brightness),
        "sharpness": lambda: enhance(ImageEnhance.Sharpness),
        "shear_x": lambda: move(1, argument, 0, 0, 1, 0),
        "shear_y": lambda: move(1, 0, 0, argument, 1, 0),
        "translate_x": lambda: move(1, 0, argument, 0, 1, 0),
        "translate_y": lambda: move(1, 0, 0, 0, 1, argument),
    }[name]()


def operation_rows():
    factors, shears, shifts = (0, 0.19, 0.73, 1, 1.81), (0.27, -0.27, 0.1), (38, -38, 4.32, -0.5)
    arguments = {
        "auto_contrast": (0,), "equalize": (0,), "invert": (0,),
        "rotate": (27, -27, 3.3, 90, 180, 0), "posterize": (0, 1, 3, 4, 8),
        "solarize": (0, 26, 128, 256), "solarize_add": (0, 50, 99, 110),
        "color": factors, "contrast": factors, "brightness": factors, "sharpness": factors,
        "shear_x": shears, "shear_y": shears, "translate_x": shifts, "translate_y": shifts,
    }
    moving = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")
    for name, values in arguments.items():
        for text in ("cat:96x96", "noise:33x20", "faint:21x34", "noise:1x5", "noise:2x2"):
            for argument in values:
                for filter_name in sorted(FILTERS) if name in moving else ["bilinear"]:
                    out = operate(source(text), name, argument, FILTERS[filter_name])
                    yield name, text, argument, filter_name, fnv1a(out)


if __name__ == "__main__":
    write_table("decode.txt", "file width height hash", decode_rows())
    write_table("resize.txt", "source width height filter left top right bottom hash", resize_rows())
    write_table("evaluation.txt", "source short_side size hash", evaluation_rows())
    write_table("operation.txt", "operation source argument filter hash", operation_rows())
