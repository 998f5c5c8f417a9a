/* bf16 is the upper half of fp32. Loops of these become vector code. */
#ifndef RIDGE_EXECUTE_KERNEL_BF16_H
#define RIDGE_EXECUTE_KERNEL_BF16_H

#include <stdint.h>
#include <string.h>

static inline float ridge__float_of_bf16(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float y;
    memcpy(&y, &bits, sizeof y);
    return y;
}

/** To nearest, ties to even; a NaN stays one, and quiet. */
static inline uint16_t ridge__bf16_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    uint32_t quiet = (bits >> 16) | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

#endif
