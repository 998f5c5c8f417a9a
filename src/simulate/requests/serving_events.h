/* What happens to lanes, sequences and replicas at a time. */
#ifndef RIDGE_SERVING_EVENTS_H
#define RIDGE_SERVING_EVENTS_H

#include "serving_state.h"

/* ---- lanes: lane_commit.c, lane_join.c, sequence_end.c --------------------------- */

/** What a lane planned has come to pass: its sequences are further, some end.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__lane_commit(serving_play *p, play_lane *lane);

/** A sequence joins those that decode. @param last_token_s  when it made its last one
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__lane_take(serving_play *p, play_lane *lane,
                                              int32_t sequence, double last_token_s);
/** A sequence has its first token, seen at that time. @param part  what the time that
 * is not accounted for was */
void ridge__sequence_answer(serving_play *p, play_sequence *s, double at_s,
                            ridge_latency_part part);
/** It leaves before its first iteration: its gap is not counted. */
void ridge__lane_drop(serving_play *p, play_lane *lane, int32_t sequence);

/** A sequence has all its tokens, at the present time: it leaves the deployment.
 *  Its batch, if it is in one, must have let it go. */
void ridge__sequence_complete(serving_play *p, int32_t sequence);

/* ---- the agenda: serving_agenda.c, lane_catch_up.c, event_queue.c ---------------- */

/** A lane's state or time has changed. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__lane_file(serving_play *p, play_lane *lane);
/** Something came to a replica: idle lanes begin, and the one that decodes looks up at
 *  the next step. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__unit_wake(serving_play *p, int unit);

/** Whether a jump of several steps is under way that can end at any of them. */
bool ridge__lane_may_cut(const play_lane *lane);

/** Bring a replica's cache up to the last step that ended by now, for those who look
 * into it in the midst of a jump. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__unit_catch_up(serving_play *p, int unit);

/** Events by time. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__event_add(serving_play *p, play_event event);
/** INFINITY: none. */
double ridge__event_next_s(const serving_play *p);
/** Take the next one; there is one. */
play_event ridge__event_take(serving_play *p);

/* ---- routes: request_router.c ---------------------------------------------------- */

/** Give a sequence, new or homeless, a replica that makes prompts, and its queue.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__route_prompt(serving_play *p, int32_t sequence);
/** Give one whose prompt is done a replica that decodes. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__route_cache(serving_play *p, int32_t sequence);
/** Those that found no replica try again. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__route_homeless(serving_play *p);

/* ---- moves and failures: serving_move.c, serving_failure.c ----------------------- */

/** Send the cache of a sequence that has its room at the other end. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__move_begin(serving_play *p, int32_t sequence);
/** It has come. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__move_end(serving_play *p, const play_event *event);
/** Those that came while the lane was busy join it. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__move_join(serving_play *p, play_lane *lane);

RIDGE_NODISCARD ridge_status ridge__failures_open(serving_play *p);
RIDGE_NODISCARD ridge_status ridge__failure_begin(serving_play *p,
                                                  const play_event *event);
RIDGE_NODISCARD ridge_status ridge__failure_end(serving_play *p,
                                                const play_event *event);

#endif
