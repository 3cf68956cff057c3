"""C++ and CUDA: functions, calls, macros and names, of sources that need not compile."""
