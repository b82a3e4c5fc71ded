"""Prints what pyo3 calls the signature of this interpreter, such as cpython-3.11-64bit."""

import struct
import sys

major, minor = sys.version_info[:2]
print(f"{sys.implementation.name}-{major}.{minor}-{8 * struct.calcsize('P')}bit")
