"""Builds the downloads: a self-contained folder, and from it, on Linux, a tarball, a .deb and an AppImage.

    python packaging/bundle/build.py            # or: make bundle
    python packaging/bundle/build.py --only deb # from the folder that an earlier run built

Everything is built under build/bundle and written to dist/. The development environment is not used: the bundle has a
separate environment, and a llama.cpp that is compiled for many machines (native.sh).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import runpy
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bundle"
DIST = ROOT / "dist"
LLAMA = "llama-cpp-python"
PYINSTALLER = "pyinstaller>=6.16"
SBOM_TOOL = "cyclonedx-bom>=7"
STEPS = ("environment", "native", "folder", "tarball", "deb", "appimage", "sbom", "checksums")
# Debian's and Ubuntu's packages with the libraries that Qt needs from a desktop (packaging/setup/system.sh).
DEB_DEPENDS = (
    "libgl1, libegl1, libdbus-1-3, libfontconfig1, libxkbcommon0, libxkbcommon-x11-0, libxcb-cursor0, "
    "libxcb-icccm4, libxcb-keysyms1, libxcb-shape0, libglib2.0-0 | libglib2.0-0t64"
)


def main(words: Sequence[str] | None = None) -> None:
    """Run all steps, or the given ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=STEPS, help="one step; repeatable; default all of them")
    parser.add_argument("--print-version", action="store_true", help="print the version, and do nothing")
    options = parser.parse_args(words)
    if options.print_version:
        print(version())
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    DIST.mkdir(exist_ok=True)
    steps = {
        "environment": make_environment,
        "native": build_native,
        "folder": build_folder,
        "tarball": make_tarball,
        "deb": make_deb,
        "appimage": make_appimage,
        "sbom": make_sbom,
        "checksums": write_checksums,
    }
    for name in options.only or STEPS:
        print(f"-- {name}", flush=True)
        steps[name]()


def version() -> str:
    """The version of this build, from packaging/version.py."""
    return str(runpy.run_path(str(ROOT / "packaging" / "version.py"))["version"]())


def flavour() -> str:
    """Suffix of a special bundle, such as ``-cuda``, from BUNDLE_NAME."""
    name = os.environ.get("BUNDLE_NAME", "plain")
    return "" if name == "plain" else f"-{name}"


def system_name() -> str:
    """Part of the files' names, such as ``linux-x86_64``."""
    return f"{platform.system().lower()}-{platform.machine().lower()}{flavour()}"


def requirements() -> list[str]:
    """The requirements of pyproject.toml, llama.cpp's binding first."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        lines: list[str] = tomllib.load(file)["project"]["dependencies"]
    return sorted(lines, key=lambda line: not line.startswith(LLAMA))


def python() -> str:
    """The interpreter of the bundle's environment."""
    return str(BUILD / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def run(*command: str | Path, **variables: str) -> None:
    """Run a command in the project's folder, and exit if it fails."""
    print("  ", *command, flush=True)
    subprocess.run(list(map(str, command)), cwd=ROOT, env={**os.environ, **variables}, check=True)


def answer_of(*command: str) -> str:
    """Run a command and return its output."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# ---- steps -------------------------------------------------------------------------------------------------------


def make_environment() -> None:
    """Install the app's requirements, but only the Python part of llama.cpp's binding, which needs no compiler."""
    venv.create(BUILD / "venv", with_pip=True, clear=False)
    llama, *others = requirements()
    # Without pip's cache, which would offer this wheel without libraries to other installations.
    run(
        python(), "-m", "pip", "install", "-q", "--no-cache-dir", "--no-deps", "--no-binary", LLAMA, llama,
        CMAKE_ARGS="-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF",
    )  # fmt: skip
    run(python(), "-m", "pip", "install", "-q", PYINSTALLER, "diskcache>=5.6", "typing-extensions", *others)


def build_native() -> None:
    """Compile llama.cpp from its binding's source package."""
    out = BUILD / "native"
    shutil.rmtree(out, ignore_errors=True)
    if not any(BUILD.glob("source/llama_cpp_python-*/vendor")):
        llama = requirements()[0]
        download = (python(), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", BUILD, llama)
        run(*download, CMAKE_ARGS="-DLLAMA_BUILD=OFF")
        with tarfile.open(next(BUILD.glob("llama_cpp_python-*.tar.gz"))) as archive:
            archive.extractall(BUILD / "source", filter="data")
    source = next(BUILD.glob("source/llama_cpp_python-*/vendor/llama.cpp"))
    run("sh", "packaging/bundle/native.sh", source, BUILD / "native-build", out)
    if sys.platform == "linux":
        shutil.copy2(_library_of_system("libgomp.so.1"), out)


def _library_of_system(name: str) -> Path:
    """Path of one of the compiler's own libraries."""
    return Path(answer_of("cc", f"-print-file-name={name}")).resolve()


def build_folder() -> None:
    """Build the folder with PyInstaller, and test it."""
    reported = BUILD / "told" / "app" / "_version.py"  # outside of the checkout; app/__init__.py reads it
    reported.parent.mkdir(parents=True, exist_ok=True)
    reported.write_text(f'VERSION = "{version()}"\n', "utf-8")
    run(
        python(), "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN",
        "--distpath", DIST, "--workpath", BUILD / "pyinstaller", "packaging/bundle/paceline.spec",
        PACELINE_NATIVE=str(BUILD / "native"), PACELINE_TOLD=str(reported),
    )  # fmt: skip
    shutil.copy2(ROOT / "LICENSE", DIST / "paceline")
    shutil.copy2(ROOT / "assets" / "THIRD_PARTY.md", DIST / "paceline")
    reported_version = answer_of(str(program()), "--version")
    assert reported_version == f"paceline {version()}", reported_version


def program() -> Path:
    """Path of the built program."""
    return DIST / "paceline" / ("paceline.exe" if os.name == "nt" else "paceline")


def make_tarball() -> None:
    """Pack the folder with desktop files; it runs from any location."""
    if sys.platform != "linux":
        print("   not on this system")
        return
    name = f"paceline-{version()}-{system_name()}"
    with tarfile.open(DIST / f"{name}.tar.xz", "w:xz", preset=6) as archive:
        archive.add(DIST / "paceline", name, filter=_owned_by_root)
        for file in (ROOT / "packaging/linux/paceline.desktop", ROOT / "packaging/linux/paceline-mime.xml", metainfo()):
            archive.add(file, f"{name}/share/{file.name}", filter=_owned_by_root)
    print(f"   {name}.tar.xz")


def _owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def metainfo() -> Path:
    """AppStream's description with this version, and with git the date of its commit."""
    name = "io.github.paceline.Paceline.metainfo.xml"
    text = (ROOT / "packaging" / "linux" / name).read_text("utf-8")
    git = shutil.which("git") if (ROOT / ".git").exists() else None
    day = answer_of(git, "-C", str(ROOT), "log", "-1", "--format=%cs") if git else time.strftime("%Y-%m-%d")
    file = BUILD / name
    release = f'  <releases>\n    <release version="{version()}" date="{day}"/>\n  </releases>\n'
    file.write_text(text.replace("</component>", f"{release}</component>"), "utf-8")
    return file


def make_deb() -> None:
    """Make the Debian package: the folder under /opt, a command, a menu entry, and the MIME type of .gguf files."""
    if shutil.which("dpkg-deb") is None:
        print("   dpkg-deb is not here")
        return
    machine = answer_of("dpkg", "--print-architecture")
    tree = BUILD / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(DIST / "paceline", tree / "opt" / "paceline", symlinks=True)
    command = tree / "usr" / "bin" / "paceline"
    command.parent.mkdir(parents=True)
    command.symlink_to("/opt/paceline/paceline")
    linux, share = ROOT / "packaging" / "linux", tree / "usr" / "share"
    for source, place in (
        (linux / "paceline.desktop", "applications/paceline.desktop"),
        (metainfo(), "metainfo/io.github.paceline.Paceline.metainfo.xml"),
        (linux / "paceline-mime.xml", "mime/packages/paceline.xml"),
        (ROOT / "assets" / "icons" / "paceline.svg", "icons/hicolor/scalable/apps/paceline.svg"),
        (ROOT / "LICENSE", "doc/paceline/copyright"),
    ):
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, share / place)
    for size in (16, 32, 48, 64, 128, 256, 512):
        place = share / f"icons/hicolor/{size}x{size}/apps/paceline.png"
        place.parent.mkdir(parents=True)
        shutil.copyfile(ROOT / "assets" / "icons" / f"paceline-{size}.png", place)
    size = sum(file.stat().st_size for file in tree.rglob("*") if file.is_file() and not file.is_symlink())
    control = tree / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text(
        f"Package: paceline\nVersion: {version().replace('.dev', '~dev')}\nArchitecture: {machine}\n"
        "Maintainer: Paceline's developers\n"
        f"Installed-Size: {size // 1024}\nDepends: {DEB_DEPENDS}\nSection: utils\nPriority: optional\n"
        "Description: chat with local language models, with exact speculative decoding\n"
        " A window that runs GGUF models on this machine and shows what speculation gains.\n",
        "utf-8",
    )
    target = DIST / f"paceline{flavour()}_{version()}_{machine}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, target)


def make_appimage() -> None:
    """Make an AppImage: a single executable file of AppImage's runtime and the folder as a file system.

    APPIMAGE_RUNTIME is the path of the runtime, which the workflow downloads. Debian has no package for it, and its
    libsquashfuse-dev lacks a header that the runtime's source includes.
    """
    runtime = os.environ.get("APPIMAGE_RUNTIME", "")
    if sys.platform != "linux" or not runtime or shutil.which("mksquashfs") is None:
        print("   needs mksquashfs, and the runtime that APPIMAGE_RUNTIME names")
        return
    tree, packed = BUILD / "AppDir", BUILD / "appimage.squashfs"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(DIST / "paceline", tree, symlinks=True)
    (tree / "AppRun").symlink_to("paceline")
    for source, place in (
        (ROOT / "packaging" / "linux" / "paceline.desktop", "paceline.desktop"),
        (ROOT / "assets" / "icons" / "paceline-256.png", "paceline.png"),
        (metainfo(), "usr/share/metainfo/io.github.paceline.Paceline.metainfo.xml"),
    ):
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, tree / place)
    run("mksquashfs", tree, packed, "-root-owned", "-noappend", "-comp", "zstd", "-no-progress", "-quiet")
    target = DIST / f"paceline{flavour()}-{version()}-{platform.machine()}.AppImage"
    target.write_bytes(Path(runtime).read_bytes() + packed.read_bytes())
    target.chmod(0o755)
    print(f"   {target.name}")


def make_sbom() -> None:
    """List the packages in the bundle, with versions and licences, as CycloneDX."""
    run(python(), "-m", "venv", BUILD / "sbom")
    tool = str(BUILD / "sbom" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    run(tool, "-m", "pip", "install", "-q", SBOM_TOOL)
    file = DIST / f"paceline-{version()}-{system_name()}.cdx.json"
    run(tool, "-m", "cyclonedx_py", "environment", BUILD / "venv", "--of", "JSON", "-o", file)
    content = json.loads(file.read_text("utf-8"))
    print(f"   {len(content['components'])} components")


def write_checksums() -> None:
    """Write SHA256SUMS of the downloads."""
    files = sorted(file for file in DIST.iterdir() if file.is_file() and file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (DIST / "SHA256SUMS").write_text("".join(lines), "utf-8")
    print("".join(lines), end="")


if __name__ == "__main__":
    main()
