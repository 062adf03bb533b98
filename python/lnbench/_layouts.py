"""The layouts in memory of a function's arguments, and the detection of writes to them."""
import contextlib
import hashlib
import mmap
import sys

import numpy as np

from . import _library as lib

PLAIN, ROWS = "contiguous", "rows of a larger array"
EXPANDED, TRANSPOSED = "expanded (stride 0)", "transposed"
ONE_BY_ONE = (EXPANDED, TRANSPOSED)  # NumPy adds a row's elements one by one, not pairwise


def _spaced(rows, hidden, make):
    wide = make((rows, 2 * hidden))
    wide.view(np.uint8)[...] = 255  # NaN in every type
    return wide[:, ::2]


# name: a function that makes an array of rows x hidden by make(shape, bytes after the begin of a page); torch has the
# first five
_MADE = {
    PLAIN: lambda rows, hidden, make: make((rows, hidden)),
    TRANSPOSED: lambda rows, hidden, make: make((hidden, rows)).T,
    "a slice [..., ::2]": _spaced,
    "3-D": lambda rows, hidden, make: make((rows, hidden)),
    EXPANDED: lambda rows, hidden, make: np.lib.stride_tricks.as_strided(
        make((1, hidden)), (rows, hidden), (0, make.dtype.itemsize)),
    "a slice [::-1]": lambda rows, hidden, make: make((rows, hidden))[::-1],
    "a slice [..., ::-1]": lambda rows, hidden, make: make((rows, hidden))[:, ::-1],
    "unaligned": lambda rows, hidden, make: make((rows, hidden), 1),
    "read-only": lambda rows, hidden, make: make((rows, hidden)),
}


def of_step(seed, step, framework):
    """Returns the layout of a step of the judge's plan. Every second step has None: the layout of the plan itself.
    A plan has enough steps for each layout to occur with each level of the plan's factors."""
    drawn = hashlib.blake2b(b"%d %d" % (seed, step), digest_size=2).digest()
    names = tuple(_MADE)[:5 if framework == "torch" else None]
    return names[drawn[1] % len(names)] if drawn[0] % 2 else None


def _bits(array):
    return array.view(f"u{array.dtype.itemsize}")


class Inputs:
    """The arrays of the current call, in their own pages, which are watched during the call.
    The pages are used again if the function kept no array."""

    def __init__(self):
        self.pages, self.all, self.used = mmap.mmap(-1, mmap.PAGESIZE), [], 0
        self.seen, self.written = False, None  # whether writes are detected; the input that was written to

    def place(self, layout, x, rows, parameters):
        """Copies x (`rows` rows; one row if it is expanded) and the parameters into the pages."""
        self.all, self.used = [], 0
        size = rows * max(x.strides[0], 3 * x[0].nbytes) + sum(2 * a.nbytes for a in parameters)
        size += (4 + 2 * len(parameters)) * mmap.PAGESIZE  # a function may read beyond the end as if dense
        if len(self.pages) < size or sys.getrefcount(self.pages) > 2:
            self.pages = mmap.mmap(-1, size)
        for role, array in zip(lib.PARAMETERS, parameters):
            self._copy(role, layout, array.reshape(1, -1), 1)
        self._copy("x", layout, x, rows)
        made = [array for _, array, _, _ in self.all]
        if layout == "3-D":
            outer = next((n for n in (2, 3, 5, 7) if rows % n == 0), 1)
            made[-1] = made[-1].reshape(outer, -1, made[-1].shape[-1])
        return [made[-1], *(array[0] for array in made[:-1])]

    def _copy(self, role, layout, array, rows):
        start, dtype = self.used, array.dtype

        def make(shape, off=0):
            made = np.ndarray(shape, dtype, self.pages, start + off)
            self.used = -(-(start + off + made.nbytes) // mmap.PAGESIZE) * mmap.PAGESIZE
            return made
        make.dtype = dtype
        off = array.ctypes.data % 64
        if layout == ROWS and rows > 1:  # includes the gaps between them
            stride = array.strides[0] // dtype.itemsize
            room = make((rows - 1) * stride + array.shape[1], off)
            room[...] = np.lib.stride_tricks.as_strided(array, room.shape, (dtype.itemsize,))
            made = np.lib.stride_tricks.as_strided(room, array.shape, array.strides)
        elif layout in (PLAIN, ROWS):
            made = make((rows, array.shape[1]), off)
        else:
            made = _MADE[layout](rows, array.shape[1], make)
        made[...] = array
        if layout == "read-only":
            made.flags.writeable = False
        self.all.append((role, made, array, start))

    @contextlib.contextmanager
    def watched(self):
        """Detects writes in this context, if memory can be protected."""
        first = np.ndarray(1, np.uint8, self.pages).ctypes.data
        self.seen = bool(lib.library.lnjudge_watch(first, self.used))
        self.written = None
        try:
            yield
        finally:
            at = lib.library.lnjudge_watched() if self.seen else None
            if at:
                self.written = [role for role, _, _, start in self.all if first + start <= at][-1]

    def changed(self):
        """Returns the first input whose bits changed, or None."""
        if self.seen and not self.written:
            return None
        return next((role for role, array, was, _ in self.all
                     if not np.array_equal(_bits(array), _bits(np.broadcast_to(was, array.shape)))), None)

    def holds(self, array):
        """Returns the input that shares memory with an array, or None."""
        return next((role for role, own, _, _ in self.all if np.may_share_memory(own, array)), None)
