/* The table of one instruction set: its kernels, and what is the same for all. */
#include "kernel.h"

#define RIDGE__TEXT2(isa) #isa
#define RIDGE__TEXT(isa)  RIDGE__TEXT2(isa)

double RIDGE__KERNEL(multiply_add)(int64_t rounds, float *sink);
void RIDGE__KERNEL(convert)(ridge__array x, ridge__array y, int64_t n, bool is_added);
void RIDGE__KERNEL(few_rows)(const ridge__few_rows *f);
void RIDGE__KERNEL(normals)(uint64_t key, int64_t place, int64_t n, float scale,
                            float *out);

const ridge__kernel_table RIDGE__KERNEL(table) = {
    .isa = RIDGE__TEXT(RIDGE__ISA),
    .multiply_add = RIDGE__KERNEL(multiply_add),
    .convert = RIDGE__KERNEL(convert),
    .few_rows = RIDGE__KERNEL(few_rows),
    .normals = RIDGE__KERNEL(normals),
    .ops =
        {
            .name = "cpu",
            .takes_bias = true,
            .close = ridge__cpu_close,
            .alloc = ridge__cpu_alloc,
            .release = ridge__cpu_release,
            .zero = ridge__cpu_zero,
            .upload = ridge__cpu_upload,
            .download = ridge__cpu_upload,
            .finish = ridge__cpu_finish,
            .gemm = ridge__cpu_gemm,
            .grouped_gemm = ridge__cpu_grouped_gemm,
#define RIDGE__KERNEL_ROW(name, type) .name = RIDGE__KERNEL(name),
            RIDGE__KERNEL_LIST(RIDGE__KERNEL_ROW)
#undef RIDGE__KERNEL_ROW
                .attention_merge = RIDGE__KERNEL(attention_merge),
            .loss_rescale = RIDGE__KERNEL(loss_rescale),
            .sum_of_squares = RIDGE__KERNEL(sum_of_squares),
            .multiply = RIDGE__KERNEL(multiply),
        },
};
