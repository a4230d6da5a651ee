"""pytocu compiles NumPy-style Python functions into fused CUDA kernels and native CPU code."""
