"""Image files in strings: PNG, JPEG, GIF and BMP, decoded and encoded, by Pillow and by TensorFlow."""

from __future__ import annotations

import builtins
import io
import struct
import zlib

import numpy as np
import pytest
from op_cases import ints
from PIL import Image

from sgtool import graphcore
from sgtool.graphcore.errors import InternalError, InvalidArgumentError, MissingExtraError, UnimplementedError
from sgtool.graphcore.kernels import image_files, png

Y, X = np.mgrid[0:37, 0:29]
RGB = np.stack([X * 8, Y * 6, X * Y % 255], -1).astype(np.uint8)
RGBA = np.concatenate([RGB, ((X + Y) * 3 % 256).astype(np.uint8)[..., None]], -1)
GRAY = (X * 5 + Y).astype(np.uint8)
NOISE = ints(20, 31, 3, low=0, high=256, dtype=np.uint8)
SMOOTH = np.asarray(Image.fromarray(ints(6, 7, 3, low=0, high=256, dtype=np.uint8)).resize((61, 45)))


def saved(image, kind, **options):
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, kind, **options)
    return buffer.getvalue()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def raw_png(width, height, depth, color, interlaced=False, seed=0):
    """A PNG file of random bytes under random filters."""
    bits = depth * {0: 1, 2: 3, 4: 2, 6: 4}[color]
    rng = np.random.default_rng(seed)
    rows = b""
    for x, y, step_x, step_y in png._PASSES if interlaced else [(0, 0, 1, 1)]:
        length = (max(-(-(width - x) // step_x), 0) * bits + 7) // 8
        for _ in range(-(-(height - y) // step_y) if length else 0):
            rows += bytes([rng.integers(0, 5)]) + rng.integers(0, 256, length).astype(np.uint8).tobytes()
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    return png.SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PALETTE = Image.fromarray(RGB).quantize(20)
PNG = {
    "rgb": saved(RGB, "PNG"),
    "rgba": saved(RGBA, "PNG"),
    "noise": saved(NOISE, "PNG"),
    "gray": saved(GRAY, "PNG"),
    "gray_alpha": saved(Image.fromarray(RGBA[..., [0, 3]], "LA"), "PNG"),
    "bits": saved(Image.fromarray(GRAY).convert("1"), "PNG"),
    "palette": saved(PALETTE, "PNG"),
    "palette_4_bits": saved(Image.fromarray(RGB).quantize(16), "PNG", bits=4),
    "palette_transparent": saved(PALETTE, "PNG", transparency=bytes(range(0, 200, 10))),
    "gray_transparent": saved(GRAY, "PNG", transparency=50),
    "rgb_transparent": saved(RGB, "PNG", transparency=tuple(RGB[3, 4].tolist())),
    "gray_16_bits": saved((X * 2000 + Y * 37).astype(np.uint16), "PNG"),
    **{
        f"raw_{depth}_{color}{'_interlaced' if interlaced else ''}": raw_png(19, 11, depth, color, interlaced)
        for depth, color in [(16, 2), (16, 6), (16, 4), (8, 2), (4, 0), (2, 0), (1, 0)]
        for interlaced in (False, True)
    },
    "thin": raw_png(1, 9, 8, 2),
    "flat": raw_png(9, 1, 8, 6),
    "dot": raw_png(1, 1, 8, 0, True),
}
JPEG = {
    "fine": saved(SMOOTH, "JPEG", quality=95, subsampling=0),
    "usual": saved(SMOOTH, "JPEG", quality=75, subsampling=2),
    "progressive": saved(SMOOTH, "JPEG", progressive=True),
    "gray": saved(Image.fromarray(SMOOTH).convert("L"), "JPEG"),
    "cmyk": saved(Image.fromarray(SMOOTH).convert("CMYK"), "JPEG"),
    "tiny": saved(SMOOTH[:3, :3], "JPEG", subsampling=0),
}
LAYERS = [Image.fromarray(image).quantize(32) for image in (RGB, RGB[::-1].copy(), RGB[:, ::-1].copy())]
GIF = {
    "one": saved(LAYERS[0], "GIF"),
    "frames": saved(LAYERS[0], "GIF", save_all=True, append_images=LAYERS[1:], duration=50),
    "interlaced": saved(LAYERS[1], "GIF", interlace=True),
}
BMP = {"rgb": saved(RGB, "BMP"), "gray": saved(GRAY, "BMP"), "rgba": saved(RGBA, "BMP")}


def run(tf, op, *arguments, **attrs):
    with tf.Graph().as_default(), tf.Session() as session:
        names = {
            "DecodeAndCropJpeg": ["contents", "crop_window"],
            "EncodePng": ["image"],
            "EncodeJpeg": ["image"],
        }
        names["EncodeJpegVariableQuality"] = ["images", "quality"]
        given = [tf.constant(item) if isinstance(item, np.ndarray) else item for item in arguments]
        inputs = dict(zip(names.get(op, ["contents"]), given, strict=True))
        return np.asarray(session.run(getattr(tf.raw_ops, op)(**inputs, **attrs)))


@pytest.mark.parametrize("name", PNG)
def test_png_is_what_pillow_sees(name):
    image = Image.open(io.BytesIO(PNG[name]))
    image.load()
    if image.mode in ("I;16", "I"):
        found = run(graphcore, "DecodePng", PNG[name], dtype="uint16")
        np.testing.assert_array_equal(found[..., 0], np.asarray(image))
        return
    # Pillow has no colours of 16 bits; it too drops the low byte.
    found = run(graphcore, "DecodePng", PNG[name], channels=4)
    wanted = np.asarray(image.convert("RGBA"))
    np.testing.assert_array_equal(found[..., :3], wanted[..., :3])
    if image.mode in ("LA", "RGBA") or "transparency" in image.info:
        np.testing.assert_array_equal(found[..., 3], wanted[..., 3])


def test_png_alpha_and_gray():
    assert run(graphcore, "DecodePng", PNG["rgb"], channels=4)[..., 3].min() == 255
    np.testing.assert_array_equal(run(graphcore, "DecodePng", PNG["rgba"]), RGBA)
    alpha = run(graphcore, "DecodePng", PNG["gray_transparent"], channels=4)[..., 3]
    np.testing.assert_array_equal(alpha == 0, GRAY == 50)
    gray = run(graphcore, "DecodePng", PNG["rgb"], channels=1)[..., 0]
    np.testing.assert_allclose(gray, RGB @ [0.299, 0.587, 0.114], atol=1)
    np.testing.assert_array_equal(
        run(graphcore, "DecodePng", PNG["gray"], dtype="uint16")[..., 0], GRAY * np.uint16(257)
    )


IMAGES = {
    "rgb": RGB,
    "rgba": RGBA,
    "noise": NOISE,
    "gray": GRAY[..., None],
    "gray_alpha": RGBA[..., 2:],
    "wide": ints(7, 9, 3, low=0, high=2**16, dtype=np.uint16),
    "dot": RGB[:1, :1],
}


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_png_round_trip(name, compression):
    image = IMAGES[name]
    data = run(graphcore, "EncodePng", image, compression=compression).item()
    np.testing.assert_array_equal(run(graphcore, "DecodePng", data, dtype=image.dtype.name), image)
    if image.dtype == np.uint8:
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))).reshape(image.shape), image)


@pytest.mark.parametrize("name", JPEG)
def test_jpeg_is_what_pillow_sees(name):
    image = Image.open(io.BytesIO(JPEG[name]))
    found = run(graphcore, "DecodeJpeg", JPEG[name])
    wanted = np.asarray(image if name == "gray" else image.convert("RGB")).reshape(found.shape)
    np.testing.assert_allclose(found.astype(int), wanted.astype(int), atol=1)
    np.testing.assert_array_equal(
        run(graphcore, "ExtractJpegShape", JPEG[name]),
        [*found.shape[:2], 4 if name == "cmyk" else found.shape[2]],
    )
    half = run(graphcore, "DecodeJpeg", JPEG[name], ratio=2)
    assert half.shape == (-(-found.shape[0] // 2), -(-found.shape[1] // 2), found.shape[2])
    window = run(graphcore, "DecodeAndCropJpeg", JPEG[name], [1, 0, 2, 3])
    np.testing.assert_array_equal(window, found[1:3, :3])


def test_jpeg_of_another_number_of_channels():
    gray = run(graphcore, "DecodeJpeg", JPEG["usual"], channels=1)
    np.testing.assert_allclose(gray[..., 0], np.asarray(Image.fromarray(SMOOTH).convert("L")), atol=12)
    color = run(graphcore, "DecodeJpeg", JPEG["gray"], channels=3)
    np.testing.assert_array_equal(color, np.repeat(run(graphcore, "DecodeJpeg", JPEG["gray"]), 3, 2))


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"quality": 30, "progressive": True},
        {"optimize_size": True, "chroma_downsampling": False},
        {"density_unit": "cm", "x_density": 40, "y_density": 50, "xmp_metadata": "<x/>"},
    ],
    ids=str,
)
def test_jpeg_round_trip(attrs):
    for image in (SMOOTH, SMOOTH[..., :1]):
        data = run(graphcore, "EncodeJpeg", image, **attrs).item()
        found = run(graphcore, "DecodeJpeg", data)
        assert found.shape == image.shape
        assert np.abs(found.astype(int) - image).mean() < 8
        assert data[13] == (2 if "density_unit" in attrs else 1)
        assert struct.unpack(">HH", data[14:18]) == ((40, 50) if "density_unit" in attrs else (300, 300))
        assert (b"<x/>" in data) == ("xmp_metadata" in attrs)
    for quality in (20, 90):
        data = run(graphcore, "EncodeJpegVariableQuality", SMOOTH, quality).item()
        assert data == run(graphcore, "EncodeJpeg", SMOOTH, quality=quality).item()


def test_gif_is_what_pillow_sees():
    for name, layers in [("one", LAYERS[:1]), ("frames", LAYERS), ("interlaced", LAYERS[1:2])]:
        wanted = np.stack([np.asarray(layer.convert("RGB")) for layer in layers])
        np.testing.assert_array_equal(run(graphcore, "DecodeGif", GIF[name]), wanted)
    np.testing.assert_array_equal(
        run(graphcore, "DecodePng", GIF["one"]), run(graphcore, "DecodeGif", GIF["one"])[0]
    )


def test_bmp():
    np.testing.assert_array_equal(run(graphcore, "DecodeBmp", BMP["rgb"]), RGB)
    np.testing.assert_array_equal(run(graphcore, "DecodeBmp", BMP["rgba"], channels=4), RGBA)
    np.testing.assert_array_equal(run(graphcore, "DecodeBmp", BMP["gray"])[..., 0], GRAY)
    flipped = bytearray(BMP["rgb"])
    flipped[22:26] = struct.pack("<i", -len(RGB))
    np.testing.assert_array_equal(run(graphcore, "DecodeBmp", bytes(flipped)), RGB[::-1])


# (op, inputs, attributes, text of the error)
ERRORS = [
    ("DecodePng", [b""], {}, "Expected image (JPEG, PNG, or GIF), got empty file"),
    (
        "DecodePng",
        [b"\x01text"],
        {},
        "Expected image (JPEG, PNG, or GIF), got unknown format starting with '\\001text'",
    ),
    ("DecodePng", [PNG["rgb"]], {"channels": 2}, "channels must be 0, 1, 3, or 4, got 2"),
    ("DecodePng", [PNG["rgb"][:20]], {}, "Invalid PNG header, data size 20"),
    ("DecodePng", [PNG["rgb"][:-40]], {}, f"Invalid PNG data, size {len(PNG['rgb']) - 40}"),
    ("DecodePng", [JPEG["fine"]], {"dtype": "uint16"}, "JPEG does not support uint16 output"),
    (
        "DecodePng",
        [GIF["frames"]],
        {},
        "Got 3 frames, but animated gifs can only be decoded by tf.image.decode_gif",
    ),
    ("DecodeJpeg", [JPEG["fine"][:300]], {}, "Invalid JPEG data or crop window, data size 300"),
    ("DecodeJpeg", [JPEG["fine"]], {"channels": 4}, "channels must be 0, 1, or 3 for JPEG, got 4"),
    ("DecodeJpeg", [JPEG["fine"]], {"ratio": 3}, "ratio must be 1, 2, 4, or 8, got 3"),
    ("DecodeJpeg", [JPEG["cmyk"]], {"channels": 1}, "Invalid JPEG data or crop window"),
    ("DecodeAndCropJpeg", [JPEG["fine"], [0, 0, 99, 1]], {}, "Invalid JPEG data or crop window, data size"),
    ("ExtractJpegShape", [b"\xff\xd8\xff\xe0"], {}, "Invalid JPEG data, size 4"),
    ("DecodeGif", [GIF["one"][:9]], {}, "Invalid GIF data (size 9)"),
    ("DecodeBmp", [BMP["rgb"][:20]], {}, "Incomplete bmp content, requires at least 32 bytes"),
    (
        "DecodeBmp",
        [BMP["rgb"][:99]],
        {},
        f"Incomplete bmp content, requires at least {len(BMP['rgb']) - 1} bytes, got 99",
    ),
    (
        "DecodeBmp",
        [BMP["rgb"]],
        {"channels": 4},
        "channels attribute 4 does not match bits per pixel from file 3",
    ),
    ("EncodePng", [np.zeros((2, 2, 5), np.uint8)], {}, "image must have 1, 2, 3, or 4 channels, got 5"),
    ("EncodePng", [RGB], {"compression": 10}, "compression should be in [-1,9], got 10"),
    ("EncodeJpeg", [RGBA], {}, "image must have 1 or 3 channels, got [37,29,4]"),
    ("EncodeJpeg", [RGB], {"format": "grayscale"}, "format grayscale expects 1 channels, got [37,29,3]"),
    ("EncodeJpeg", [RGB], {"quality": 101}, "quality must be in [0,100], got 101"),
]


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "text"), ERRORS, ids=[f"{i}-{row[0]}" for i, row in enumerate(ERRORS)]
)
def test_error(op, inputs, attrs, text):
    with pytest.raises(InvalidArgumentError) as raised:
        run(graphcore, op, *inputs, **attrs)
    assert text in str(raised.value)


def test_images_without_pixels_are_not_encoded():
    for op in ("EncodePng", "EncodeJpeg"):
        with pytest.raises(InternalError, match="encoding failed"):
            run(graphcore, op, np.zeros((0, 3, 3), np.uint8))


def test_truncated_files():
    data = JPEG["fine"][:-200]
    whole = run(graphcore, "DecodeJpeg", JPEG["fine"])
    found = run(graphcore, "DecodeJpeg", data, try_recover_truncated=True)
    assert found.shape == whole.shape
    np.testing.assert_array_equal(found[:16], whole[:16])
    with pytest.raises(UnimplementedError, match="acceptable_fraction"):
        run(graphcore, "DecodeJpeg", data, acceptable_fraction=0.1)


def test_colors_of_half_the_resolution():
    """Without fancy upscaling four pixels have one colour, at their own luminance."""
    found = run(graphcore, "DecodeJpeg", JPEG["usual"], fancy_upscaling=False).astype(int)
    smooth = run(graphcore, "DecodeJpeg", JPEG["usual"]).astype(int)
    difference = (found[..., 0] - found[..., 2])[:44, :60].reshape(22, 2, 30, 2)
    inside = ((found > 0) & (found < 255)).all(-1)[:44, :60].reshape(22, 2, 30, 2).all((1, 3))
    assert np.ptp(difference, axis=(1, 3))[inside].max() <= 1
    assert np.abs(found - smooth).mean() < 8
    same = run(graphcore, "DecodeJpeg", JPEG["fine"], fancy_upscaling=False)
    np.testing.assert_array_equal(same, run(graphcore, "DecodeJpeg", JPEG["fine"]))
    with pytest.raises(UnimplementedError, match="fancy_upscaling"):
        run(graphcore, "DecodeJpeg", saved(SMOOTH, "JPEG", subsampling=1), fancy_upscaling=False)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "JPEG"])
def test_every_damage_is_told(kind):
    """A changed or missing byte gives pixels or InvalidArgumentError, nothing else."""
    decode = {"PNG": "DecodePng", "GIF": "DecodeGif", "BMP": "DecodeBmp", "JPEG": "DecodeJpeg"}[kind]
    data = {
        "PNG": PNG["palette_transparent"],
        "GIF": GIF["frames"],
        "BMP": BMP["gray"],
        "JPEG": JPEG["tiny"],
    }[kind]
    rng = np.random.default_rng(1)
    with graphcore.Graph().as_default(), graphcore.Session() as session:
        contents = graphcore.placeholder(graphcore.string, [])
        image = getattr(graphcore.raw_ops, decode)(contents=contents)
        for _ in range(150):
            damaged = bytearray(data[: rng.integers(len(data) // 2, len(data) + 1)])
            damaged[rng.integers(min(len(damaged), 200))] = rng.integers(256)
            try:
                session.run(image, {contents: bytes(damaged)})
            except InvalidArgumentError:
                continue


def test_without_pillow(monkeypatch):
    find = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "PIL":
            raise ImportError(name)
        return find(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"sgtool\[image\]"):
        image_files.decode_jpeg(JPEG["fine"])
    assert png.decode_png(PNG["rgb"], 3, np.dtype(np.uint8)).shape == RGB.shape


# By TensorFlow


@pytest.fixture(scope="module")
def tensorflow():
    return pytest.importorskip("tensorflow").compat.v1


@pytest.mark.oracle
@pytest.mark.parametrize("name", PNG)
@pytest.mark.parametrize("channels", [0, 1, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_png_in_tensorflow(name, channels, dtype, tensorflow):
    options = {"channels": channels, "dtype": dtype}
    found = run(graphcore, "DecodePng", PNG[name], **options)
    np.testing.assert_array_equal(found, run(tensorflow, "DecodePng", PNG[name], **options))


@pytest.mark.oracle
@pytest.mark.parametrize("name", JPEG)
@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
@pytest.mark.parametrize("method", ["INTEGER_ACCURATE", ""])
def test_jpeg_in_tensorflow(name, ratio, method, tensorflow):
    options = {"ratio": ratio, "dct_method": method}
    found, wanted = (run(tf, "DecodeJpeg", JPEG[name], **options) for tf in (graphcore, tensorflow))
    exact = method and name not in ("cmyk", "tiny")
    np.testing.assert_allclose(found.astype(int), wanted.astype(int), atol=0 if exact else 10)
    assert np.abs(found.astype(int) - wanted).mean() < 3


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(JPEG.keys() - {"cmyk"}))
def test_plain_upscaling_in_tensorflow(name, tensorflow):
    options = {"fancy_upscaling": False, "dct_method": "INTEGER_ACCURATE"}
    found, wanted = (run(tf, "DecodeJpeg", JPEG[name], **options) for tf in (graphcore, tensorflow))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.oracle
def test_the_others_in_tensorflow(tensorflow):
    rows = [("DecodeGif", data) for data in GIF.values()] + [("DecodeBmp", data) for data in BMP.values()]
    rows += [("ExtractJpegShape", data) for data in JPEG.values()]
    for op, data in rows:
        np.testing.assert_array_equal(run(graphcore, op, data), run(tensorflow, op, data))


@pytest.mark.oracle
def test_tensorflow_reads_what_we_write(tensorflow):
    for image in IMAGES.values():
        data = run(graphcore, "EncodePng", image).item()
        np.testing.assert_array_equal(run(tensorflow, "DecodePng", data, dtype=image.dtype.name), image)
    ours, theirs = (run(tf, "EncodeJpeg", SMOOTH).item() for tf in (graphcore, tensorflow))
    exact = {"dct_method": "INTEGER_ACCURATE"}
    found, wanted = (run(tensorflow, "DecodeJpeg", data, **exact) for data in (ours, theirs))
    assert np.abs(found.astype(int) - wanted).max() < 12
    assert ours[:18] == theirs[:18]


# What TensorFlow 2 came to decode.
LATER = ("JPEG does not support uint16 output", "channels attribute 4 does not match bits")
SAME = [row for row in ERRORS if not row[3].startswith(LATER)]


@pytest.mark.oracle
@pytest.mark.parametrize(("op", "inputs", "attrs", "text"), SAME, ids=[row[3][:30] for row in SAME])
def test_errors_in_tensorflow(op, inputs, attrs, text, tensorflow):
    with pytest.raises((tensorflow.errors.InvalidArgumentError, ValueError)):
        run(tensorflow, op, *inputs, **attrs)
