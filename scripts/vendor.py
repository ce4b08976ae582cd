"""Brings the scripts of other projects into `src/maia/web/static/vendor`, with licences and hashes.

A developer's tool, never run at install or run time: `python scripts/vendor.py` needs npm and its registry. What it
writes is committed; `tests/web/test_assets.py` holds the files to `vendor.lock.json`.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src" / "maia" / "web" / "static" / "vendor"


@dataclass(frozen=True)
class Package:
    """One package of npm in exactly one version, and the files of it that go into one file of ours.

    `changes` are (what stands there, what stands there then, how often): no other number of times is right.
    """

    name: str
    version: str
    licence: str
    files: tuple[str, ...]
    target: str
    changes: tuple[tuple[bytes, bytes, int], ...] = ()

    @property
    def licence_file(self) -> str:
        """Where its licence goes."""
        return f"{self.name.removeprefix('@').replace('/', '-')}.txt"


# Our content policy lets no script write styles into elements or attributes. What xterm.js writes into three elements
# goes to an element of ours that makes a style sheet of it (static/opencode.js), and a colour is set as a property.
_STYLES = (
    (b'createElement("style")', b'createElement("adopted-style")', 3),
    (
        b't.setAttribute("style",`${t.getAttribute("style")||""}${e};`)',
        b"t.style.cssText+=`${e};`",
        1,
    ),
)

# htmx and its extension are one file: as two deferred scripts the stream opened on two of three loads only.
PACKAGES = (
    Package("htmx.org", "4.0.1", "0BSD", ("dist/htmx.min.js", "dist/ext/hx-sse.min.js"), "htmx-bundle.js"),
    Package("sortablejs", "1.15.7", "MIT", ("Sortable.min.js",), "sortable.js"),
    Package("@xterm/xterm", "6.0.0", "MIT", ("lib/xterm.mjs",), "xterm.js", _STYLES),
    Package("@xterm/xterm", "6.0.0", "MIT", ("css/xterm.css",), "xterm.css"),
    Package("@xterm/addon-fit", "0.11.0", "MIT", ("lib/addon-fit.mjs",), "xterm-fit.js"),
)


def main() -> None:
    (TARGET / "LICENSES").mkdir(parents=True, exist_ok=True)
    lock = [bring(package) for package in PACKAGES]
    (TARGET / "vendor.lock.json").write_text(json.dumps(lock, indent=2) + "\n")


def bring(package: Package) -> dict[str, object]:
    """Write one package's file and licence; what the lock says of it. Raises `ValueError` for another archive."""
    archive = fetched(package)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        parts = [member(tar, name) for name in package.files]
        licence = member(tar, "LICENSE")
    body = changed(b"\n;\n".join(without_map(part) for part in parts), package)
    (TARGET / package.target).write_bytes(body)
    (TARGET / "LICENSES" / package.licence_file).write_bytes(licence)
    return {
        "name": package.name,
        "version": package.version,
        "licence": package.licence,
        "files": list(package.files),
        "target": package.target,
        "sha256": hashlib.sha256(body).hexdigest(),
    }


def fetched(package: Package) -> bytes:
    """The archive, as the registry signed it."""
    what = f"{package.name}@{package.version}"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["npm", "pack", "--json", what], cwd=folder, check=True, capture_output=True, text=True)
        said = json.loads(done.stdout)[0]
        archive = Path(folder, said["filename"]).read_bytes()
    kind, _, digest = said["integrity"].partition("-")
    if base64.b64encode(hashlib.new(kind, archive).digest()).decode() != digest:
        raise ValueError(f"{what} is not what the registry signed")
    return archive


def member(tar: tarfile.TarFile, name: str) -> bytes:
    found = tar.extractfile(f"package/{name}")
    if found is None:
        raise ValueError(f"no {name} in the archive")
    return found.read()


def changed(body: bytes, package: Package) -> bytes:
    """With the package's changes. Raises `ValueError` where it is not what they were made for."""
    for before, after, times in package.changes:
        if body.count(before) != times:
            raise ValueError(f"{package.name}@{package.version}: {body.count(before)} times {before.decode()}")
        body = body.replace(before, after)
    return body


def without_map(script: bytes) -> bytes:
    """Maps are not shipped, so nothing may ask for them."""
    return b"\n".join(line for line in script.splitlines() if not line.startswith(b"//# sourceMappingURL="))


if __name__ == "__main__":
    main()
