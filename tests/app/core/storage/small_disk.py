"""Fills a small file system, or makes it read-only."""

import subprocess
from pathlib import Path


def fill(folder: Path) -> Path:
    """Fill the disk; deleting the returned file frees the space."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


def make_read_only(folder: Path, *, mounted: bool) -> None:
    if mounted:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    else:
        for path in (*folder.iterdir(), folder):
            path.chmod(0o500)
