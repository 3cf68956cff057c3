#pragma once

// Everything a kernel may call. plain_copy.cuh is not here: it is a kernel itself, which would be
// compiled into every cubin.

#include "src/cuda/device/common/address.cuh"
#include "src/cuda/device/common/cache.cuh"
#include "src/cuda/device/common/cp_async.cuh"
#include "src/cuda/device/common/fp8.cuh"
#include "src/cuda/device/common/fp8_bits.cuh"
#include "src/cuda/device/common/math.cuh"
#include "src/cuda/device/common/memory.cuh"
#include "src/cuda/device/common/mma.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/piece.cuh"
#include "src/cuda/device/common/reduce.cuh"
#include "src/cuda/device/common/traits.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"
#include "src/cuda/device/common/warp.cuh"
