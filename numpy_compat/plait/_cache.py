"""plait.clear_cache(): machine code that is kept from before."""

import collections
import os

from . import _plait

_ENDINGS = ".kernel", ".tmp"  # entries, and what a killed writer left


class Cleared(collections.namedtuple("Cleared", "files disk memory")):
    """What clear_cache() gave back: files, their bytes, and bytes in memory."""

    __slots__ = ()


def clear_cache():
    """Deletes the machine code that Plait keeps: its files in plait.config.cache_dir, and kernels, plans and buffers that trim() gives back.

    What runs now stays, and what went is compiled again when it is asked for; other files of the folder are left alone.
    Returns (files, disk, memory): how many files, their bytes, and the bytes that trim() counted. Raises OSError where the folder
    cannot be read, or a file in it not be deleted.
    """
    files = disk = 0
    for entry in _entries(_plait.get_config()["cache_dir"]):
        try:
            size = entry.stat(follow_symlinks=False).st_size
            os.unlink(entry.path)
        except FileNotFoundError:  # another process was faster
            continue
        files, disk = files + 1, disk + size
    return Cleared(files, disk, _plait.trim())


def _entries(folder):
    try:
        with os.scandir(folder or os.devnull) as found:
            return [e for e in found if e.name.endswith(_ENDINGS) and not e.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
