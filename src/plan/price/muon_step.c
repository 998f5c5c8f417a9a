#include "muon_step.h"

#include <math.h>

enum { NEWTON_SCHULZ_STEPS = 5 };

static ridge_op_cost product(const ridge_chip *chip, double m, double k, double n)
{
    ridge_matmul op = {.batch = 1,
                       .m = m,
                       .k = k,
                       .n = n,
                       .activation = RIDGE_DTYPE_BF16,
                       .weight = RIDGE_DTYPE_BF16,
                       .output = RIDGE_DTYPE_BF16,
                       .compute = RIDGE_DTYPE_BF16};
    return ridge_matmul_cost(chip, &op, RIDGE_MEMORY_HBM);
}

/* All steps on one matrix. */
static ridge_time matrix_time(const ridge_chip *chip, const ridge_weight *w)
{
    double m = (double)(w->in < w->out ? w->in : w->out);
    double n = (double)(w->in < w->out ? w->out : w->in);
    ridge_op_cost square = product(chip, m, n, m);
    ridge_op_cost cube = product(chip, m, m, m);
    ridge_op_cost back = product(chip, m, m, n);
    return (ridge_time){
        NEWTON_SCHULZ_STEPS * (square.bound_s + cube.bound_s + back.bound_s),
        NEWTON_SCHULZ_STEPS * (square.expected_s + cube.expected_s + back.expected_s)};
}

ridge_time muon_step_time(const train_case *tc, const train_stage *stage,
                          const ridge_layout *layout)
{
    train_ways w = train_layout_ways(layout);
    double dense_ranks = (double)(layout->tp * w.shards);
    double expert_ranks = (double)(layout->ep * w.expert_width * w.expert_shards);
    ridge_time sum = {0, 0};
    for (int k = 0; k < tc->n_kinds; k++) {
        for (int i = 0; i < tc->n_weights[k] && stage->layers[k] > 0; i++) {
            const ridge_weight *weight = &tc->weights[k][i];
            if (weight->in < 2 || weight->out < 2) /* a vector: AdamW's stream */
                continue;
            bool is_expert = weight->part == RIDGE_PART_EXPERTS;
            double matrices = stage->layers[k] * (double)weight->copies /
                              (is_expert ? expert_ranks : dense_ranks);
            ridge_time one = matrix_time(tc->chip, weight);
            sum.bound_s += matrices * one.bound_s;
            sum.expected_s += matrices * one.expected_s;
        }
    }
    return sum;
}
