# The Python module against the program, from many threads, and with input that it must refuse.
# Usage: module_test.py FOLDER_OF_MODULE SOFT WEIGHTS_IN_THE_BOX PHOTO
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

sys.path.insert(0, sys.argv[1])
import soft

SOFT, BOXED, PHOTO = sys.argv[2:5]


def program(*arguments):
    return subprocess.run([SOFT, *arguments], check=True, capture_output=True).stdout


def noise(*shape):
    return numpy.random.default_rng(1).standard_normal(shape, dtype=numpy.float32)


class Answers(unittest.TestCase):
    def setUp(self):
        self.model = soft.load()

    def test_logits_and_features_are_the_programs_bit_for_bit(self):
        pictures = noise(3, 3, 32, 48)
        with tempfile.TemporaryDirectory() as folder:
            given, logits = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
            numpy.save(given, pictures)
            program("forward", "--weights", BOXED, "--input", given, "--output", logits, "--features")
            self.assertEqual(self.model.logits(pictures).tobytes(), numpy.load(logits).tobytes())
            for stage, own in enumerate(self.model.features(pictures), 1):
                theirs = numpy.load(os.path.join(folder, f"y.{stage}.npy"))
                self.assertEqual(own.shape, theirs.shape)
                self.assertEqual(own.tobytes(), theirs.tobytes())

    def test_classes_and_vectors_of_a_picture_are_the_programs(self):
        top = json.loads(program("classify", "--json", "--top", "3", PHOTO))[0]["top"]
        self.assertEqual(self.model.classify(PHOTO, top=3), [(t["name"], t["p"]) for t in top])
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "v.npy")
            program("embed", "--out", out, PHOTO)
            self.assertEqual(self.model.embed(PHOTO).tobytes(), numpy.load(out).tobytes())

    def test_a_map_is_the_programs(self):
        answer = json.loads(program("attend", "--query", "160,120", "--stage", "1", "--head", "1",
                                    "--size", "64", "--json", PHOTO))
        own = self.model.attend(PHOTO, 160, 120, stage=1, size=64)
        self.assertEqual(list(own.shape), answer["grid"])
        self.assertEqual(own.ravel().tolist(), answer["rows"][0]["row"])

    def test_a_picture_is_the_same_in_every_form(self):
        from pathlib import Path
        from PIL import Image

        expected = self.model.logits(PHOTO)
        bytes_of_it = Path(PHOTO).read_bytes()
        pixels = numpy.asarray(Image.open(PHOTO).convert("RGB"))
        forms = [Path(PHOTO), bytes_of_it, bytearray(bytes_of_it), memoryview(bytes_of_it),
                 Image.open(PHOTO), pixels, numpy.asfortranarray(pixels)]
        for form in forms:
            self.assertEqual(self.model.logits(form).tobytes(), expected.tobytes(), type(form))
        self.assertEqual(self.model.logits([PHOTO, pixels]).shape, (2, 10))
        self.assertEqual(self.model.logits(numpy.stack([pixels, pixels])).shape, (2, 10))
        self.assertEqual(len(self.model.classify([PHOTO, PHOTO], top=2)), 2)

    def test_numbers_that_do_not_lie_in_order_are_copied(self):
        pictures = noise(2, 3, 32, 32)
        expected = self.model.logits(pictures).tobytes()
        self.assertEqual(self.model.logits(numpy.asfortranarray(pictures)).tobytes(), expected)
        self.assertEqual(self.model.logits(pictures.astype(">f4")).tobytes(), expected)

    def test_answers_own_their_memory(self):
        kept = self.model.embed(noise(4, 3, 32, 32))
        copy = kept.copy()
        for _ in range(20):
            self.model.embed(noise(4, 3, 32, 32))
        del self.model
        self.assertEqual(kept.tobytes(), copy.tobytes())
        self.assertTrue(kept.flags.writeable)

    def test_eight_threads_at_once_get_the_same_bits(self):
        pictures = noise(2, 3, 32, 32)
        expected = self.model.logits(pictures).tobytes()
        wrong = []

        def ask():
            for _ in range(10):
                if self.model.logits(pictures).tobytes() != expected:
                    wrong.append("logits")
                if len(self.model.classify(PHOTO)) != 5:
                    wrong.append("classes")

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_table_and_the_card(self):
        self.assertIn("soft-huge", soft.models())
        self.assertEqual(soft.info("soft-tiny")["params"], 13069056)
        fewer = soft.info("soft-tiny", size=(224, 160), landmarks=36, value_path=False)
        self.assertLess(fewer["macs"], soft.info("soft-tiny")["macs"])
        self.assertEqual(fewer["settings"]["value_path"], "off")
        self.assertEqual(self.model.info["classes"], 10)
        self.assertEqual(len(self.model.class_names), 10)
        self.assertEqual((self.model.engine, self.model.image_size), ("native", 32))
        self.assertIn("soft-nano", repr(self.model))
        self.assertEqual("soft " + soft.__version__, program("--version").decode().strip())

    def test_the_log_goes_where_it_is_told(self):
        lines = []
        soft.log_to(lines.append)
        soft.load("soft-pico")
        soft.log_to(None)
        self.assertEqual(len(lines), 1)
        self.assertIn("random", lines[0])

    def test_everything_has_a_docstring(self):
        for thing in (soft, soft.load, soft.info, soft.models, soft.Model, soft.Model.classify,
                      soft.Model.logits, soft.Model.embed, soft.Model.features, soft.Model.attend):
            self.assertTrue(thing.__doc__, thing)


class Readme(unittest.TestCase):
    def test_the_lines_of_the_readme_run(self):
        root = os.path.dirname(os.path.dirname(BOXED))
        with open(os.path.join(root, "README.md"), encoding="utf-8") as readme:
            lines = readme.read().split("```python\n")[1].split("```")[0]
        self.assertEqual(len(lines.splitlines()), 5)
        os.chdir(root)
        scope = {}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(lines, "README.md", "exec"), scope)
        self.assertIn("('cat', 0.", out.getvalue())
        self.assertEqual(scope["vectors"].shape, (1, 192))


class Refusals(unittest.TestCase):
    def refused(self, part, action, *arguments, **keywords):
        with self.assertRaises(soft.Error) as caught:
            action(*arguments, **keywords)
        self.assertIn(part, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_of_what_cannot_be_opened(self):
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            file.write(b"nonsense")
            file.flush()
            self.refused(file.name, soft.load, file.name)
        self.refused("missing.pth", soft.load, "/nowhere/missing.pth")
        self.refused("soft-tiny", soft.load, "soft-tinny")
        self.refused("steam", soft.load, engine="steam")
        self.refused("colour", soft.load, colour="red")
        self.refused("soft-tiny", soft.info, "soft-tinny")
        self.refused("colour", soft.info, "soft-tiny", colour="red")
        self.refused("size is a number", soft.info, "soft-tiny", size="big")
        self.refused("8x8", soft.info, "soft-tiny", size=8)

    def test_of_arrays_that_are_none_of_its(self):
        model = soft.load()
        self.refused("float64 1x3x32x32", model.logits, noise(1, 3, 32, 32).astype("float64"))
        self.refused("int32 1x3x32x32", model.embed, numpy.zeros((1, 3, 32, 32), numpy.int32))
        self.refused("float32 3x32x32", model.logits, noise(3, 32, 32))
        self.refused("float32 1x1x32x32", model.features, noise(1, 1, 32, 32))
        self.refused("float32 0x3x32x32", model.logits, noise(0, 3, 32, 32))
        self.refused("16x32", model.logits, noise(1, 3, 16, 32))
        self.refused("uint8 32x32", model.logits, numpy.zeros((32, 32), numpy.uint8))
        self.refused("uint8 32x32x4", model.classify, numpy.zeros((32, 32, 4), numpy.uint8))
        self.refused("uint8 32x32x4", model.logits, numpy.zeros((2, 32, 32, 4), numpy.uint8))
        self.refused("a single number", model.logits, numpy.array(1, numpy.float32))
        self.refused("not finite", model.logits, numpy.full((1, 3, 32, 32), numpy.nan, numpy.float32))
        self.refused("at least one", model.logits, [])

    def test_of_pictures_that_are_none(self):
        model = soft.load()
        self.refused("not int", model.classify, 7)
        self.refused("not NoneType", model.classify, None)
        self.refused("the picture", model.classify, b"hello")
        self.refused("/no/such.png", model.classify, "/no/such.png")
        self.refused("at least one", model.classify, PHOTO, top=0)
        self.refused("451,0", model.attend, PHOTO, 451, 0)
        self.refused("stage 9", model.attend, PHOTO, 0, 0, stage=9)
        self.refused("head", model.attend, PHOTO, 0, 0, head=0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
