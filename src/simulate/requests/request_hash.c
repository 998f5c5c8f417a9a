/* What stands behind the hash of a piece of a prompt. */
#include "ridge/simulate_requests.h"

/* @source steele2014, the finaliser of SplitMix64 */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b + 1;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z != 0 ? z : 1;
}

int64_t ridge_request_piece(const ridge_request *request)
{
    return request->n_hashes > 0 ? request->hash_tokens : RIDGE_REQUEST_PIECE_TOKENS;
}

uint64_t ridge_request_hash(const ridge_request *request, int64_t index)
{
    if (index < request->n_hashes)
        return mix(request->hashes[index], 0);
    const int64_t end = (index + 1) * ridge_request_piece(request);
    if (request->group != 0 && end <= request->group_tokens)
        return mix(request->group, (uint64_t)index);
    if (request->session == 0 || end > request->prompt_tokens + request->output_tokens)
        return 0;
    return mix(~request->session, (uint64_t)index);
}
