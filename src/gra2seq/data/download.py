"""Fetch sketch-rnn's QuickDraw files: resumed when cut off, whole when they bear their name.

Bytes go to `<category>.npz.part`, the server's name for this version of the file to `….part.version`. A later
run asks for the rest of that version only (Range and If-Range); a server that has another version, or that
knows no ranges, sends all of it, and the file is begun again.
"""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from gra2seq.data.datasets import NAMED, selection
from gra2seq.errors import UserError, unknown_name

OFFICIAL_BASE = "https://storage.googleapis.com/quickdraw_dataset/sketchrnn"
BLOCK = 1 << 18  # bytes written at once
LONGEST_PAUSE = 30.0  # seconds
ZIP_MAGIC = b"PK\x03\x04"  # an .npz is a zip file

DownloadProgress = Callable[[str, int, int], None]  # (category, bytes done, bytes in all)


def download(
    names: str | Iterable[str],
    folder: str | Path,
    base: str = OFFICIAL_BASE,
    *,
    progress: DownloadProgress | None = None,
    timeout: float = 30.0,
    retries: int = 5,
    pause: float = 1.0,
) -> list[Path]:
    """Fetch the files of named sets (DS1) or categories (cat) into `folder`; what is whole is left alone.

    `timeout` is seconds without a byte. After a failure it waits `pause` seconds, then twice as long and so
    on; it gives up after `retries` more failures in a row that brought nothing new.
    """
    if urlsplit(base).scheme not in ("http", "https"):
        raise UserError(f"the base address {base!r} must begin with http:// or https://")
    categories = expand([names] if isinstance(names, str) else names)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _disk_error(folder, error) from error
    paths = []
    for category in categories:
        url = f"{base.rstrip('/')}/{quote(category)}.npz"
        file = _File(category, url, folder / f"{category}.npz", timeout, progress)
        _persist(file, retries, pause)
        paths.append(file.path)
    return paths


def expand(names: Iterable[str]) -> list[str]:
    """Categories of the sets and categories named, each once, in the order given."""
    found: dict[str, None] = {}
    sets = {name.casefold() for name in NAMED}
    for name in names:
        if name.casefold() in sets:
            found |= dict.fromkeys(selection(name).categories or CATEGORIES)
        elif name in CATEGORIES:
            found[name] = None
        else:
            raise unknown_name("set or category", name, (*NAMED, *CATEGORIES), "in QuickDraw")
    if not found:
        raise UserError("nothing to download: name a set such as DS1, or categories")
    return list(found)


class _Again(Exception):
    """A failure that may pass."""


def _persist(file: _File, retries: int, pause: float) -> None:
    failures, furthest = 0, file.have()
    while True:
        try:
            return file.fetch()
        except _Again as error:
            reason = error
        # Only what goes beyond the furthest point is progress: a server that always begins anew and is always
        # cut off does not keep us for ever.
        failures = 0 if file.have() > furthest else failures + 1
        furthest = max(furthest, file.have())
        if failures > retries:
            raise UserError(
                f"could not download {file.url}: {reason}. Check the network and the base address, "
                "then run it again: it goes on where it stopped"
            ) from reason
        time.sleep(min(pause * 2 ** max(failures - 1, 0), LONGEST_PAUSE))


@dataclass
class _File:
    category: str
    url: str
    path: Path
    timeout: float
    progress: DownloadProgress | None

    @property
    def part(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def version(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part.version")

    def have(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def fetch(self) -> None:
        """One attempt."""
        have, version = self.have(), self._version()
        if not version:
            have = 0  # without a name for what we have, the rest might be that of another file
        headers = {"Range": f"bytes={have}-", "If-Range": version} if have else {}
        try:
            request = urllib.request.Request(self.url, headers=headers)
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                self._receive(response, have)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(error, have)
        except urllib.error.URLError as error:
            raise _Again(f"cannot reach {urlsplit(self.url).netloc} ({error.reason})") from error
        except (http.client.HTTPException, OSError) as error:
            raise _Again(f"the connection broke ({error or type(error).__name__})") from error

    def _receive(self, response: http.client.HTTPResponse, have: int) -> None:
        length = response.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise UserError(f"{self.url}: the server does not say how long it is: use another base address")
        start, total = 0, int(length)
        if response.status == 206:
            start, total = _content_range(response.headers.get("Content-Range", ""))
            if start != have or start + int(length) != total:
                self._discard()
                raise _Again("the server sent another range than was asked for")
        elif self.path.is_file() and self.path.stat().st_size == total:
            self._discard()
            return
        try:
            self._write_version(response)
            file = self.part.open("ab" if start else "wb")
        except OSError as error:
            raise _disk_error(self.path, error) from error
        with file:
            done = start
            while block := response.read(BLOCK):
                try:
                    file.write(block)
                    file.flush()
                except OSError as error:
                    raise _disk_error(self.path, error) from error
                done += len(block)
                if self.progress:
                    self.progress(self.category, done, total)
        self._finish(total)

    def _refused(self, error: urllib.error.HTTPError, have: int) -> None:
        if error.code == 404:
            raise UserError(f"{self.url} does not exist (404): check the base address") from error
        if error.code == 416:  # nothing after what we have: it was whole already, or does not belong to it
            _, total = _content_range(error.headers.get("Content-Range", ""))
            if have != total:
                self._discard()
                raise _Again("the part on disk did not fit the file and was thrown away") from error
            self._finish(total)
        elif error.code == 429 or error.code >= 500:
            raise _Again(f"the server answers {error.code} {error.reason}") from error
        else:
            raise UserError(f"{self.url}: {error.code} {error.reason}: check the base address") from error

    def _finish(self, total: int) -> None:
        have = self.have()
        if have != total:
            raise _Again(f"got {have} of {total} bytes")
        with self.part.open("rb") as file:
            magic = file.read(len(ZIP_MAGIC))
        if magic != ZIP_MAGIC:
            self._discard()
            raise UserError(f"{self.url} is not an .npz file: check the base address and the network")
        try:
            self.part.replace(self.path)
            self._discard()
        except OSError as error:
            raise _disk_error(self.path, error) from error

    def _version(self) -> str:
        return self.version.read_text(encoding="latin-1") if self.version.is_file() else ""

    def _write_version(self, response: http.client.HTTPResponse) -> None:
        """A strong ETag or a date: what If-Range takes."""
        etag = response.headers.get("ETag", "")
        name = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
        self.version.write_text(name, encoding="latin-1")

    def _discard(self) -> None:
        self.part.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)


def _content_range(header: str) -> tuple[int, int]:
    """(first byte, length of the whole file), -1 for what it does not say."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+)", header.strip())
    return (int(match[1] or -1), int(match[2])) if match else (-1, -1)


def _disk_error(path: Path, error: OSError) -> UserError:
    return UserError(
        f"cannot write {path}: {error.strerror or error}. Free some space or choose another folder, "
        "then run it again: it goes on where it stopped"
    )


# All 345 of QuickDraw, as its files are called.
_NAMES = """
    The Eiffel Tower, The Great Wall of China, The Mona Lisa, aircraft carrier, airplane, alarm clock,
    ambulance, angel, animal migration, ant, anvil, apple, arm, asparagus, axe, backpack, banana, bandage,
    barn, baseball, baseball bat, basket, basketball, bat, bathtub, beach, bear, beard, bed, bee, belt,
    bench, bicycle, binoculars, bird, birthday cake, blackberry, blueberry, book, boomerang, bottlecap,
    bowtie, bracelet, brain, bread, bridge, broccoli, broom, bucket, bulldozer, bus, bush, butterfly,
    cactus, cake, calculator, calendar, camel, camera, camouflage, campfire, candle, cannon, canoe, car,
    carrot, castle, cat, ceiling fan, cell phone, cello, chair, chandelier, church, circle, clarinet, clock,
    cloud, coffee cup, compass, computer, cookie, cooler, couch, cow, crab, crayon, crocodile, crown, cruise
    ship, cup, diamond, dishwasher, diving board, dog, dolphin, donut, door, dragon, dresser, drill, drums,
    duck, dumbbell, ear, elbow, elephant, envelope, eraser, eye, eyeglasses, face, fan, feather, fence,
    finger, fire hydrant, fireplace, firetruck, fish, flamingo, flashlight, flip flops, floor lamp, flower,
    flying saucer, foot, fork, frog, frying pan, garden, garden hose, giraffe, goatee, golf club, grapes,
    grass, guitar, hamburger, hammer, hand, harp, hat, headphones, hedgehog, helicopter, helmet, hexagon,
    hockey puck, hockey stick, horse, hospital, hot air balloon, hot dog, hot tub, hourglass, house, house
    plant, hurricane, ice cream, jacket, jail, kangaroo, key, keyboard, knee, knife, ladder, lantern,
    laptop, leaf, leg, light bulb, lighter, lighthouse, lightning, line, lion, lipstick, lobster, lollipop,
    mailbox, map, marker, matches, megaphone, mermaid, microphone, microwave, monkey, moon, mosquito,
    motorbike, mountain, mouse, moustache, mouth, mug, mushroom, nail, necklace, nose, ocean, octagon,
    octopus, onion, oven, owl, paint can, paintbrush, palm tree, panda, pants, paper clip, parachute,
    parrot, passport, peanut, pear, peas, pencil, penguin, piano, pickup truck, picture frame, pig, pillow,
    pineapple, pizza, pliers, police car, pond, pool, popsicle, postcard, potato, power outlet, purse,
    rabbit, raccoon, radio, rain, rainbow, rake, remote control, rhinoceros, rifle, river, roller coaster,
    rollerskates, sailboat, sandwich, saw, saxophone, school bus, scissors, scorpion, screwdriver, sea
    turtle, see saw, shark, sheep, shoe, shorts, shovel, sink, skateboard, skull, skyscraper, sleeping bag,
    smiley face, snail, snake, snorkel, snowflake, snowman, soccer ball, sock, speedboat, spider, spoon,
    spreadsheet, square, squiggle, squirrel, stairs, star, steak, stereo, stethoscope, stitches, stop sign,
    stove, strawberry, streetlight, string bean, submarine, suitcase, sun, swan, sweater, swing set, sword,
    syringe, t-shirt, table, teapot, teddy-bear, telephone, television, tennis racquet, tent, tiger,
    toaster, toe, toilet, tooth, toothbrush, toothpaste, tornado, tractor, traffic light, train, tree,
    triangle, trombone, truck, trumpet, umbrella, underwear, van, vase, violin, washing machine, watermelon,
    waterslide, whale, wheel, windmill, wine bottle, wine glass, wristwatch, yoga, zebra, zigzag
"""
CATEGORIES = tuple(" ".join(_NAMES.split()).split(", "))
