"""A sparse matrix and the bytes a weights file holds for it: pure, standard library alone."""

import struct
from collections.abc import Mapping
from typing import Literal

DType = Literal['F32', 'F16', 'BF16']

SIZES: Mapping[DType, int] = {'F32': 4, 'F16': 2, 'BF16': 2}


class Matrix:
    """Rows by columns, zero where nothing was put (a vector is a matrix of one row)."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.cells: dict[tuple[int, int], float] = {}

    @classmethod
    def filled(cls, rows: int, columns: int, value: float) -> 'Matrix':
        """Give a matrix that holds one value everywhere."""
        matrix = cls(rows, columns)
        matrix.cells = {(row, column): value for row in range(rows) for column in range(columns)}
        return matrix

    def __setitem__(self, cell: tuple[int, int], value: float) -> None:
        row, column = cell
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError(f'{cell} lies outside of {self.rows} x {self.columns}')
        self.cells[cell] = value

    def fill_column(self, column: int, value: float) -> None:
        """Put one value into every row of a column."""
        for row in range(self.rows):
            self.cells[row, column] = value

    def data(self, dtype: DType) -> bytes:
        """Give the row-major bytes."""
        size = SIZES[dtype]
        buffer = bytearray(self.rows * self.columns * size)
        for (row, column), value in self.cells.items():
            start = (row * self.columns + column) * size
            buffer[start : start + size] = encode(value, dtype)
        return bytes(buffer)


def encode(value: float, dtype: DType) -> bytes:
    """Give one number's little-endian bytes; a bfloat16 is the upper half of the float."""
    if dtype == 'F16':
        return struct.pack('<e', value)
    packed = struct.pack('<f', value)
    return packed if dtype == 'F32' else packed[2:]
