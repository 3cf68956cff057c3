"""Where kernels are launched, and with what."""
