"""The trainer with its CUDA and NCCL files compiles and links where a toolkit is. Nothing here runs it: that is scripts/gpu_check's work."""
import os
import pathlib
import subprocess
import unittest

PROGRAM = pathlib.Path(os.environ["REMATCH_BIN_DIR"]) / "rematch-train-cuda"


@unittest.skipUnless(PROGRAM.is_file(), "no CUDA toolkit (nvcc) on this machine: the CUDA and NCCL files were not compiled")
class CudaLinkTest(unittest.TestCase):
    def test_the_program_needs_the_cuda_libraries_and_has_the_nccl_backend(self):
        needed = subprocess.run(["readelf", "-d", str(PROGRAM)], capture_output=True, text=True, check=True).stdout
        self.assertIn("libtorch_cuda.so", needed)
        self.assertIn("libc10_cuda.so", needed)
        symbols = subprocess.run(["nm", "-DC", str(PROGRAM)], capture_output=True, text=True, check=True).stdout
        self.assertIn("ProcessGroupNCCL", symbols)


if __name__ == "__main__":
    unittest.main()
