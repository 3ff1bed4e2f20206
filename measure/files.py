# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes files as root in directories that other users may write to."""
from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import typing

from measure.command import Trouble

SIZE_MAX = 1 << 20
SUFFIX = ".json"    # of stored documents
LINKS_MAX = 40      # as many as the kernel follows
PLANTED = "the path has a symbolic link that another user may have made; give the directory that the link leads to"


def others_can_write(status: os.stat_result) -> bool:
    if os.geteuid() != 0 and status.st_uid == os.geteuid():
        return False
    return bool(status.st_mode & 0o002 or (status.st_mode & 0o020 and status.st_gid) or status.st_uid not in (0, os.geteuid()))


def open_directory(path: str, above: int | None = None, links: int = LINKS_MAX) -> int:
    """Opens a directory without following symbolic links that another user may have created."""
    fd = os.open("/" if path.startswith("/") else ".", os.O_PATH | os.O_CLOEXEC, dir_fd=above)
    for name in filter(None, path.split("/")):
        above, fd = fd, os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        if stat.S_ISLNK(os.fstat(fd).st_mode):
            if not links or others_can_write(os.fstat(above)):
                raise OSError(errno.ELOOP, PLANTED)
            link, fd = fd, open_directory(os.readlink("", dir_fd=fd), above, links - 1)
            os.close(link)
        os.close(above)
    return fd


def read(path: str, *owners: int, above: int | None = None, mode: int = 0) -> str:
    """Returns the text of a file. Raises ValueError if the file is not regular or is too large, or has a permission bit of `mode`. Also
    raises ValueError if the owner is not root, the current user or one of `owners`."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if above is None else os.O_NOFOLLOW), dir_fd=above)
    with open(fd, encoding="utf-8", errors="surrogateescape") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE_MAX or status.st_mode & mode or \
                status.st_uid not in (0, os.geteuid(), *owners):
            raise ValueError
        return file.read(SIZE_MAX + 1)


def replace(path: str, content: bytes) -> None:
    """Replaces the file atomically, and writes it to stable storage."""
    directory, name = open_directory(os.path.dirname(path)), os.path.basename(path)
    draft = f".{name}.{os.urandom(4).hex()}"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=directory)
    try:
        with open(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(fd)
        os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(draft, dir_fd=directory)
        raise
    listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
    os.fsync(listed)
    os.close(listed)
    os.close(directory)


def save_picture(path: str, picture: bytes) -> None:
    """Writes the picture to a file, which is replaced atomically, or to standard output ("-"). Does not replace a file that is
    not regular, such as /dev/stdout."""
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(picture)
        return
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise Trouble(f"{path} is not a regular file and is not replaced; '-' is standard output")
    try:
        replace(path, picture)
    except OSError as error:
        raise Trouble(f"{path} cannot be written: {error.strerror}") from None


# ---- a directory of documents ----

@contextlib.contextmanager
def _opened(directory: str, flags: int = 0) -> typing.Iterator[int]:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | flags)
    try:
        yield fd
    finally:
        os.close(fd)


def store(directory: str, name: str, text: str) -> None:
    """Saves a document as a new file, creating the directory if necessary."""
    with contextlib.suppress(FileExistsError):
        os.makedirs(directory, 0o755)
    # The parent directory belongs to the service's user, who must not be able to make root write to another file: links are not followed,
    # and existing files are not opened.
    with _opened(directory, os.O_NOFOLLOW) as above:
        name += SUFFIX
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=above)
        try:
            with open(fd, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            os.unlink(name, dir_fd=above)
            raise


def _read_at(above: int, name: str) -> str:
    # Accepts only files of root, the current user, and the owner of the directory.
    return read(name + SUFFIX, os.fstat(above).st_uid, above=above)


def read_stored(directory: str, name: str) -> str:
    """Returns the text of a document. Raises OSError if it cannot be read, and ValueError as read() does."""
    with _opened(directory) as above:
        return _read_at(above, name)


def read_all(directory: str) -> typing.Iterator[tuple[str, str]]:
    """Yields the name and the text of each readable document. Yields nothing if there is no directory."""
    with contextlib.suppress(FileNotFoundError), _opened(directory) as above:
        for name in os.listdir(above):
            if name.endswith(SUFFIX):
                with contextlib.suppress(OSError, ValueError):
                    yield name.removesuffix(SUFFIX), _read_at(above, name.removesuffix(SUFFIX))
