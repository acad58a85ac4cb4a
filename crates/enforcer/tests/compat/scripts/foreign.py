import ctypes
import os

c = ctypes.CDLL(None, use_errno=True)
print("pid", c.getpid() == os.getpid())

compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 5)(5, 3, 8, 1, 2)
c.qsort(numbers, 5, ctypes.sizeof(ctypes.c_int), compare(lambda a, b: a[0] - b[0]))
print("sorted", list(numbers))

c.strlen.restype = ctypes.c_size_t
print("strlen", c.strlen(b"hello"))
c.open(b"/nonexistent", os.O_RDONLY)
print("errno", ctypes.get_errno())
