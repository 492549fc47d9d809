#!/usr/bin/env python3
"""Packs files into one reproducible compressed archive, with checksums inside and beside it.

    make_archive.py --output NAME.tar.xz [--limit-mb N] SOURCE=PLACE...

SOURCE is a file or folder; PLACE is where it lies below NAME/ in the archive.  A SOURCE that begins with `?` may be missing.  Equal files give equal bytes: entries
are sorted, owned by root, dated by SOURCE_DATE_EPOCH (or 2020).  SHA256SUMS in the archive lists every file; NAME.tar.xz.sha256 beside it names the archive, and
NAME.contents lists it.  Exit code 1 if the archive is larger than the limit.
"""
import argparse
import hashlib
import io
import lzma
import os
import pathlib
import sys
import tarfile

SKIPPED_FOLDERS = {"__pycache__", "results"}
SKIPPED_SUFFIXES = {".npy", ".pyc"}


def files_of(source, place):
    """(path on disk, path in the archive) of every file that SOURCE stands for."""
    if source.is_file():
        yield source, place
        return
    for path in sorted(source.rglob("*")):
        relative = path.relative_to(source)
        if path.is_file() and not SKIPPED_FOLDERS & set(relative.parts) and path.suffix not in SKIPPED_SUFFIXES:
            yield path, f"{place}/{relative.as_posix()}"


def add(archive, name, data, executable, when):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = len(data), when
    entry.mode = 0o755 if executable else 0o644
    archive.addfile(entry, io.BytesIO(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--limit-mb", type=float)
    parser.add_argument("parts", nargs="+", metavar="SOURCE=PLACE")
    options = parser.parse_args()
    name = options.output.name.removesuffix(".tar.xz")
    when = int(os.environ.get("SOURCE_DATE_EPOCH", 1577836800))
    found = {}
    for part in options.parts:
        source, place = part.split("=", 1)
        path = pathlib.Path(source.lstrip("?"))
        if not path.exists():
            if source.startswith("?"):
                continue
            sys.exit(f"make_archive: {path} does not exist")
        for file, inside in files_of(path, place):
            if inside in found:
                sys.exit(f"make_archive: {file} and {found[inside]} would both be {inside}")
            found[inside] = file
    sums, contents = [], []
    options.output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = options.output.with_suffix(".part")
    with lzma.open(unfinished, "wb", preset=6) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for inside in sorted(found):
            data = found[inside].read_bytes()
            sums.append(f"{hashlib.sha256(data).hexdigest()}  {inside}\n")
            contents.append(f"{len(data):>10}  {inside}\n")
            add(archive, f"{name}/{inside}", data, os.access(found[inside], os.X_OK), when)
        add(archive, f"{name}/SHA256SUMS", "".join(sums).encode(), False, when)
    os.replace(unfinished, options.output)
    digest = hashlib.sha256(options.output.read_bytes()).hexdigest()
    options.output.with_name(options.output.name + ".sha256").write_text(f"{digest}  {options.output.name}\n")
    options.output.with_name(name + ".contents").write_text("".join(contents))
    size = options.output.stat().st_size / 1e6
    print(f"{options.output}: {len(found)} files, {size:.1f} MB, sha256 {digest}")
    if options.limit_mb and size > options.limit_mb:
        print(f"make_archive: {size:.1f} MB is more than the limit of {options.limit_mb:g} MB", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
