"""What an installed package must do at least; run by `scripts/test-install`."""

import os
import tempfile

import numpy as np

import ribbonfilter
from ribbonfilter import Filter

f = Filter.build(["ada", "grace", "edsger"], fpr=0.001)
assert "ada" in f and f.contains(["ada", "niklaus"]).tolist() == [True, False]
assert Filter.build(np.arange(10**5)).contains(np.arange(10)).all()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "names.ribbon")
    f.save(path)
    assert Filter.open(path, mmap=True) == f
print("ribbonfilter", ribbonfilter.__version__, "from", os.path.dirname(ribbonfilter.__file__))
