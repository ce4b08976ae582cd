"""Draws the banner's picture and turns it into the pixels that the terminal shows.

    python scripts/make_banner.py --draw            draw assets/banner.png anew (original artwork, made of shapes here)
    python scripts/make_banner.py                   write src/maia/terminal/banner_data.py from assets/banner.png
    python scripts/make_banner.py --size 24         the same at another size (columns; an even number)
    python scripts/make_banner.py --preview out.png an enlarged view of those pixels

Needs Pillow, which maia itself never imports.
"""

from __future__ import annotations

import argparse
import base64
import math
import random
from itertools import pairwise
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "assets" / "banner.png"
DATA = ROOT / "src" / "maia" / "terminal" / "banner_data.py"
SIZE = 32
CANVAS = 1024

Colour = tuple[int, int, int]
Point = tuple[float, float]


def blend(stops: list[tuple[float, Colour]], place: float) -> Colour:
    """The colour at `place` (0 to 1) of a gradient."""
    for (start, first), (end, last) in pairwise(stops):
        if place <= end:
            share = (place - start) / (end - start)
            red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, last, strict=True))
            return red, green, blue
    return stops[-1][1]


def gradient(stops: list[tuple[float, Colour]], angle: float = 90) -> Image.Image:
    """A full canvas of a linear gradient; 90 degrees goes from top to bottom."""
    direction = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    small = Image.new("RGB", (128, 128))
    reach = abs(direction[0]) + abs(direction[1])
    for y in range(128):
        for x in range(128):
            along = ((x - 64) * direction[0] + (y - 64) * direction[1]) / (64 * reach)
            small.putpixel((x, y), blend(stops, min(1.0, max(0.0, (along + 1) / 2))))
    return small.resize((CANVAS, CANVAS), Image.Resampling.BICUBIC)


def mask() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("L", (CANVAS, CANVAS), 0)
    return image, ImageDraw.Draw(image)


def ellipse(centre: Point, radii: Point) -> list[float]:
    return [centre[0] - radii[0], centre[1] - radii[1], centre[0] + radii[0], centre[1] + radii[1]]


def curve(points: list[Point], steps: int = 40) -> list[Point]:
    """A closed smooth curve through points (Catmull-Rom)."""
    out: list[Point] = []
    count = len(points)
    for n in range(count):
        a, b, c, d = (points[(n + k - 1) % count] for k in range(4))
        for step in range(steps):
            t = step / steps
            out.append(
                tuple(  # type: ignore[arg-type] - two numbers
                    0.5
                    * (
                        2 * b[k]
                        + (c[k] - a[k]) * t
                        + (2 * a[k] - 5 * b[k] + 4 * c[k] - d[k]) * t**2
                        + (3 * b[k] - a[k] - 3 * c[k] + d[k]) * t**3
                    )
                    for k in (0, 1)
                )
            )
    return out


def star(centre: Point, radius: float, points: int = 4, waist: float = 0.3, turn: float = -90) -> list[Point]:
    corners: list[Point] = []
    for n in range(points * 2):
        reach = radius if n % 2 == 0 else radius * waist
        angle = math.radians(turn + n * 180 / points)
        corners.append((centre[0] + reach * math.cos(angle), centre[1] + reach * math.sin(angle)))
    return corners


def draw() -> Image.Image:
    """Maia, eldest of the seven Pleiades: a night sky, long hair in the rainbow of the letters, a crown of stars."""
    image = Image.new("RGBA", (CANVAS, CANVAS), (0, 0, 0, 0))

    def paint(shape: Image.Image, fill: Colour | Image.Image, strength: float = 1.0) -> None:
        source = fill if isinstance(fill, Image.Image) else Image.new("RGB", (CANVAS, CANVAS), fill)
        cover = shape if strength == 1 else shape.point([round(n * strength) for n in range(256)])
        cover = ImageChops.multiply(cover, sky) if sky is not None else cover
        image.paste(source, (0, 0), cover)

    sky: Image.Image | None = None
    frame, pen = mask()
    pen.rounded_rectangle([0, 0, CANVAS - 1, CANVAS - 1], radius=200, fill=255)
    night = gradient([(0, (18, 16, 70)), (0.45, (58, 28, 122)), (0.78, (150, 44, 130)), (1, (240, 110, 110))])
    image.paste(night, (0, 0), frame)
    image.putalpha(frame)
    sky = frame

    def glow(centre: Point, radius: float, colour: Colour, strength: float) -> None:
        shape, pen = mask()
        pen.ellipse(ellipse(centre, (radius, radius)), fill=255)
        paint(shape.filter(ImageFilter.GaussianBlur(radius * 0.45)), colour, strength)

    def solid(points: list[Point], fill: Colour | Image.Image, soft: float = 0, strength: float = 1.0) -> None:
        shape, pen = mask()
        pen.polygon(points, fill=255)
        paint(shape.filter(ImageFilter.GaussianBlur(soft)) if soft else shape, fill, strength)

    glow((512, 520), 430, (255, 140, 190), 0.35)
    dots = random.Random(7)
    for x, y in ((112, 208), (208, 112), (880, 176), (816, 80), (944, 400), (80, 432), (304, 48)):
        side = 16 if dots.random() < 0.5 else 14
        shape, pen = mask()
        pen.rectangle([x - side, y - side, x + side, y + side], fill=255)
        paint(shape, (255, 250, 225), 0.65 + 0.35 * dots.random())

    rainbow = gradient(
        [
            (0.14, (255, 92, 96)),
            (0.3, (255, 160, 64)),
            (0.43, (250, 214, 70)),
            (0.57, (84, 214, 120)),
            (0.7, (72, 150, 250)),
            (0.86, (172, 100, 250)),
        ],
        0,
    )
    hair = curve(
        [
            (512, 190),
            (700, 230),
            (806, 390),
            (820, 600),
            (858, 780),
            (900, 930),
            (860, 1060),
            (512, 1090),
            (164, 1060),
            (124, 930),
            (166, 780),
            (204, 600),
            (218, 390),
            (324, 230),
        ]
    )
    solid(hair, (40, 16, 72), soft=16, strength=0.8)
    solid(hair, rainbow)
    shade = gradient([(0, (30, 10, 60)), (1, (30, 10, 60))])
    parting = curve(
        [
            (512, 210),
            (640, 300),
            (720, 480),
            (716, 700),
            (640, 860),
            (512, 900),
            (384, 860),
            (308, 700),
            (304, 480),
            (384, 300),
        ]
    )
    solid(parting, shade, soft=26, strength=0.42)

    shoulders = curve(
        [(512, 868), (700, 916), (830, 1010), (860, 1100), (512, 1120), (164, 1100), (194, 1010), (324, 916)]
    )
    solid(shoulders, gradient([(0, (34, 197, 94)), (0.8, (16, 160, 110)), (1, (10, 120, 110))]))
    solid(curve([(446, 780), (578, 780), (590, 900), (512, 960), (434, 900)]), (222, 146, 112))
    solid(curve([(430, 880), (512, 968), (594, 880), (560, 900), (512, 930), (464, 900)]), (250, 214, 90))

    face = curve(
        [
            (512, 330),
            (640, 372),
            (690, 500),
            (676, 650),
            (610, 790),
            (512, 846),
            (414, 790),
            (348, 650),
            (334, 500),
            (384, 372),
        ]
    )
    solid(face, gradient([(0, (255, 222, 190)), (0.5, (252, 200, 160)), (0.8, (238, 166, 128)), (1, (222, 146, 112))]))
    fringe = [
        curve([(512, 300), (400, 330), (330, 440), (322, 560), (356, 520), (400, 450), (470, 400), (520, 350)]),
        curve([(512, 300), (624, 330), (694, 440), (702, 560), (668, 520), (624, 450), (554, 400), (504, 350)]),
    ]
    for lock in fringe:
        solid(lock, rainbow)

    def block(box: tuple[int, int, int, int], fill: Colour, radius: int = 0, strength: float = 1.0) -> None:
        """A shape on whole pixels of the 32 × 32 picture, so that it stays sharp there; the box is in those pixels."""
        shape, pen = mask()
        left, top, right, bottom = (round(n * CANVAS / SIZE) for n in box)
        pen.rounded_rectangle([left, top, right - 1, bottom - 1], radius, fill=255)
        paint(shape, fill, strength)

    for x in (388, 636):
        glow((x, 688), 66, (255, 104, 116), 0.8)
    for left, glint in ((12, 12), (18, 18)):
        block((left, 17, left + 2, 20), (46, 22, 84), radius=24)
        block((glint, 17, glint + 1, 18), (255, 255, 255), radius=6)
        block((left, 15, left + 2, 16), (150, 84, 84), radius=16, strength=0.75)
    block((15, 20, 17, 21), (226, 146, 116), radius=14, strength=0.8)
    block((13, 22, 14, 23), (206, 60, 96), radius=12, strength=0.9)
    block((18, 22, 19, 23), (206, 60, 96), radius=12, strength=0.9)
    block((14, 23, 18, 24), (206, 48, 92), radius=12)

    gold = gradient([(0, (255, 244, 170)), (0.25, (255, 214, 80)), (0.5, (232, 160, 40)), (1, (200, 120, 20))])
    band, pen = mask()
    pen.arc(ellipse((512, 560), (244, 262)), 204, 336, fill=255, width=50)
    paint(band, gold)
    glow((512, 210), 150, (255, 226, 130), 0.55)
    for centre, radius in (((512, 208), 184), ((336, 304), 100), ((688, 304), 100)):
        solid(star(centre, radius, 4, 0.38), (255, 206, 64))
        solid(star(centre, radius * 0.6, 4, 0.46), (255, 248, 206))
    return image


def pixels(picture: Image.Image, size: int) -> Image.Image:
    """The picture at `size` × `size`, each pixel the mean of its square, transparent parts left out of it."""
    return picture.convert("RGBa").resize((size, size), Image.Resampling.BOX).convert("RGBA")


def write_data(small: Image.Image) -> None:
    text = base64.b85encode(small.tobytes()).decode()
    width = 100
    rows = "\n".join(f'    "{text[start : start + width]}"' for start in range(0, len(text), width))
    DATA.write_text(
        '"""The banner\'s picture as RGBA pixels, written by scripts/make_banner.py from assets/banner.png."""\n\n'
        f"from typing import Final\n\nSIZE: Final = {small.width}\n"
        '"""Columns and rows of pixels; two rows of pixels are one row of the screen."""\n\n'
        f"PIXELS_BASE85: Final = (\n{rows}\n)\n",
        encoding="utf-8",
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draw", action="store_true")
    options.add_argument("--size", type=int, default=SIZE)
    options.add_argument("--preview", type=Path)
    chosen = options.parse_args()
    if chosen.draw:
        PICTURE.parent.mkdir(exist_ok=True)
        draw().resize((512, 512), Image.Resampling.LANCZOS).save(PICTURE, optimize=True)
    if chosen.size % 2:
        options.error("the size must be even: two rows of pixels make one row of the screen")
    small = pixels(Image.open(PICTURE), chosen.size)
    write_data(small)
    if chosen.preview:
        small.resize((small.width * 16, small.height * 16), Image.Resampling.NEAREST).save(chosen.preview)


if __name__ == "__main__":
    main()
