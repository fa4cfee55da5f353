import pytest
from table import compare, lines, table

pytest.importorskip("PIL")

SETUP = """
import io
import numpy
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageStat
g = (np.arange(64).reshape(8, 8) * 3).astype(np.uint8)
rgb = np.stack([g, g.T, g[::-1]], axis=-1)
image = Image.fromarray(rgb)
"""
CALLS = lines("""
numpy.asarray(Image.fromarray(g))
numpy.asarray(Image.fromarray(rgb))
numpy.asarray(Image.fromarray(rgb[::2, ::-1]))
numpy.asarray(Image.fromarray(g > 30))
numpy.asarray(Image.fromarray(g.astype(np.float32)))
Image.fromarray(g.astype(np.float64).astype(complex))  # raises
Image.fromarray(rgb).size
np.asarray(image).sum()
np.array(image) + 1
np.asarray(image.resize((4, 4)))
np.asarray(image.convert("L"))
np.asarray(image.filter(ImageFilter.BLUR))
np.asarray(ImageChops.difference(image, Image.fromarray(rgb // 2)))
ImageStat.Stat(image).mean
Image.frombytes("L", (8, 8), g).tobytes() == g.tobytes()
Image.frombuffer("L", (8, 8), g, "raw", "L", 0, 1).getpixel((1, 2))
image.getpixel((int(g.min()), 1))
image.crop(tuple(np.array([0, 0, 4, 4]))).size
image.rotate(g.mean()).size
image.point(np.arange(256).tolist() * 3).getextrema()
""") + [
    "ImageDraw.Draw(image).line(np.array([0, 0, 7, 7]).tolist(), fill=(1, 2, 3))\nnp.asarray(image)",
    "image.paste(Image.fromarray(rgb[:2, :2]), (3, 3))\nnp.asarray(image)",
    "image.putalpha(Image.fromarray(g))\nnp.asarray(image)",
    "f = io.BytesIO()\nImage.fromarray(rgb).save(f, 'png')\nnp.asarray(Image.open(f))",
]  # fmt: skip


@table(CALLS, {})
def test_pillow(call):
    compare(call, SETUP)
